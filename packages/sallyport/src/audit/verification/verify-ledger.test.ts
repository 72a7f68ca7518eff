import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { CloudEvent } from '../../../api/schemas/cloud-event.ts';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import { silentLog } from '../../telemetry/log.ts';
import { type CheckpointSigner, signCheckpoint } from '../checkpoint.ts';
import { openLedger } from '../ledger.ts';
import type { LedgerStore } from '../ledger-store.port.ts';
import { verifyLedger } from '../verify-ledger.ts';

const mac = (text: string): string => createHmac('sha256', 'key').update(text).digest('base64url');
const signer: CheckpointSigner = {
  sign: async (text) => ({ keyId: 'k', signature: mac(text) }),
  verify: async (text, keyId, signature) => keyId === 'k' && signature === mac(text),
};

async function chainOf(events: number): Promise<LedgerStore> {
  const store = memoryLedgerStore();
  const ledger = await openLedger({ store, chainId: 'one', log: silentLog });
  for (let i = 1; i <= events; i += 1) {
    const event = { id: `e${i}`, type: 'ai.agent.registry.changed' as const, time: i, tenantId: 'acme', data: { i } };
    await ledger.commit({ events: [event], durability: 'asynchronous' });
  }
  if (events > 0) await store.addCheckpoint(await signCheckpoint(signer, 'one', ledger.head(), 1));
  return store;
}

/** The same store with other events in its answers, as if somebody had written to the table. */
const tampered = (
  store: LedgerStore,
  change: (events: readonly CloudEvent[]) => readonly CloudEvent[],
): LedgerStore => ({
  ...store,
  chainEvents: async (chainId, after, limit) =>
    change(await store.chainEvents(chainId, 0, 10_000))
      .filter(({ chainseq }) => chainseq > after)
      .slice(0, limit),
});

describe('verification of the chains', () => {
  test('AUD-03 a whole chain is called whole and counted, beyond one page too', async () => {
    const report = await verifyLedger(await chainOf(1201), signer);
    expect(report).toMatchObject({ whole: true, events: 1201, chains: [{ checkpoints: 1, whole: true }] });
    expect(await verifyLedger(memoryLedgerStore(), signer)).toMatchObject({ whole: true, events: 0, chains: [] });
  });

  test('AUD-03.3 the first broken entry is named', async () => {
    const store = await chainOf(5);
    const changed = tampered(store, (events) =>
      events.map((event) => (event.chainseq >= 3 ? { ...event, data: { i: 99 } } : event)),
    );
    expect(await verifyLedger(changed, signer)).toMatchObject({
      whole: false,
      chains: [{ first_broken: { seq: 3, event_id: 'e3', reason: 'its content does not match its hash' } }],
    });
  });

  test('AUD-03.3 an event taken out of the middle, and events cut off at the end, are found', async () => {
    const store = await chainOf(5);
    const gap = await verifyLedger(
      tampered(store, (events) => events.filter(({ chainseq }) => chainseq !== 2)),
      signer,
    );
    expect(gap.chains[0]?.first_broken?.reason).toContain('event 2 is missing');
    const cut = await verifyLedger(
      tampered(store, (events) => events.slice(0, 3)),
      signer,
    );
    expect(cut.chains[0]?.first_broken).toMatchObject({ seq: 4 });
    expect(cut.chains[0]?.first_broken?.reason).toContain('events 4 to 5 are gone');
  });

  test('AUD-03.3 of two faults the one that is earlier in the chain is named', async () => {
    const store = await chainOf(5);
    await store.addCheckpoint({ chainId: 'one', seq: 4, hash: 'x', time: 't', keyId: 'other', signature: 'none' });
    for (const [broken, seq] of [
      [2, 2],
      [5, 4],
    ] as const) {
      const changed = tampered(store, (events) =>
        events.map((event) => (event.chainseq === broken ? { ...event, data: { i: 99 } } : event)),
      );
      expect(await verifyLedger(changed, signer)).toMatchObject({ chains: [{ first_broken: { seq } }] });
    }
  });

  test('AUD-03.2 a chain written anew with right hashes is betrayed by the signed checkpoint', async () => {
    const store = await chainOf(3);
    const forged = await chainOf(0);
    const ledger = await openLedger({ store: forged, chainId: 'one', log: silentLog });
    for (let i = 1; i <= 3; i += 1) {
      const event = { id: `f${i}`, type: 'ai.agent.registry.changed' as const, time: i, tenantId: 'acme', data: { i } };
      await ledger.commit({ events: [event], durability: 'asynchronous' });
    }
    const report = await verifyLedger({ ...forged, checkpoints: store.checkpoints }, signer);
    expect(report.chains[0]?.first_broken?.reason).toContain('the signed checkpoint');
    await forged.addCheckpoint({ chainId: 'one', seq: 3, hash: 'x', time: 't', keyId: 'other', signature: 'none' });
    expect((await verifyLedger(forged, signer)).chains[0]?.first_broken?.reason).toContain('not signed by a known key');
  });
});
