import { createHmac } from 'node:crypto';
import { systemClock } from '@sallyport/std/clock';
import { beforeEach, expect, test } from 'vitest';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import { silentLog } from '../../telemetry/log.ts';
import { type CheckpointSigner, signCheckpoint } from '../checkpoint.ts';
import { openLedger } from '../ledger.ts';
import type { ChainCheckpoint, LedgerStore } from '../ledger-store.port.ts';
import { verifyLedger } from '../verify-ledger.ts';
import { createHeadsKeeper, type HeadsPlace, type KeptHeads } from './kept-heads.ts';

const mac = (text: string): string => createHmac('sha256', 'key').update(text).digest('base64url');
const signer: CheckpointSigner = {
  sign: async (text) => ({ keyId: 'k', signature: mac(text) }),
  verify: async (text, keyId, signature) => keyId === 'k' && signature === mac(text),
};

let kept: KeptHeads | undefined;
let place: HeadsPlace;
beforeEach(() => {
  kept = undefined;
  place = {
    read: async () => kept,
    write: async (given) => {
      kept = given;
    },
  };
});

/** Appends events to a chain, and signs its head. */
async function grow(store: LedgerStore, chainId: string, ids: readonly string[]): Promise<ChainCheckpoint> {
  const ledger = await openLedger({ store, chainId, log: silentLog });
  for (const id of ids) {
    const event = { id, type: 'ai.agent.registry.changed' as const, time: 1, tenantId: 'acme', data: {} };
    await ledger.commit({ events: [event], durability: 'asynchronous' });
  }
  const checkpoint = await signCheckpoint(signer, chainId, ledger.head(), 1);
  await store.addCheckpoint(checkpoint);
  return checkpoint;
}

const keeperOf = (store: LedgerStore) =>
  createHeadsKeeper({ place, store, signer, chainId: 'one', clock: systemClock });

const keys = { keys: { holders: async () => [] }, ttlMs: 0 };
const verify = (store: LedgerStore, head = { seq: 0, hash: '' }, now = () => 10_000) =>
  verifyLedger(store, signer, { chainId: 'one', place, head: () => head, everyMs: 1_000, keys, now });

const headsKept = () => kept?.heads.map(({ chain_id, seq }) => [chain_id, seq]);

test('AUD-07 of each chain the newest signed head is kept, of other instances too', async () => {
  const store = memoryLedgerStore();
  const keeper = keeperOf(store);
  await keeper.begin();
  expect(kept).toMatchObject({ begun: { events: 0 }, heads: [] });
  await grow(store, 'two', ['x', 'y']);
  await keeper.keep(await grow(store, 'one', ['a']));
  await keeper.keep(await grow(store, 'one', ['b', 'c']));
  expect(headsKept()).toEqual([
    ['two', 2],
    ['one', 3],
  ]);
  expect(await verify(store)).toMatchObject({ whole: true, heads: { checked: 2, faults: [] }, warnings: [] });
});

test('AUD-07 a head that nobody of the layer signed is not kept', async () => {
  const store = memoryLedgerStore();
  await grow(store, 'two', ['x']);
  await store.addCheckpoint({ chainId: 'two', seq: 9, hash: 'f', time: 't', keyId: 'k', signature: 'forged' });
  await keeperOf(store).keep(await grow(store, 'one', ['a']));
  expect(headsKept()).toEqual([['one', 1]]);
});

test('AUD-07 what was signed before the last end and not kept is kept at the next start', async () => {
  const store = memoryLedgerStore();
  await keeperOf(store).begin();
  await grow(store, 'one', ['a', 'b']);
  await keeperOf(store).begin();
  expect(headsKept()).toEqual([['one', 2]]);
});

