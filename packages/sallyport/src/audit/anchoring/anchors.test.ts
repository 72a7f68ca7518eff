import { createHmac } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import type { Anchor } from '../../../api/schemas/audit.ts';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import { silentLog } from '../../telemetry/log.ts';
import { signHeads, verifyAnchors } from '../anchors.ts';
import type { CheckpointSigner } from '../checkpoint.ts';
import { openLedger } from '../ledger.ts';
import type { LedgerStore } from '../ledger-store.port.ts';
import { verifyLedger } from '../verify-ledger.ts';

const mac = (text: string): string => createHmac('sha256', 'key').update(text).digest('base64url');
const signer: CheckpointSigner = {
  sign: async (text) => ({ keyId: 'k', signature: mac(text) }),
  verify: async (text, keyId, signature) => keyId === 'k' && signature === mac(text),
};

async function grow(store: LedgerStore, chainId: string, events: number, word = 'e'): Promise<void> {
  const ledger = await openLedger({ store, chainId, log: silentLog });
  for (let at = 1; at <= events; at += 1) {
    const event = {
      id: `${word}${at}`,
      type: 'ai.agent.registry.changed' as const,
      time: at,
      tenantId: 'acme',
      data: {},
    };
    await ledger.commit({ events: [event], durability: 'asynchronous' });
  }
}

let store: LedgerStore;
let anchors: readonly Anchor[];

beforeEach(async () => {
  store = memoryLedgerStore();
  await grow(store, 'one', 3);
  await grow(store, 'two', 5);
  anchors = await signHeads(store, signer, Date.parse('2026-01-02T03:04:05Z'));
});

test('AUD-07 the head of every chain is signed, and holds however long the chains grow', async () => {
  expect(anchors.map(({ chain_id, seq, time }) => [chain_id, seq, time])).toEqual([
    ['one', 3, '2026-01-02T03:04:05.000Z'],
    ['two', 5, '2026-01-02T03:04:05.000Z'],
  ]);
  await grow(store, 'one', 4, 'later');
  expect(await verifyAnchors(store, signer, anchors)).toEqual({ whole: true, checked: 2, faults: [] });
  expect(await verifyAnchors(store, signer, [])).toEqual({ whole: true, checked: 0, faults: [] });
  // An anchor is also stored as a checkpoint of the layer.
  expect(await verifyLedger(store, signer)).toMatchObject({ whole: true, chains: [{ checkpoints: 1 }, {}] });
});

test('AUD-07 a head is no anchor before it is stored as a checkpoint', async () => {
  const full: LedgerStore = { ...store, addCheckpoint: () => Promise.reject(new Error('the disk is full')) };
  await expect(signHeads(full, signer, 1)).rejects.toThrow('the disk is full');
});

test('AUD-07 no head of a layer without events is signed', async () => {
  expect(await signHeads(memoryLedgerStore(), signer, 0)).toEqual([]);
});

test('AUD-07.4 a chain that was written anew with right hashes, or cut, is whole but for its anchors', async () => {
  const forged = memoryLedgerStore();
  await grow(forged, 'one', 4, 'forged');
  await grow(forged, 'two', 4);
  expect(await verifyLedger(forged, signer)).toMatchObject({ whole: true });
  expect(await verifyAnchors(forged, signer, anchors)).toEqual({
    whole: false,
    checked: 2,
    faults: [
      {
        chain_id: 'one',
        seq: 3,
        reason:
          'event 3, which was the head at 2026-01-02T03:04:05.000Z, has another hash now: the chain was written anew',
      },
      { chain_id: 'two', seq: 5, reason: 'event 5, which was the head at 2026-01-02T03:04:05.000Z, is gone' },
    ],
  });
});

test('AUD-07 an event that was taken out of the middle is gone, whatever follows it', async () => {
  await grow(store, 'one', 2, 'later');
  const without: LedgerStore = {
    ...store,
    chainEvents: async (chainId, after) =>
      (await store.chainEvents(chainId, after, 10)).filter(({ chainseq }) => chainseq !== 3),
  };
  const { faults } = await verifyAnchors(without, signer, anchors.slice(0, 1));
  expect(faults).toMatchObject([{ seq: 3, reason: expect.stringContaining('is gone') }]);
});

test.each<[string, Partial<Anchor>]>([
  ['hash', { hash: 'f'.repeat(64) }],
  ['place', { seq: 2 }],
  ['chain', { chain_id: 'two' }],
  ['time', { time: '2027-01-01T00:00:00.000Z' }],
  ['key', { key_id: 'other' }],
  ['signature', { signature: '' }],
])('AUD-07 an anchor whose %s was changed is not taken for one', async (_, change) => {
  const forged = { ...(anchors[0] as Anchor), ...change };
  const { faults } = await verifyAnchors(store, signer, [forged]);
  expect(faults).toMatchObject([{ reason: expect.stringContaining('is not signed by a known key') }]);
});
