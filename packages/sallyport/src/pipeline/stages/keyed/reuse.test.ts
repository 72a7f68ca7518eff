import { setTimeout as wait } from 'node:timers/promises';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { describe, expect, test } from 'vitest';
import { memoryIdempotencyStore } from '../../../../test/stores/calls/memory-idempotency-store.ts';
import { memoryLedgerStore } from '../../../../test/stores/memory-ledger-store.ts';
import { silentLog } from '../../../telemetry/log.ts';
import { manifest, pipeline, retries } from '../../pipeline.fixture.ts';
import { createLateEnds } from '../../record/late-ends.ts';

const keyed = (key: string, n = 1) => ({
  tool_id: 'count',
  parameters: { n },
  execution_options: { idempotency_key: key },
});

async function counting(changes: Parameters<typeof pipeline>[0] = {}) {
  const made = await pipeline(changes);
  let runs = 0;
  await made.add(manifest('count', { side_effect_policy: 'irreversible' }), async ({ n }) => {
    runs += 1;
    await wait(20);
    if (n === 99) throw new Error('no');
    return { runs };
  });
  return { ...made, runs: () => runs };
}

describe('a call with an idempotency key', () => {
  test('is run once, and its duplicate gets the same answer', async () => {
    const { call, runs } = await counting();
    const first = await call(keyed('k'));
    const second = await call(keyed('k'));
    expect(second).toMatchObject({ invocationId: first.invocationId, result: { runs: 1 }, metadata: { cached: true } });
    expect(runs()).toBe(1);
  });

  test('PIPE-09 runs under its key again when the store was away, so that neither the call ran nor its key could be freed', async () => {
    const store = memoryLedgerStore();
    let away = false;
    const unlessAway = <Given extends unknown[], Result>(act: (...given: Given) => Promise<Result>) => {
      return async (...given: Given): Promise<Result> => {
        if (away) throw new ToolLayerError('E3812', 'away');
        return act(...given);
      };
    };
    const release = () => Promise.reject(new ToolLayerError('E3812', 'away'));
    const idempotency = { ...memoryIdempotencyStore(), release };
    const made = await counting({ store, idempotency });
    const { commit } = made.parts.ledger;
    const ledger = { ...made.parts.ledger, commit: unlessAway(commit) };
    // The row of the executing call cannot be written, and the call's end is written late.
    const lateEnds = createLateEnds({ ledger, records: store, log: silentLog });
    const failing = await counting({ store, idempotency, ledger, lateEnds });
    away = true;
    const first = failing.call(keyed('k'));
    await expect.poll(() => lateEnds.size).toBe(1);
    away = false;
    expect(await first).toMatchObject({ failure: { code: 'E3812' }, metadata: { attempts: 0 } });
    expect(await failing.call(keyed('k'))).toMatchObject({ state: 'COMPLETED', result: { runs: 1 } });
    expect(await failing.call(keyed('k'))).toMatchObject({ result: { runs: 1 }, metadata: { cached: true } });
    await lateEnds[Symbol.asyncDispose]();
  });

  test('PIPE-09 frees its key after a refusal as soon as the store is back, and gives up at once when the store is broken', async () => {
    for (const [code, tries] of [
      ['E3812', 3],
      ['E3900', 1],
    ] as const) {
      const inner = memoryIdempotencyStore();
      const isBack = Promise.withResolvers<void>();
      let tried = 0;
      const log: string[] = [];
      const idempotency: typeof inner = {
        ...inner,
        async release(...given) {
          tried += 1;
          if (tried < 3) throw new ToolLayerError(code, 'Not now.');
          await isBack.promise;
          await inner.release(...given);
        },
      };
      const noting = { ...silentLog, error: (event: string) => void log.push(event) };
      const { call, runs } = await counting({ idempotency, log: noting });
      const execution_options = { idempotency_key: 'k', require_approval: true };
      expect(await call({ ...keyed('k'), execution_options })).toMatchObject({ failure: { code: 'E3806' } });
      expect(await call(keyed('k', 2))).toMatchObject({ failure: { code: 'E3802' } });
      isBack.resolve();
      await expect.poll(() => tried, { interval: 5 }).toBe(tries);
      expect(log).toEqual(code === 'E3812' ? [] : ['undo-step-failed']);
      const next = await call(keyed('k', 2));
      expect([next.state, runs()]).toEqual(code === 'E3812' ? ['COMPLETED', 1] : ['FAILED', 0]);
    }
  });

  test('PIPE-09 PIPE-13 runs again after a store was away only when its tool was surely not reached', async () => {
    for (const [reached, runsAfter] of [
      [false, 2],
      [true, 1],
    ] as const) {
      const made = await pipeline({ retries: { ...retries, attemptsMax: 1 } });
      let runs = 0;
      await made.add(manifest('count', { side_effect_policy: 'irreversible' }), () => {
        runs += 1;
        if (runs === 1) throw new ToolLayerError('E3812', 'Away.', { details: { reached } });
        return { runs };
      });
      const first = await made.call(keyed('k'));
      const code = reached ? 'E3804' : 'E3812';
      expect(first).toMatchObject({ failure: { code }, metadata: { attempts: 1 } });
      const second = await made.call(keyed('k'));
      expect([second.failure?.code, runs]).toEqual([reached ? code : undefined, runsAfter]);
    }
  });

  test('waits for a duplicate that runs', async () => {
    const { call, runs } = await counting();
    const both = await Promise.all([call(keyed('k')), call(keyed('k'))]);
    expect(both.map(({ result }) => result)).toEqual([{ runs: 1 }, { runs: 1 }]);
    expect(runs()).toBe(1);
  });

  test('PIPE-09 runs itself when nothing ran of the one that it waited for', async () => {
    const inner = memoryIdempotencyStore();
    const claimed = Promise.withResolvers<void>();
    const othersWait = Promise.withResolvers<void>();
    let waiting = 0;
    const idempotency: typeof inner = {
      ...inner,
      async claim(claim, ttlMs) {
        const holder = await inner.claim(claim, ttlMs);
        claimed.resolve();
        if (holder.nonce !== claim.nonce) waiting += 1;
        if (waiting === 2) othersWait.resolve();
        // The first call is refused only after both other calls have found its claim.
        await othersWait.promise;
        return holder;
      },
    };
    const { call, runs } = await counting({ idempotency });
    const asking = call({ ...keyed('k'), execution_options: { idempotency_key: 'k', require_approval: true } });
    await claimed.promise;
    const others = await Promise.all([call(keyed('k')), call(keyed('k'))]);
    expect((await asking).failure?.code).toBe('E3806');
    expect(others.map(({ result }) => result)).toEqual([{ runs: 1 }, { runs: 1 }]);
    expect(runs()).toBe(1);
  });

  test('conflicts when the arguments differ', async () => {
    const { call } = await counting();
    await call(keyed('k'));
    expect((await call(keyed('k', 2))).failure?.code).toBe('E3802');
  });

  test('PIPE-09 conflicts when another version of the tool is meant, also when that is the same one today', async () => {
    const { call, runs } = await counting();
    await call({ ...keyed('k'), tool_version: '1.0.0' });
    expect((await call(keyed('k'))).failure?.code).toBe('E3802');
    expect(await call({ ...keyed('k'), tool_version: '1.0.0' })).toMatchObject({ metadata: { cached: true } });
    expect(runs()).toBe(1);
    await call(keyed('newest'));
    expect(await call({ ...keyed('newest'), tool_version: 'latest' })).toMatchObject({ metadata: { cached: true } });
  });

  test('gives a failure again that came after the tool ran, and frees the key of a refusal before', async () => {
    const { call, runs, token } = await counting();
    expect((await call(keyed('k', 99))).failure?.code).toBe('E3109');
    expect((await call(keyed('k', 99))).failure?.code).toBe('E3109');
    expect(runs()).toBe(1);
    const refused = await call({
      ...keyed('free'),
      execution_options: { idempotency_key: 'free', require_approval: true },
    });
    expect(refused.failure?.code).toBe('E3806');
    expect((await call(keyed('free'))).state).toBe('COMPLETED');
    const otherAgent = await token({ agent_did: 'did:agent:b' });
    expect((await call({ ...keyed('k', 3), capability_token: otherAgent })).state).toBe('COMPLETED');
  });
});