test('AUD-07 a restart keeps what is kept: the heads of all chains, and when the first of them was', async () => {
  const store = memoryLedgerStore();
  await keeperOf(store).begin();
  const { begun } = kept ?? {};
  await grow(store, 'two', ['x']);
  await keeperOf(store).keep(await grow(store, 'one', ['a']));
  const before = kept;
  await keeperOf(store).begin();
  expect(kept).toEqual(before);
  await keeperOf(store).keep(await grow(store, 'one', ['b']));
  expect([kept?.begun, headsKept()]).toEqual([
    begun,
    [
      ['two', 1],
      ['one', 2],
    ],
  ]);
});

test('AUD-07 an older head than the one that is kept does not replace it', async () => {
  const store = memoryLedgerStore();
  const old = await grow(store, 'one', ['a']);
  const newest = await grow(store, 'one', ['b']);
  for (const checkpoint of [newest, old, newest]) await keeperOf(store).keep(checkpoint);
  expect(headsKept()).toEqual([['one', 2]]);
});

test('AUD-07 a chain that was cut or written anew, and grew since, stays proven by the head that it does not have', async () => {
  await keeperOf(memoryLedgerStore()).begin();
  await keeperOf(memoryLedgerStore()).keep(await grow(memoryLedgerStore(), 'one', ['a', 'b']));
  const anew = memoryLedgerStore();
  await keeperOf(anew).keep(await grow(anew, 'one', ['a', 'forged', 'c']));
  await keeperOf(anew).keep(await grow(anew, 'one', ['d']));
  expect(headsKept()).toEqual([
    ['one', 2],
    ['one', 4],
  ]);
  const reason = expect.stringContaining('the chain was written anew');
  expect(await verify(anew)).toMatchObject({
    whole: false,
    chains: [{ whole: true }],
    heads: { checked: 2, faults: [{ chain_id: 'one', seq: 2, reason }] },
  });
});

test('AUD-07 heads of one chain that are kept are bounded: the first proofs stay, and the newest', async () => {
  for (let at = 1; at <= 120; at += 1) {
    const other = memoryLedgerStore();
    const checkpoint = await grow(
      other,
      'one',
      Array.from({ length: at }, (_, event) => `${at} ${event}`),
    );
    await keeperOf(other).keep(checkpoint);
  }
  expect(kept?.heads).toHaveLength(100);
  expect([kept?.heads[0]?.seq, kept?.heads.at(-1)?.seq]).toEqual([1, 120]);
});

test('AUD-07 a file that is missing, cannot be read or was begun late is named', async () => {
  const store = memoryLedgerStore();
  const checkpoint = await grow(store, 'one', ['a', 'b']);
  const missing = expect.stringContaining('audit-heads.json is missing');
  expect(await verify(store)).toMatchObject({ whole: true, heads: { checked: 0 }, warnings: [missing] });
  await keeperOf(store).keep(checkpoint);
  const late = expect.stringContaining('when the chain of this instance had 2 events');
  expect(await verify(store)).toMatchObject({ whole: true, heads: { checked: 1 }, warnings: [late] });
  place = { ...place, read: () => Promise.reject(new Error('no JSON')) };
  const reason = 'the file audit-heads.json cannot be read: no JSON';
  expect(await verify(store)).toMatchObject({ whole: false, heads: { faults: [{ reason }] } });
  place = { ...place, read: () => Promise.reject('gone') };
  expect((await verify(store)).heads.faults).toMatchObject([{ reason: expect.stringContaining('read: gone') }]);
  place = { ...place, read: () => Promise.reject(new Error('no JSON')) };
  // An unreadable file is not overwritten.
  await expect(keeperOf(store).keep(checkpoint)).rejects.toThrow('no JSON');
});

test('AUD-07 an event behind the last signed head that was deleted is missed by the layer that wrote it', async () => {
  const store = memoryLedgerStore();
  await keeperOf(store).begin();
  await keeperOf(store).keep(await grow(store, 'one', ['a']));
  const { hash } = (await store.chainHead('one')) ?? { hash: '' };
  expect(await verify(store, { seq: 1, hash })).toMatchObject({ whole: true });
  const reason = 'event 2, which this layer wrote last, is gone';
  expect(await verify(store, { seq: 2, hash })).toMatchObject({
    whole: false,
    heads: { faults: [{ seq: 2, reason }] },
  });
});

