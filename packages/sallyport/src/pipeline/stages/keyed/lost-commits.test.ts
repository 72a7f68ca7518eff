import { expect, test } from 'vitest';
import { memoryIdempotencyStore } from '../../../../test/stores/calls/memory-idempotency-store.ts';
import { memoryLedgerStore } from '../../../../test/stores/memory-ledger-store.ts';
import { openLedger } from '../../../audit/ledger.ts';
import type { LedgerStore } from '../../../audit/ledger-store.port.ts';
import type { InvocationRecord } from '../../../domain/invocation/record.ts';
import { silentLog } from '../../../telemetry/log.ts';
import type { IdempotencyStore } from '../../idempotency-store.port.ts';
import { manifest, pipeline } from '../../pipeline.fixture.ts';
import { createLateEnds } from '../../record/late-ends.ts';

interface Stores {
  readonly ledger: LedgerStore;
  readonly keys: IdempotencyStore;
}

const emptyStores = (): Stores => ({ ledger: memoryLedgerStore(), keys: memoryIdempotencyStore() });

/**
 * Two stores of one server with one log. An asynchronous write is on the disk once a synchronous one follows; a crash
 * takes back all other asynchronous writes. A claim of a key waits for no disk, as in PostgreSQL.
 */
function crashingServer() {
  type Write = (stores: Stores) => Promise<unknown>;
  let stores = emptyStores();
  let log: Write[] = [];
  let onDisk = 0;
  const written = async <Result>(durability: string, write: (to: Stores) => Promise<Result>): Promise<Result> => {
    const result = await write(stores);
    log.push(write);
    if (durability === 'synchronous') onDisk = log.length;
    return result;
  };
  const keys: IdempotencyStore = {
    claim: (...given) => written('asynchronous', (to) => to.keys.claim(...given)),
    takeOver: (...given) => written('asynchronous', (to) => to.keys.takeOver(...given)),
    find: (...given) => stores.keys.find(...given),
    release: (...given) => written('synchronous', (to) => to.keys.release(...given)),
  };
  const ledger: LedgerStore = {
    ...stores.ledger,
    append: (batch, durability) => written(durability, (to) => to.ledger.append(batch, durability)),
    chainHead: (chainId) => stores.ledger.chainHead(chainId),
    findInvocation: (tenantId, invocationId) => stores.ledger.findInvocation(tenantId, invocationId),
    eventsAbout: (calls) => stores.ledger.eventsAbout(calls),
  };
  const crash = async (): Promise<void> => {
    log = log.slice(0, onDisk);
    stores = emptyStores();
    for (const write of log) await write(stores);
  };
  return { keys, ledger, crash };
}

const MAY_CALL_AGAIN = ['E3811', 'E3812'];

/** Two instances over one server; the first run of the tool lasts until the test ends it. */
async function instances(policy: 'pure' | 'idempotent', opened: AsyncDisposableStack) {
  const { keys, ledger: store, crash } = crashingServer();
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const looked = Promise.withResolvers<void>();
  let runs = 0;
  const open = async (instanceId: string) => {
    const ledger = await openLedger({ store, chainId: instanceId, log: silentLog });
    const lateEnds = opened.use(createLateEnds({ ledger, records: store, log: silentLog, patienceMs: 60_000 }));
    const records: LedgerStore = {
      ...store,
      findInvocation(...given) {
        looked.resolve();
        return store.findInvocation(...given);
      },
    };
    const made = await pipeline({ store, records, ledger, lateEnds, idempotency: keys, instanceId });
    await made.add(manifest('look', { side_effect_policy: policy }), async () => {
      runs += 1;
      const run = runs;
      begun.resolve();
      if (run === 1) await end.promise;
      return { run };
    });
    /** Retries with the same key as a client does, while the answer allows it. */
    const ask = async (): Promise<InvocationRecord> => {
      const execution_options = { idempotency_key: 'k' };
      const record = await made.call({ tool_id: 'look', parameters: { n: 1 }, execution_options });
      return MAY_CALL_AGAIN.includes(record.failure?.code ?? '') ? ask() : record;
    };
    return ask;
  };
  return { one: await open('one'), two: await open('two'), begun, end, looked, crash };
}

