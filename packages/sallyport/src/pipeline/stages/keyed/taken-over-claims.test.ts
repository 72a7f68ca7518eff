import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { expect, test } from 'vitest';
import { memoryIdempotencyStore } from '../../../../test/stores/calls/memory-idempotency-store.ts';
import { memoryLedgerStore } from '../../../../test/stores/memory-ledger-store.ts';
import { openLedger } from '../../../audit/ledger.ts';
import { silentLog } from '../../../telemetry/log.ts';
import type { IdempotencyStore } from '../../idempotency-store.port.ts';
import { manifest, pipeline } from '../../pipeline.fixture.ts';

/** Without a row for this long the call that has a claim counts as lost, ms: of another instance, and of one's own. */
const LOST_AFTER_MS = 30_000;
const OWN_LOST_AFTER_MS = 1_000;

const REQUEST = { tool_id: 'pay', parameters: { n: 1 } };
const KEY = 'did:agent:a\nk';
const KEYED = { ...REQUEST, execution_options: { idempotency_key: 'k' } };

/** Two instances over the same stores. The test moves their time, and says when rows of the first are written. */
async function twoInstances(taken: (inner: IdempotencyStore) => Partial<IdempotencyStore> = () => ({})) {
  const store = memoryLedgerStore();
  const inner = memoryIdempotencyStore();
  const mayWrite = Promise.withResolvers<void>();
  const wantsToWrite = Promise.withResolvers<void>();
  const ran = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const runs: string[] = [];
  const time = { ms: 0, looks: 0 };
  const gated: typeof store = {
    ...store,
    async append(batch, durability) {
      wantsToWrite.resolve();
      await mayWrite.promise;
      await store.append(batch, durability);
    },
  };
  const watched: typeof store = {
    ...store,
    async findInvocation(...asked) {
      time.looks += 1;
      return store.findInvocation(...asked);
    },
  };
  const open = async (instanceId: 'one' | 'two') => {
    const ledger = await openLedger({
      store: instanceId === 'one' ? gated : store,
      chainId: instanceId,
      log: silentLog,
    });
    const made = await pipeline({
      store,
      ledger,
      instanceId,
      records: watched,
      idempotency: instanceId === 'one' ? inner : { ...inner, ...taken(inner) },
      clock: { now: () => Date.now(), monotonic: () => time.ms },
    });
    await made.add(manifest('pay', { side_effect_policy: 'irreversible' }), async () => {
      runs.push(instanceId);
      ran.resolve();
      await end.promise;
      return { by: instanceId };
    });
    return made.call;
  };
  const one = await open('one');
  const two = await open('two');
  /** Resolves when an instance has looked for the row of the first call so many times more. */
  const looked = async (times: number): Promise<void> => {
    const from = time.looks;
    await expect.poll(() => time.looks - from, { interval: 5 }).toBeGreaterThanOrEqual(times);
  };
  return { one, two, store, inner, mayWrite, wantsToWrite, ran, end, runs, time, looked };
}

/** A row is looked for under the id of the claim and under the nonce. */
const LOOKS_PER_POLL = 2;

test('PIPE-09 a call whose row comes while its claim is taken over gets the claim back, and its answer is that of both', async () => {
  let late: () => Promise<void> = async () => undefined;
  const made = await twoInstances((inner) => ({
    async takeOver(claim, from, ttlMs) {
      const act = late;
      late = async () => undefined;
      await act();
      return inner.takeOver(claim, from, ttlMs);
    },
  }));
  const first = made.one(KEYED);
  await made.wantsToWrite.promise;
  late = async () => {
    made.mayWrite.resolve();
    await made.ran.promise;
  };
  const second = made.two(KEYED);
  await made.looked(LOOKS_PER_POLL);
  made.time.ms = LOST_AFTER_MS;
  await made.ran.promise;
  await made.looked(LOOKS_PER_POLL);
  made.end.resolve();
  const { invocationId } = await first;
  expect(await second).toMatchObject({ invocationId, result: { by: 'one' }, metadata: { cached: true } });
  expect(made.runs).toEqual(['one']);
  const claim = await made.inner.find('acme', KEY);
  expect(claim).toMatchObject({ invocationId, nonce: invocationId });
});

test('PIPE-09 a call whose claim was taken over before its row came does not run, and the taker does', async () => {
  const made = await twoInstances();
  const first = made.one(KEYED);
  await made.wantsToWrite.promise;
  const second = made.two(KEYED);
  await made.looked(LOOKS_PER_POLL);
  made.time.ms = LOST_AFTER_MS;
  await made.ran.promise;
  made.mayWrite.resolve();
  expect(await first).toMatchObject({ failure: { code: 'E3811' } });
  made.end.resolve();
  expect(await second).toMatchObject({ result: { by: 'two' }, metadata: { cached: false } });
  expect(made.runs).toEqual(['two']);
});

test('PIPE-09 no claim of another instance is taken over a moment too early', async () => {
  const made = await twoInstances();
  const first = made.one(KEYED);
  await made.wantsToWrite.promise;
  const second = made.two(KEYED);
  await made.looked(LOOKS_PER_POLL);
  made.time.ms = LOST_AFTER_MS - 1;
  await made.looked(3 * LOOKS_PER_POLL);
  expect(made.runs).toEqual([]);
  made.mayWrite.resolve();
  made.end.resolve();
  expect(await second).toMatchObject({ invocationId: (await first).invocationId, result: { by: 'one' } });
  expect(made.runs).toEqual(['one']);
});

