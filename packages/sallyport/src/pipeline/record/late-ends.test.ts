import { setImmediate } from 'node:timers/promises';
import type { ErrorCode } from '@sallyport/std/error/catalogue';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { describe, expect, test } from 'vitest';
import type { ToolInvokeRequest } from '../../../api/schemas/invocation.ts';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { silentLog } from '../../telemetry/log.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';
import { type CallEnd, createLateEnds, type LateEndsParts } from './late-ends.ts';

/** `deaf`: the store accepts writes, but its answers are lost. */
type Mode = 'there' | 'away' | 'deaf';

/** A pipeline whose store becomes unavailable when the tool runs, and comes back when the test says so. */
async function layer(more: Partial<LateEndsParts> = {}, policy: 'pure' | 'irreversible' = 'irreversible') {
  const store = memoryLedgerStore();
  const inner = await pipeline({ store });
  const { commit } = inner.parts.ledger;
  let mode: Mode = 'there';
  let next: Mode = 'away';
  let refused = 0;
  const ledger = {
    ...inner.parts.ledger,
    async commit(entry: CallEnd) {
      if (mode === 'away') {
        refused += 1;
        throw new ToolLayerError('E3812', 'away');
      }
      await commit(entry);
      if (mode === 'deaf') throw new ToolLayerError('E3812', 'the answer was lost');
    },
  };
  const lateEnds = createLateEnds({ ledger, records: store, log: silentLog, ...more });
  const made = await pipeline({ store, ledger, lateEnds });
  let ran = 0;
  await made.add(manifest('pay', { side_effect_policy: policy }), () => {
    mode = next;
    ran += 1;
    return { ran };
  });
  const call = (execution_options: ToolInvokeRequest['execution_options'] = { idempotency_key: 'k' }) =>
    made.call({ tool_id: 'pay', parameters: { n: 1 }, execution_options });
  return {
    ...made,
    store,
    lateEnds,
    call,
    ran: () => ran,
    refused: () => refused,
    becomes: (wanted: Mode) => {
      next = wanted;
    },
    turns: (wanted: Mode) => {
      mode = wanted;
    },
    back: () => {
      mode = 'there';
    },
  };
}

const rowOf = ({ store }: Awaited<ReturnType<typeof layer>>, { invocationId }: InvocationRecord) =>
  store.findInvocation('acme', invocationId);

test('ORC-06 the end of a call whose store was away is on record once it is back, and then the caller hears of it', async () => {
  await using opened = new AsyncDisposableStack();
  const made = await layer();
  opened.use(made.lateEnds);
  const answer = made.call();
  // The end of the call, and two tries later.
  await expect.poll(() => made.refused(), { interval: 5 }).toBeGreaterThan(2);
  expect(made.lateEnds.size).toBe(1);
  made.back();
  const record = await answer;
  expect(record).toMatchObject({ state: 'COMPLETED', result: { ran: 1 } });
  expect(await rowOf(made, record)).toMatchObject({ state: 'COMPLETED', result: { ran: 1 } });
  expect(made.lateEnds.size).toBe(0);
});

test('ORC-06 ends that come late once more, after all that were late are written, are written too', async () => {
  await using opened = new AsyncDisposableStack();
  const made = await layer();
  opened.use(made.lateEnds);
  for (const idempotency_key of ['a', 'b']) {
    const refused = made.refused();
    const answer = made.call({ idempotency_key });
    await expect.poll(() => made.refused(), { interval: 5 }).toBeGreaterThan(refused);
    made.back();
    expect(await answer).toMatchObject({ state: 'COMPLETED' });
  }
});

test('PIPE-13 who cannot wait for it is told that the outcome is not known, and finds it on record later', async () => {
  await using opened = new AsyncDisposableStack();
  const made = await layer({ patienceMs: 1 });
  opened.use(made.lateEnds);
  const record = await made.call();
  expect(record).toMatchObject({ state: 'FAILED', failure: { code: 'E3804' } });
  expect(await rowOf(made, record)).toMatchObject({ state: 'EXECUTING' });
  const again = made.call();
  made.back();
  expect(await again).toMatchObject({ state: 'COMPLETED', result: { ran: 1 }, metadata: { cached: true } });
  expect(await rowOf(made, record)).toMatchObject({ state: 'COMPLETED' });
  expect(made.ran()).toBe(1);
});

test('PIPE-13 a tool that is safe to call again says so when its outcome could not be recorded', async () => {
  await using opened = new AsyncDisposableStack();
  const made = await layer({ patienceMs: 1 }, 'pure');
  opened.use(made.lateEnds);
  expect(await made.call()).toMatchObject({ failure: { code: 'E3811' } });
});

test('AUD-02 an end that is on record already, whose answer was lost, is not written twice', async () => {
  await using opened = new AsyncDisposableStack();
  const made = await layer();
  opened.use(made.lateEnds);
  made.becomes('deaf');
  const record = await made.call();
  expect(record).toMatchObject({ state: 'COMPLETED' });
  const states = (await made.eventsOf(record.invocationId)).map(({ data }) => data['state']);
  expect(states.filter((state) => state === 'COMPLETED')).toHaveLength(1);
});

test('PIPE-03 what a call has changed is settled by an end whose answer was lost, too', async () => {
  await using opened = new AsyncDisposableStack();
  const made = await layer();
  opened.use(made.lateEnds);
  await made.add(manifest('keep', { side_effect_policy: 'irreversible' }), async (_parameters, { state }) => {
    await state.put('x', 1);
    made.turns('deaf');
  });
  const request = { tool_id: 'keep', parameters: { n: 1 }, capability_token: await made.token() };
  const { state, invocationId } = await made.run({ request, caller: { door: 'library' } });
  expect(state).toBe('COMPLETED');
  await expect.poll(() => made.parts.transactions.journal.find('acme', invocationId)).toBeUndefined();
});

