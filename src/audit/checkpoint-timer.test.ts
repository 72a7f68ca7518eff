import { expect, test } from 'vitest';
import { systemClock } from '../std/clock.ts';
import { memoryLedgerStore } from '../storage/memory/memory-ledger-store.ts';
import { silentLog } from '../telemetry/log.ts';
import { startCheckpointTimer } from './checkpoint-timer.ts';
import { openLedger } from './ledger.ts';

const signer = { sign: async () => ({ keyId: 'k', signature: 's' }), verify: async () => true };
const event = (id: string) => ({
  id,
  type: 'ai.agent.tool.invoked' as const,
  time: 1,
  tenantId: 'acme',
  subject: id,
  data: { state: 'DECLARED' },
});

test('AUD-03 links that a crash of the store has lost are not signed: the chain goes on without them', async () => {
  const store = memoryLedgerStore();
  const ledger = await openLedger({ store, chainId: 'one', log: silentLog });
  let lost = { seq: 0, hash: '' };
  const remembering = { ...ledger, head: () => (lost.seq === 0 ? ledger.head() : lost) };
  const options = { ledger: remembering, store, signer, chainId: 'one', clock: systemClock, log: silentLog };
  const timer = startCheckpointTimer({ ...options, everyMs: 60_000 });
  await ledger.commit({ events: [event('a')], durability: 'asynchronous' });
  // As if three more had been committed before the store crashed.
  lost = { seq: 4, hash: 'f'.repeat(64) };
  await timer.close();
  expect(await store.checkpoints('one')).toMatchObject([ledger.head()]);
});

test('AUD-03 a head is signed once', async () => {
  const store = memoryLedgerStore();
  const ledger = await openLedger({ store, chainId: 'one', log: silentLog });
  const timer = startCheckpointTimer({
    ledger,
    store,
    signer,
    chainId: 'one',
    everyMs: 60_000,
    clock: systemClock,
    log: silentLog,
  });
  await timer.close();
  await ledger.commit({ events: [event('a')], durability: 'asynchronous' });
  await timer.close();
  await timer.close();
  expect(await store.checkpoints('one')).toHaveLength(1);
});