test('PIPE-09 a call that runs elsewhere for longer than that keeps its claim', async () => {
  let taken = 0;
  const made = await twoInstances((inner) => ({
    takeOver(...given) {
      taken += 1;
      return inner.takeOver(...given);
    },
  }));
  made.mayWrite.resolve();
  const first = made.one(KEYED);
  await made.ran.promise;
  const second = made.two(KEYED);
  await made.looked(1);
  made.time.ms = 2 * LOST_AFTER_MS;
  await made.looked(2);
  made.end.resolve();
  expect(await second).toMatchObject({ invocationId: (await first).invocationId, result: { by: 'one' } });
  expect(taken).toBe(0);
});

test.each([
  ['an id and a key', { ...KEYED, invocation_id: 'mine' }],
  ['an id', { ...REQUEST, invocation_id: 'mine' }],
])('PIPE-09 a lost call with %s is waited for once, and its id stays free for its row', async (_names, asked) => {
  const made = await twoInstances();
  const first = made.one(asked);
  await made.wantsToWrite.promise;
  const second = made.two(asked);
  await made.looked(LOOKS_PER_POLL);
  made.time.ms = LOST_AFTER_MS;
  await made.ran.promise;
  made.end.resolve();
  const answer = await second;
  expect(answer).toMatchObject({ state: 'COMPLETED', result: { by: 'two' } });
  expect(answer.invocationId).not.toBe('mine');
  made.mayWrite.resolve();
  expect(await first).toMatchObject({ failure: { code: 'E3811' } });
  expect(await made.two(asked)).toMatchObject({ invocationId: answer.invocationId, metadata: { cached: true } });
  expect(made.runs).toEqual(['two']);
});

test.each([
  ['given back', 'release'],
  ['undone by a crash of the database, and made by a third call,', 'takeOver'],
] as const)('PIPE-09 a claim without a row that is %s is waited for no longer', async (_how, change) => {
  const made = await twoInstances();
  made.end.resolve();
  const first = { nonce: 'gone', invocationId: 'gone', instanceId: 'one' };
  const answered = await made.two({ ...KEYED, invocation_id: 'answered' });
  const held = await made.inner.find('acme', KEY);
  if (held === undefined) throw new Error('the key is not claimed');
  await made.inner.takeOver({ ...held, ...first }, held.nonce, 60_000);
  const second = made.two({ ...KEYED, invocation_id: 'mine' });
  await made.looked(2 * LOOKS_PER_POLL);
  expect(made.runs).toEqual(['two']);
  if (change === 'release') await made.inner.release('acme', KEY, 'gone');
  else await made.inner.takeOver(held, 'gone', 60_000);
  expect(await second).toMatchObject(
    change === 'release'
      ? { invocationId: 'mine', metadata: { cached: false } }
      : { invocationId: answered.invocationId, metadata: { cached: true } },
  );
  expect(made.runs).toEqual(change === 'release' ? ['two', 'two'] : ['two']);
});

test('PIPE-09 a call that fails since the answer to its claim is lost gives the claim back', async () => {
  let isLost = true;
  const made = await twoInstances((inner) => ({
    async claim(...given) {
      const claimed = await inner.claim(...given);
      if (isLost) throw new ToolLayerError('E3812', 'The answer is lost.');
      return claimed;
    },
  }));
  made.end.resolve();
  expect(await made.two(KEYED)).toMatchObject({ failure: { code: 'E3812' } });
  isLost = false;
  await expect.poll(() => made.inner.find('acme', KEY), { interval: 5 }).toBeUndefined();
  expect(await made.two(KEYED)).toMatchObject({ state: 'COMPLETED', metadata: { cached: false } });
});

/** The key was claimed by the second instance for a call that is gone, after one that ran. */
async function withLostOwnClaim() {
  const made = await twoInstances();
  made.end.resolve();
  await made.two(KEYED);
  const held = await made.inner.find('acme', KEY);
  if (held === undefined) throw new Error('the key is not claimed');
  await made.inner.takeOver({ ...held, nonce: 'gone', invocationId: 'gone' }, held.nonce, 60_000);
  return made;
}

test('PIPE-09 a claim that this instance made is taken over sooner, when no call of it is under way here', async () => {
  const made = await withLostOwnClaim();
  const second = made.two(KEYED);
  await made.looked(LOOKS_PER_POLL);
  made.time.ms = OWN_LOST_AFTER_MS - 1;
  await made.looked(3 * LOOKS_PER_POLL);
  expect(made.runs).toEqual(['two']);
  made.time.ms = OWN_LOST_AFTER_MS;
  expect(await second).toMatchObject({ state: 'COMPLETED', metadata: { cached: false } });
  expect(made.runs).toEqual(['two', 'two']);
});

test('PIPE-09.1 a key that a call with an id of its own took over leads to that call', async () => {
  const made = await withLostOwnClaim();
  const second = made.two({ ...KEYED, invocation_id: 'chosen' });
  await made.looked(LOOKS_PER_POLL);
  made.time.ms = OWN_LOST_AFTER_MS;
  expect(await second).toMatchObject({ invocationId: 'chosen', metadata: { cached: false } });
  expect(await made.inner.find('acme', KEY)).toMatchObject({ invocationId: 'chosen' });
  expect(await made.two(KEYED)).toMatchObject({ invocationId: 'chosen', metadata: { cached: true } });
  expect(made.runs).toEqual(['two', 'two']);
});

test('PIPE-09 a claim is never taken over from a call that is under way in this instance', async () => {
  const made = await twoInstances();
  const first = made.one(KEYED);
  await made.wantsToWrite.promise;
  const second = made.one(KEYED);
  await made.looked(LOOKS_PER_POLL);
  made.time.ms = 2 * LOST_AFTER_MS;
  await made.looked(3 * LOOKS_PER_POLL);
  made.mayWrite.resolve();
  made.end.resolve();
  expect(await second).toMatchObject({ invocationId: (await first).invocationId, result: { by: 'one' } });
  expect(made.runs).toEqual(['one']);
});