test('no more ends are kept than there is room for, and none once it is closed', async () => {
  const made = await layer({ endsMax: 0 });
  expect(await made.call()).toMatchObject({ failure: { code: 'E3804' } });
  await made.lateEnds[Symbol.asyncDispose]();
  expect(made.lateEnds.size).toBe(0);
});

test('a call that has no row yet waits for no store that is away: nothing says that it runs', async () => {
  await using opened = new AsyncDisposableStack();
  const made = await layer({ patienceMs: 1 }, 'pure');
  opened.use(made.lateEnds);
  expect(await made.call({})).toMatchObject({ failure: { code: 'E3812' } });
  expect(made.lateEnds.size).toBe(0);
});

/** Late ends over a ledger that takes each one once the test lets it, and a store in which another end comes to stand. */
function lateEnd() {
  const row = {
    invocationId: 'i',
    tenantId: 'acme',
    agentDid: 'did:agent:a',
    toolId: 'pay',
    door: 'rest',
    instanceId: 'one',
    warnings: [],
    acceptedAt: 1,
  } as const;
  const order: string[] = [];
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  let standing: InvocationRecord = { ...row, state: 'EXECUTING' };
  const lateEnds = createLateEnds({
    ledger: {
      commit: async () => {
        asked.resolve();
        await answer.promise;
        order.push('written');
      },
    },
    records: { findInvocation: async () => standing },
    log: silentLog,
  });
  return {
    lateEnds,
    order,
    written: lateEnds.write({ record: { ...row, state: 'COMPLETED' }, events: [], durability: 'synchronous' }),
    asked: asked.promise,
    answer,
    ends: (end: InvocationRecord['state']) => {
      standing = { ...row, state: end };
    },
  };
}

test('ORC-06 an end that another one forestalled is answered with the one that stands', async () => {
  const { lateEnds, written, asked, answer, ends } = lateEnd();
  await asked;
  ends('ABORTED');
  answer.reject(new ToolLayerError('E3802', 'The call has ended.'));
  expect(await written).toMatchObject({ state: 'ABORTED' });
  await lateEnds[Symbol.asyncDispose]();
});

test('AUD-02 closing waits for the end that is being written', async () => {
  const { lateEnds, order, asked, answer } = lateEnd();
  await asked;
  const closed = lateEnds[Symbol.asyncDispose]().then(() => order.push('closed'));
  await setImmediate();
  answer.resolve();
  await closed;
  expect(order).toEqual(['written', 'closed']);
});

describe('one late end', () => {
  const record = { tenantId: 'acme', invocationId: 'i', state: 'COMPLETED', result: 1 } as InvocationRecord;
  const end: CallEnd = { record, events: [], durability: 'synchronous' };

  /** The answer to a late end, where `commits` says what each try to write it fails with, and `rows` what is on record. */
  async function written(commits: readonly (ErrorCode | undefined)[], rows: readonly (InvocationRecord | undefined)[]) {
    const [done, logged]: [string[], unknown[]] = [[], []];
    const records = {
      async findInvocation() {
        done.push('find');
        return rows[done.filter((each) => each === 'find').length - 1];
      },
    };
    const ledger = {
      async commit() {
        done.push('commit');
        const code = commits[done.filter((each) => each === 'commit').length - 1];
        if (code !== undefined) throw new ToolLayerError(code, 'No.');
      },
    };
    const log = { ...silentLog, error: (event: string, fields?: object) => void logged.push({ event, ...fields }) };
    await using lateEnds = createLateEnds({ ledger, records, log });
    const answer = await lateEnds.write(end);
    return { answer, done, logged, size: lateEnds.size };
  }

  test('ORC-06 is written where no row is, and where one says that the call runs', async () => {
    const ended = { answer: record, done: ['find', 'commit'], logged: [], size: 0 };
    expect(await written([], [])).toEqual(ended);
    expect(await written([], [{ ...record, state: 'EXECUTING' }])).toEqual(ended);
  });

  test('ORC-06 is not written over an end, which is the answer then', async () => {
    const other = { ...record, state: 'ABORTED' } as const;
    expect(await written([], [other])).toMatchObject({ answer: other, done: ['find'] });
    const running = { ...record, state: 'EXECUTING' } as const;
    expect(await written(['E3802'], [running, other])).toMatchObject({
      answer: other,
      done: ['find', 'commit', 'find'],
    });
  });

  test('ORC-06 is tried again while the store is away or full, and given up and logged for any other reason', async () => {
    for (const code of ['E3812', 'E3803'] as const)
      expect(await written([code], [])).toMatchObject({ answer: record, logged: [], size: 0 });
    expect(await written(['E3818'], [])).toEqual({
      answer: undefined,
      done: ['find', 'commit'],
      logged: [{ event: 'end-not-recorded', invocation_id: 'i', reason: 'No.' }],
      size: 0,
    });
  });

  test('ORC-06 is left to the next start when this instance ends: who waits for it is answered, and none is taken', async () => {
    const away = async () => {
      throw new ToolLayerError('E3812', 'away');
    };
    const lateEnds = createLateEnds({ ledger: { commit: away }, records: { findInvocation: away }, log: silentLog });
    const answer = lateEnds.write(end);
    await lateEnds[Symbol.asyncDispose]();
    expect(await answer).toBeUndefined();
    expect([await lateEnds.write(end), lateEnds.size]).toEqual([undefined, 1]);
  });
});