test('AUD-03 events that no signed head of the table covers are named once they are older than two turns', async () => {
  const store = memoryLedgerStore();
  await grow(store, 'one', ['a']);
  await keeperOf(store).begin();
  const ledger = await openLedger({ store, chainId: 'one', log: silentLog });
  const event = (id: string, time: number) => ({
    events: [{ id, type: 'ai.agent.registry.changed' as const, time, tenantId: 'acme', data: {} }],
    durability: 'asynchronous' as const,
  });
  const warnings = async () =>
    (await verify(store)).warnings.filter((warning) => warning.includes('covered by no signed head'));
  await ledger.commit(event('recent', 9_000));
  expect(await warnings()).toEqual([]);
  const unsigned: LedgerStore = { ...store, checkpoints: async () => [] };
  const { heads, chains, warnings: told } = await verify(unsigned);
  expect(chains).toMatchObject([{ unsigned_since: '1970-01-01T00:00:00.001Z' }]);
  expect(told).toContainEqual(expect.stringContaining('since 1970-01-01T00:00:00.001Z are covered by no'));
  expect(heads.faults).toMatchObject([{ reason: expect.stringContaining('was deleted from the table') }]);
  const early = memoryLedgerStore();
  const old = await openLedger({ store: early, chainId: 'two', log: silentLog });
  await old.commit(event('just not old', 8_001));
  kept = undefined;
  expect((await verify(early)).warnings).toHaveLength(1);
  const late = memoryLedgerStore();
  await (await openLedger({ store: late, chainId: 'two', log: silentLog })).commit(event('old', 8_000));
  expect((await verify(late)).warnings).toContainEqual(expect.stringContaining('covered by no signed head'));
});

test('AUD-03.3 events that no signed head covered yet when the reading began are not named because it takes long', async () => {
  const store = memoryLedgerStore();
  const ledger = await openLedger({ store, chainId: 'one', log: silentLog });
  const event = { id: 'a', type: 'ai.agent.registry.changed' as const, time: 9_000, tenantId: 'acme', data: {} };
  await ledger.commit({ events: [event], durability: 'asynchronous' });
  await keeperOf(store).begin();
  let now = 10_000;
  const slow: LedgerStore = {
    ...store,
    chainEvents: (...asked) => {
      now += 60_000;
      return store.chainEvents(...asked);
    },
  };
  const { warnings } = await verify(slow, undefined, () => now);
  expect(warnings).not.toContainEqual(expect.stringContaining('covered by no signed head'));
});

test('AUD-07 a signed head that was replaced in the table by one with another place or hash was deleted from it', async () => {
  const store = memoryLedgerStore();
  const checkpoint = await grow(store, 'one', ['a']);
  await keeperOf(store).keep(checkpoint);
  for (const change of [{ seq: 2 }, { hash: 'f' }]) {
    const { heads } = await verify({ ...store, checkpoints: async () => [{ ...checkpoint, ...change }] });
    expect(heads.faults).toMatchObject([{ reason: expect.stringContaining('was deleted from the table') }]);
  }
});

test('AUD-07 a head counts as kept once it is written, and not before', async () => {
  const store = memoryLedgerStore();
  const { write } = place;
  place = {
    ...place,
    write: async (given) => {
      await new Promise((resolve) => setImmediate(resolve));
      await write(given);
    },
  };
  const keeper = keeperOf(store);
  await keeper.begin();
  expect(headsKept()).toEqual([]);
  await keeper.keep(await grow(store, 'one', ['a']));
  expect(headsKept()).toEqual([['one', 1]]);
});