test('PIPE-09 a refusal whose key cannot be freed answers those who come after, and nobody asks for it without end', async () => {
  const { call } = await counting({
    idempotency: { ...memoryIdempotencyStore(), release: async () => undefined },
  });
  const asking = { ...keyed('k'), execution_options: { idempotency_key: 'k', require_approval: true } };
  const { invocationId } = await call(asking);
  expect(await call(asking)).toMatchObject({ invocationId, failure: { code: 'E3806' }, metadata: { cached: true } });
});

test('PIPE-09 a call with a key keeps the warnings of the stages before', async () => {
  const { add, call } = await counting();
  await add(manifest('ranged', { compatibility_range: '^2.1.0' }), async () => 'done');
  expect(await call({ ...keyed('k'), tool_id: 'ranged' })).toMatchObject({
    state: 'COMPLETED',
    warnings: [{ code: 'agent_version_unstated' }],
  });
});

const MINE = { tool_id: 'count', parameters: { n: 1 }, invocation_id: 'mine' };
const MINE_KEYED = { ...MINE, execution_options: { idempotency_key: 'k' } };

describe('PIPE-09 an invocation id', () => {
  test('names one call: the same request again is answered with it, as often as it comes', async () => {
    for (const request of [MINE, MINE_KEYED]) {
      const { call, runs } = await counting();
      expect(await call(request)).toMatchObject({ invocationId: 'mine', result: { runs: 1 } });
      for (let time = 0; time < 3; time += 1) {
        expect(await call(request)).toMatchObject({
          invocationId: 'mine',
          result: { runs: 1 },
          metadata: { cached: true },
        });
      }
      expect(runs()).toBe(1);
    }
  });

  test('and its key stay the call’s when the request comes again, in all combinations', async () => {
    const { call, runs } = await counting();
    await call(MINE_KEYED);
    await call(MINE_KEYED);
    for (const again of [keyed('k'), { ...MINE_KEYED, invocation_id: 'other' }, MINE_KEYED]) {
      expect(await call(again)).toMatchObject({ invocationId: 'mine', metadata: { cached: true } });
    }
    for (const refused of [MINE, { ...MINE_KEYED, execution_options: { idempotency_key: 'another' } }]) {
      expect((await call(refused)).failure?.code).toBe('E3802');
    }
    expect(runs()).toBe(1);
  });

  test('of a call that runs leads to it, and the same request waits for its answer', async () => {
    const { add, call, runs, parts } = await counting();
    const known = () => parts.running.find('acme', 'looks') !== undefined;
    await add(manifest('look'), async () => known());
    expect(await call({ tool_id: 'look', parameters: { n: 1 }, invocation_id: 'looks' })).toMatchObject({
      result: true,
    });
    expect(known()).toBe(false);
    const ends = await Promise.all([call(MINE), call(MINE), call(MINE)]);
    expect(ends.map(({ result }) => result)).toEqual(Array(3).fill({ runs: 1 }));
    expect(runs()).toBe(1);
  });

  test('is refused to another request, and what is on record of its call stays', async () => {
    const { call, store, token } = await counting();
    await call(MINE);
    const row = await store.findInvocation('acme', 'mine');
    const capability_token = await token({ agent_did: 'did:agent:b' });
    for (const other of [
      { ...MINE, capability_token },
      { ...MINE, parameters: { n: 2 } },
    ]) {
      const refused = await call(other);
      expect(refused.failure?.code).toBe('E3802');
      expect(refused.invocationId).not.toBe('mine');
      expect(await store.findInvocation('acme', refused.invocationId)).toMatchObject({ state: 'FAILED' });
    }
    expect(await store.findInvocation('acme', 'mine')).toEqual(row);
  });

  test('of a call that was refused before it could run is free, and the refusal has an id of the layer’s', async () => {
    const { call, store, runs } = await counting();
    const asking = { ...MINE_KEYED, execution_options: { idempotency_key: 'k', require_approval: true } };
    for (const request of [asking, { ...MINE, parameters: { n: 'x' } }, { ...MINE, tool_id: 'absent' }]) {
      const refused = await call(request);
      expect(refused.failure).toBeDefined();
      expect(refused.invocationId).not.toBe('mine');
      expect(await store.findInvocation('acme', 'mine')).toBeUndefined();
    }
    expect(await call(MINE_KEYED)).toMatchObject({ invocationId: 'mine', state: 'COMPLETED' });
    expect(runs()).toBe(1);
  });

  test('whose claim was lost or ran out is still that of its row', async () => {
    const { call, runs, parts } = await counting();
    await call(MINE);
    const { nonce = '' } = (await parts.records.findInvocation('acme', 'mine')) ?? {};
    const lose = () => parts.idempotency.release('acme', '\nid:mine', nonce);
    await lose();
    expect((await call({ ...MINE, parameters: { n: 2 } })).failure?.code).toBe('E3802');
    expect(await call(MINE)).toMatchObject({ invocationId: 'mine', result: { runs: 1 }, metadata: { cached: true } });
    expect(runs()).toBe(1);
  });

  test('whose claim was lost after its tool failed is still that of its row: the tool may have had its effect', async () => {
    const { call, runs, parts } = await counting();
    const failing = { ...MINE, parameters: { n: 99 } };
    await call(failing);
    const { nonce = '' } = (await parts.records.findInvocation('acme', 'mine')) ?? {};
    await parts.idempotency.release('acme', '\nid:mine', nonce);
    expect(await call(failing)).toMatchObject({ invocationId: 'mine', failure: { code: 'E3109' } });
    expect(runs()).toBe(1);
  });

  test.each(['E3812', 'E3805'] as const)(
    'whose claim was lost with a call that left nothing but %s is free, and the next call has a row of its own',
    async (code) => {
      const { call, store, runs } = await counting();
      const { result: _result, outputHash: _hash, ...row } = await call({ tool_id: 'count', parameters: { n: 1 } });
      const failure = { failed: true, code, message: 'Nothing ran.' } as const;
      const metadata = { ...(row.metadata as object), attempts: 0 } as NonNullable<typeof row.metadata>;
      const left = { ...row, invocationId: 'mine', nonce: 'before', state: 'FAILED' as const, failure, metadata };
      await store.append({ records: [left], events: [] }, 'synchronous');
      const again = await call(MINE);
      expect(again).toMatchObject({ state: 'COMPLETED', result: { runs: 2 } });
      expect(again.invocationId).not.toBe('mine');
      expect(await call(MINE)).toMatchObject({ invocationId: again.invocationId, metadata: { cached: true } });
      expect(runs()).toBe(2);
    },
  );

  test.each([
    ['whose claim was lost', false],
    ['whose claim stands', true],
  ] as const)(
    'of a call that ended with its instance, %s, gets the unknown outcome, though no attempt was counted',
    async (_how, stands) => {
      const { call, runs, parts, eventsOf } = await counting();
      const { result: _result, outputHash: _hash, ...row } = await call({ ...MINE, invocation_id: 'other' });
      const ended = { invocationId: 'mine', nonce: 'mine', state: 'ABORTED' as const, deferred: true as const };
      const failure = { failed: true, code: 'E3804', message: 'The layer ended.' } as const;
      const metadata = { ...(row.metadata as object), attempts: 0 } as NonNullable<typeof row.metadata>;
      const [said] = await eventsOf('other');
      const events = ['DECLARED', 'ABORTED'].map((state) => ({
        ...{ id: state, type: 'ai.agent.tool.failed' as const, time: 1, tenantId: 'acme' },
        data: { ...said?.data, invocation_id: 'mine', state },
      }));
      await parts.ledger.commit({ record: { ...row, ...ended, failure, metadata }, events, durability: 'synchronous' });
      const held = await parts.idempotency.find('acme', '\nid:other');
      if (held === undefined) throw new Error('the id is not claimed');
      const claim = { ...held, key: '\nid:mine', nonce: 'mine', invocationId: 'mine' };
      if (stands) await parts.idempotency.claim(claim, 60_000);
      expect(await call(MINE)).toMatchObject({ invocationId: 'mine', failure: { code: 'E3804' } });
      expect(runs()).toBe(1);
    },
  );

  test('ORC-06 of a call that lost its claim has a durable end: its row said already that it runs', async () => {
    const store = memoryLedgerStore();
    const ends: string[] = [];
    const heard: typeof store = {
      ...store,
      async append(batch, durability) {
        for (const { state } of batch.records) ends.push(`${state} ${durability}`);
        await store.append(batch, durability);
      },
    };
    const inner = memoryIdempotencyStore();
    const { call, runs } = await counting({ store: heard, idempotency: { ...inner, find: async () => undefined } });
    expect((await call(MINE)).failure?.code).toBe('E3811');
    expect(runs()).toBe(0);
    expect(ends).toEqual(['EXECUTING synchronous', 'ABORTED synchronous']);
  });
});
