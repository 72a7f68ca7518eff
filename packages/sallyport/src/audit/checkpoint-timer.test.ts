import { systemClock } from '@sallyport/std/clock';
import { expect, onTestFinished, test } from 'vitest';
import { memoryLedgerStore } from '../../test/stores/memory-ledger-store.ts';
import { silentLog } from '../telemetry/log.ts';
import { type CheckpointTimerOptions, startCheckpointTimer } from './checkpoint-timer.ts';
import { openLedger } from './ledger.ts';
import type { ChainCheckpoint } from './ledger-store.port.ts';

const signer = { sign: async () => ({ keyId: 'k', signature: 's' }), verify: async () => true };
const event = (id: string) => ({
  id,
  type: 'ai.agent.tool.invoked' as const,
  time: 1,
  tenantId: 'acme',
  subject: id,
  data: { state: 'DECLARED' },
});

/** A timer that ends with its test. */
function started(options: CheckpointTimerOptions) {
  const timer = startCheckpointTimer(options);
  onTestFinished(() => void timer.close());
  return timer;
}

test('AUD-03 links that a crash of the store has lost are not signed: the chain goes on without them', async () => {
  const store = memoryLedgerStore();
  const ledger = await openLedger({ store, chainId: 'one', log: silentLog });
  let lost = { seq: 0, hash: '' };
  const remembering = { ...ledger, head: () => (lost.seq === 0 ? ledger.head() : lost) };
  const options = {
    ledger: remembering,
    store,
    signer,
    chainId: 'one',
    outside: [],
    clock: systemClock,
    log: silentLog,
  };
  const timer = started({ ...options, everyMs: 60_000 });
  await ledger.commit({ events: [event('a')], durability: 'asynchronous' });
  // As if three more events had been committed before the store crashed.
  lost = { seq: 4, hash: 'f'.repeat(64) };
  await timer.close();
  expect(await store.checkpoints('one')).toMatchObject([ledger.head()]);
});

test('AUD-03 a head is signed once', async () => {
  const store = memoryLedgerStore();
  const ledger = await openLedger({ store, chainId: 'one', log: silentLog });
  const timer = started({
    ledger,
    store,
    signer,
    chainId: 'one',
    everyMs: 60_000,
    outside: [],
    clock: systemClock,
    log: silentLog,
  });
  await timer.close();
  await ledger.commit({ events: [event('a')], durability: 'asynchronous' });
  await timer.close();
  await timer.close();
  expect(await store.checkpoints('one')).toHaveLength(1);
});

test('AUD-07 a head that could not be kept outside is tried again, though nothing is new; then it is kept once', async () => {
  const store = memoryLedgerStore();
  const ledger = await openLedger({ store, chainId: 'one', log: silentLog });
  const kept: number[] = [];
  let failures = 2;
  const anchor = async ({ seq }: ChainCheckpoint): Promise<void> => {
    failures -= 1;
    if (failures >= 0) throw new Error('the disk is away');
    kept.push(seq);
  };
  const timer = started({
    ledger,
    store,
    signer,
    chainId: 'one',
    everyMs: 10,
    outside: [anchor],
    clock: systemClock,
    log: silentLog,
  });
  await ledger.commit({ events: [event('a')], durability: 'asynchronous' });
  await expect.poll(() => kept).toEqual([1]);
  await ledger.commit({ events: [event('b')], durability: 'asynchronous' });
  await timer.close();
  expect(kept).toEqual([1, 2]);
  expect(await store.checkpoints('one')).toHaveLength(2);
});

test('AUD-03 what an earlier life of the instance left unsigned is signed at its start; what is signed is not signed again', async () => {
  const store = memoryLedgerStore();
  const options = { store, signer, chainId: 'one', everyMs: 60_000, outside: [], clock: systemClock, log: silentLog };
  const killed = await openLedger({ store, chainId: 'one', log: silentLog });
  await killed.commit({ events: [event('a')], durability: 'asynchronous' });
  for (let start = 0; start < 2; start += 1) {
    const ledger = await openLedger({ store, chainId: 'one', log: silentLog });
    const timer = started({ ...options, ledger });
    await expect.poll(() => store.checkpoints('one')).toMatchObject([{ seq: 1 }]);
    await timer.close();
  }
  expect(await store.checkpoints('one')).toHaveLength(1);
});

test('AUD-03 AUD-07 a turn in which nothing is new asks nothing, and what fails is logged and tried again', async () => {
  const lines: string[] = [];
  const noting = (event: string, fields: object = {}) => void lines.push(`${event} ${JSON.stringify(fields)}`);
  const inner = memoryLedgerStore();
  const state = { isAway: false, asked: 0, isFull: false };
  const store = {
    ...inner,
    chainHead: async (id: string) => {
      state.asked += 1;
      return inner.chainHead(id);
    },
    addCheckpoint: async (checkpoint: ChainCheckpoint) => {
      if (state.isAway) throw new Error('away');
      await inner.addCheckpoint(checkpoint);
    },
  };
  const ledger = await openLedger({ store: inner, chainId: 'one', log: silentLog });
  const kept: number[] = [];
  const keep = async ({ seq }: ChainCheckpoint): Promise<void> => {
    if (state.isFull) throw new Error('full');
    kept.push(seq);
  };
  const log = { ...silentLog, error: noting };
  const options = { ledger, store, signer, chainId: 'one', clock: systemClock, log, everyMs: 60_000 };
  const timer = started({ ...options, outside: [keep] });
  // A chain without events has nothing to sign.
  await timer.close();
  expect([lines, await inner.checkpoints('one')]).toEqual([[], []]);
  await ledger.commit({ events: [event('a')], durability: 'asynchronous' });
  state.isAway = true;
  await timer.close();
  expect(lines).toEqual(['checkpoint-failed {"seq":1,"reason":"Error: away"}']);
  Object.assign(state, { isAway: false, isFull: true });
  await timer.close();
  expect(lines.slice(1)).toEqual(['anchor-failed {"seq":1,"reason":"Error: full"}']);
  Object.assign(state, { isFull: false, asked: 0 });
  await timer.close();
  await timer.close();
  expect([kept, state.asked]).toEqual([[1], 0]);
  expect(await inner.checkpoints('one')).toHaveLength(1);
});

test('AUD-03.2 the end signs what came while a head was signed', async () => {
  const inner = memoryLedgerStore();
  const ledger = await openLedger({ store: inner, chainId: 'one', log: silentLog });
  const { promise: isFree, resolve } = Promise.withResolvers<void>();
  const { promise: isReached, resolve: reach } = Promise.withResolvers<void>();
  const store = {
    ...inner,
    async addCheckpoint(checkpoint: ChainCheckpoint) {
      reach();
      await isFree;
      await inner.addCheckpoint(checkpoint);
    },
  };
  const options = { store, signer, chainId: 'one', everyMs: 60_000, outside: [], clock: systemClock, log: silentLog };
  await ledger.commit({ events: [event('a')], durability: 'asynchronous' });
  const timer = started({ ...options, ledger });
  await isReached;
  await ledger.commit({ events: [event('b')], durability: 'asynchronous' });
  const closed = timer.close();
  resolve();
  await closed;
  expect((await inner.checkpoints('one')).map(({ seq }) => seq)).toEqual([1, 2]);
});