test.each([
  ['pure', 'one'],
  ['pure', 'two'],
  ['idempotent', 'one'],
  ['idempotent', 'two'],
] as const)(
  'PIPE-09 a call of a tool that is %s keeps its key when the database crashes while it runs: who asks instance %s with the key has its answer',
  async (policy, asked) => {
    await using opened = new AsyncDisposableStack();
    const made = await instances(policy, opened);
    const first = made.one();
    await made.begun.promise;
    await made.crash();
    const second = made[asked]();
    // The second call either waits for the first, or runs by itself.
    await Promise.race([made.looked.promise, second]);
    made.end.resolve();
    expect(await second).toMatchObject({ state: 'COMPLETED', result: { run: 1 } });
    expect(await first).toMatchObject({ state: 'COMPLETED', result: { run: 1 } });
  },
);

/** An instance over a crashing server, and a call under one key that comes to wait there. */
async function waitingAt(
  { keys, ledger: store }: ReturnType<typeof crashingServer>,
  instanceId: string,
  options: object,
  append = store.append,
): Promise<() => Promise<InvocationRecord>> {
  const ledger = await openLedger({ store: { ...store, append }, chainId: instanceId, log: silentLog });
  const made = await pipeline({
    store,
    records: store,
    ledger,
    idempotency: keys,
    instanceId,
    workers: { refuses: () => undefined },
    approvalQuestions: {
      standing: () => undefined,
      question: ({ reason, binding }) => ({ approvalId: 'a', reason, binding, requestedAt: 1, expiresAt: 4e12 }),
    },
  });
  await made.add(manifest('pay', { side_effect_policy: 'irreversible' }), () => 1);
  const execution_options = { idempotency_key: 'k', ...options };
  return () => made.call({ tool_id: 'pay', parameters: { n: 1 }, execution_options });
}

const WAITS = [
  ['a person', { require_approval: true }],
  ['a worker', { async_mode: true }],
] as const;

test.each(WAITS)(
  'PIPE-09 ORC-05 ORC-06 of two calls under one key only one waits for %s, when the database loses the claim of the first before its row is written',
  async (_what, options) => {
    const server = crashingServer();
    const reached = Promise.withResolvers<void>();
    const restarted = Promise.withResolvers<void>();
    const one = await waitingAt(server, 'one', options, async (...given) => {
      reached.resolve();
      await restarted.promise;
      return server.ledger.append(...given);
    });
    const two = await waitingAt(server, 'two', options);
    const first = one();
    await reached.promise;
    await server.crash();
    const second = await two();
    expect(second).toMatchObject({ state: 'AUTHORIZED', waiting: {} });
    restarted.resolve();
    const ended = await first;
    expect(ended).toMatchObject({ state: 'ABORTED', failure: { code: 'E3811' } });
    expect(ended.invocationId).not.toBe(second.invocationId);
    expect(await server.ledger.findInvocation('acme', ended.invocationId)).toMatchObject({ state: 'ABORTED' });
    for (const again of [one, two]) expect(await again()).toMatchObject({ invocationId: second.invocationId });
  },
);

test.each(WAITS)(
  'PIPE-09 ORC-05 ORC-06 a call that is accepted at a second try, to wait for %s, has its key then',
  async (_what, options) => {
    const server = crashingServer();
    let hasCrashed = false;
    const one = await waitingAt(server, 'one', options, async (...given) => {
      if (hasCrashed) return server.ledger.append(...given);
      hasCrashed = true;
      await server.crash();
      throw new Error('the connection was lost');
    });
    const two = await waitingAt(server, 'two', options);
    const first = await one();
    expect(first).toMatchObject({ state: 'AUTHORIZED', waiting: {} });
    for (const again of [one, two]) expect(await again()).toMatchObject({ invocationId: first.invocationId });
  },
);
