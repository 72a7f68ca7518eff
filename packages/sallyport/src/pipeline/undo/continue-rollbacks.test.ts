import { setImmediate as turn } from 'node:timers/promises';
import { failure } from '@sallyport/std/error/failure';
import { expect, test } from 'vitest';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import { memoryOutcomeStore } from '../../../test/stores/outcomes/memory-outcome-store.ts';
import { memoryUndoJournal } from '../../../test/stores/outcomes/memory-undo-journal.ts';
import { openLedger } from '../../audit/ledger.ts';
import type { HeldEvents } from '../../domain/event/held-events.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { UndoStep } from '../../domain/invocation/undo-step.ts';
import { silentLog } from '../../telemetry/log.ts';
import { continueRollbacks, type WhichRollbacks } from './continue-rollbacks.ts';
import { rollBackLeftover } from './leftover.ts';

const clock = { now: () => 5, monotonic: () => 5 };

const row = (invocationId: string, more: Partial<InvocationRecord>): InvocationRecord => ({
  ...{ invocationId, tenantId: 'acme', agentDid: 'did:a', toolId: 'set', door: 'rest', state: 'EXECUTING' },
  ...{ sideEffect: 'irreversible', instanceId: 'one', warnings: [], acceptedAt: 1, ...more },
});

/** Journal, rows and outcomes of a layer whose calls are over or cut off. */
async function left() {
  const memory = memoryLedgerStore();
  const writing = new Set<string>();
  const durabilities = new Set<string>();
  /** Writes take a while, and what is not written yet can be seen. */
  const slowly = async <Result>(what: string, write: () => Promise<Result>): Promise<Result> => {
    writing.add(what);
    await turn();
    return write().finally(() => writing.delete(what));
  };
  const append: typeof memory.append = (batch, durability) => {
    durabilities.add(durability);
    return slowly('rows and events', () => memory.append(batch, durability));
  };
  const store = { ...memory, append };
  const ledger = await openLedger({ store, chainId: 'one', log: silentLog });
  const [entries, settled] = [memoryUndoJournal(), memoryOutcomeStore(memory)];
  const closedTooEarly: unknown[] = [];
  const close: typeof entries.close = (...of) => {
    if (writing.size > 0) closedTooEarly.push(of, ...writing);
    return slowly('journal', () => entries.close(...of));
  };
  const journal = { ...entries, close };
  const settle: typeof settled.settle = (given) => slowly('outcome', () => settled.settle(given));
  const outcomes = { ...settled, settle };
  const withdrawn = { fails: false, times: 0 };
  const removeAfterChanges = async (): Promise<void> => {
    withdrawn.times += 1;
    if (withdrawn.fails) throw new Error('the disk is gone');
  };
  const seen = { taken: [] as unknown[], kept: [] as unknown[], errors: [] as unknown[] };
  const undoers = {
    here: {
      async undo({ name, broken }: UndoStep, { position }: { readonly position: number }): Promise<void> {
        if (broken === true) throw new Error('the disk is gone');
        seen.taken.push([name, position]);
      },
      keep: ({ name }: UndoStep): Promise<void> => slowly('kept', async () => void seen.kept.push(name)),
    },
    far: { anywhere: true as const, undo: async ({ name }: UndoStep): Promise<void> => void seen.taken.push(name) },
  };
  const transactions = { journal, checkpoints: { removeAfterChanges }, undoers };
  const log = { ...silentLog, error: (...line: unknown[]) => void seen.errors.push(line) };
  const parts = { transactions, records: store, ledger, clock, log, outcomes };
  return {
    ...{ ...seen, journal, transactions, withdrawn },
    /** A transaction with one step, and the row of its call unless that has none. */
    async add(invocationId: string, more?: Partial<InvocationRecord>, step: Partial<UndoStep> = {}, position = 0) {
      if (more !== undefined) await store.append({ records: [row(invocationId, more)], events: [] }, 'synchronous');
      const whole = { kind: 'here', name: invocationId, ...step };
      await journal.add({ tenantId: 'acme', invocationId, instanceId: 'one', position, step: whole });
    },
    row: (invocationId: string) => store.findInvocation('acme', invocationId),
    outcomeOf: (invocationId: string) => outcomes.find('acme', invocationId),
    isOpen: async (invocationId: string) => (await journal.find('acme', invocationId)) !== undefined,
    /** All is on the disk before a journal is closed, and before the next one is read. */
    async run(which?: WhichRollbacks) {
      durabilities.clear();
      const continued = await continueRollbacks(parts, 'one', which);
      expect([[...writing], closedTooEarly]).toEqual([[], []]);
      expect([...durabilities].filter((each) => each !== 'synchronous')).toEqual([]);
      return continued;
    },
    async eventsOf(invocationId: string) {
      const events = (await store.events(undefined, { limit: 1000 })).map(({ event }) => event);
      return events.filter(({ subject }) => subject === invocationId);
    },
  };
}

const unknown = (details: Record<string, unknown> = {}) =>
  ({ state: 'ABORTED', failure: failure('E3804', 'Find out.', { details }) }) as const;

test('PIPE-13.4 what was taken back of a call whose outcome is unknown settles it only where that is all that it changed', async () => {
  const made = await left();
  const partial = { partial: true } as const;
  await made.add('whole', unknown());
  await made.add('part', unknown(), partial);
  await made.add('reported', unknown({ failed_with: 'E3109' }), partial);
  await made.add('cut-off', unknown({ failed_with: 'E3103' }), partial);
  await made.add('by-service', unknown({ failed_with: 'E3310', status: 500 }), partial);
  await made.add('failed', { state: 'FAILED', failure: failure('E3109', 'No.') });
  expect(await made.run()).toEqual({ rolledBack: 6, left: 0 });
  for (const id of ['whole', 'reported', 'by-service'])
    expect(await made.outcomeOf(id)).toMatchObject({ outcome: 'did_not_happen', how: 'rollback', at: 5 });
  for (const id of ['part', 'cut-off', 'failed']) expect(await made.outcomeOf(id)).toBeUndefined();
  const event = { type: 'ai.agent.tool.rolled_back', data: { state: 'ROLLED_BACK', tool_id: 'set' } };
  for (const id of ['whole', 'part', 'failed']) {
    expect(await made.eventsOf(id)).toMatchObject([event]);
    expect(await made.row(id)).not.toMatchObject({ state: 'ROLLED_BACK' });
    expect(await made.isOpen(id)).toBe(false);
  }
});

test('PIPE-03.7 PIPE-03.4 a call that was cut off is rolled back, or has an unknown outcome when it may have changed more', async () => {
  const made = await left();
  await made.add('whole', { result: 'half', waiting: { wait: { for: 'worker' } } as never });
  await made.add('part', {}, { partial: true });
  await made.add('rolled-back', { state: 'ROLLED_BACK', failure: failure('E3109', 'No.') });
  await made.add('no-row');
  expect(await made.run()).toEqual({ rolledBack: 4, left: 0 });
  const whole = await made.row('whole');
  expect(whole).toMatchObject({ state: 'ROLLED_BACK', failure: { code: 'E3811' } });
  expect(whole).not.toHaveProperty('waiting');
  expect(whole).not.toHaveProperty('result');
  expect(await made.eventsOf('whole')).toMatchObject([
    { type: 'ai.agent.tool.rolled_back', data: { state: 'ROLLED_BACK' } },
  ]);
  expect(await made.row('part')).toMatchObject({
    state: 'ABORTED',
    failure: { code: 'E3804', details: { rollback: 'done' } },
  });
  const [first, ...rest] = (await made.eventsOf('part')).map(({ type, data }) => [
    type,
    data['rollback'],
    data['state'],
  ]);
  expect(first).toEqual(['ai.agent.tool.rolled_back', 'done', undefined]);
  expect(rest.at(-1)).toEqual(['ai.agent.tool.failed', undefined, 'ABORTED']);
  expect(await made.eventsOf('rolled-back')).toEqual([]);
  expect(made.taken).toHaveLength(4);
});

test('PIPE-03.7 ORC-06 what a worker runs again from its beginning has no end yet, but its changes are taken back', async () => {
  const made = await left();
  const waiting = { wait: { for: 'worker' } } as never;
  await made.add('again', { sideEffect: 'idempotent', waiting });
  await made.add('waits', { state: 'AUTHORIZED', waiting });
  expect(await made.run()).toEqual({ rolledBack: 2, left: 0 });
  expect(await made.row('again')).toMatchObject({ state: 'EXECUTING' });
  expect(await made.row('waits')).toMatchObject({ state: 'AUTHORIZED' });
  expect([await made.isOpen('again'), await made.isOpen('waits')]).toEqual([false, false]);
  expect(made.taken).toEqual([
    ['again', 0],
    ['waits', 0],
  ]);
});

test('PIPE-03.1 a call that completed keeps its changes, and its journal is closed', async () => {
  const made = await left();
  await made.add('done', { state: 'COMPLETED' });
  await made.add('done', undefined, { name: 'second' }, 1);
  await made.journal.markUndone('acme', 'done', 0);
  expect(await made.run()).toEqual({ rolledBack: 0, left: 0 });
  expect([made.kept, made.taken, await made.isOpen('done')]).toEqual([['second'], [], false]);
});

test('PIPE-03 a failed rollback is tried again only for a call that is over, and not for one that is taken back', async () => {
  const made = await left();
  await made.add('running', {});
  await made.add('no-row');
  await made.add('over', unknown());
  await made.add('undone', { state: 'FAILED', failure: failure('E3109', 'No.') });
  await made.journal.markUndone('acme', 'undone', 0);
  expect(await made.run('failed')).toEqual({ rolledBack: 1, left: 0 });
  const open = await Promise.all(['running', 'no-row', 'over', 'undone'].map((id) => made.isOpen(id)));
  expect(open).toEqual([true, true, false, false]);
  expect(made.taken).toEqual([['over', 0]]);
  expect(await made.eventsOf('undone')).toEqual([]);
});

test('PIPE-03 what only an instance that is gone reaches is left to it, and the rest is taken back', async () => {
  const made = await left();
  await made.add('here', {});
  await made.add('here', undefined, { kind: 'far', name: 'far' }, 1);
  await made.add('strange', {}, { kind: 'toString' });
  await made.add('far', {}, { kind: 'far' });
  expect(await made.run('gone')).toEqual({ rolledBack: 1, left: 2 });
  expect(made.taken).toEqual(['far', 'far']);
  expect((await made.journal.find('acme', 'here'))?.steps.map(({ undone }) => undone)).toEqual([false, true]);
  expect(await made.row('here')).toMatchObject({ state: 'EXECUTING' });
  expect(made.errors).toEqual([]);
  expect(await made.run()).toEqual({ rolledBack: 1, left: 1 });
  expect(made.taken.at(-1)).toEqual(['here', 0]);
  expect(made.errors).toMatchObject([['rollback-failed', { invocation_id: 'strange', kind: 'toString', position: 0 }]]);
});

test('PIPE-03.7 more transactions than a page are all taken back, also where some cannot be', async () => {
  const made = await left();
  for (let at = 100; at < 301; at += 1) await made.add(`call-${at}`, undefined, { broken: at < 102 });
  expect(await made.run()).toEqual({ rolledBack: 199, left: 2 });
  expect(await made.run()).toEqual({ rolledBack: 0, left: 2 });
});

test('PIPE-03.7 the events that rows hold are linked first, and compensating calls that were cut off end', async () => {
  const own = '"state":"EXECUTING"';
  const heldEvents = { shared: '', each: [{ id: 'e', type: 'ai.agent.tool.invoked', time: 1, own }] } as HeldEvents;
  for (const which of ['left', 'failed'] as const) {
    const made = await left();
    await made.add('call', { heldEvents });
    await made.add('back', { compensates: 'call', state: 'EXECUTING' });
    const waiting = { wait: { for: 'worker' } } as never;
    await made.add('goes-on', { compensates: 'call', sideEffect: 'idempotent', waiting });
    await made.journal.close('acme', 'back');
    await made.journal.close('acme', 'goes-on');
    await made.run(which);
    const isFirst = which === 'left';
    expect((await made.eventsOf('call')).map(({ type }) => type.split('.').at(-1))).toEqual(
      isFirst ? ['invoked', 'rolled_back'] : [],
    );
    expect((await made.row('back'))?.state).toBe(isFirst ? 'ABORTED' : 'EXECUTING');
    expect((await made.row('goes-on'))?.state).toBe('EXECUTING');
  }
});

test('PIPE-03.2 a call begins again only once all that its first run changed is taken back', async () => {
  const made = await left();
  await made.add('whole');
  await made.add('broken', undefined, { broken: true });
  const parts = { transactions: made.transactions, log: silentLog };
  const waiting = { claims: { tenant_id: 'acme' } };
  const again = (invocationId: string) => rollBackLeftover(parts, { invocationId, waiting } as never);
  expect(await again('whole')).toBeUndefined();
  expect(await again('nothing')).toBeUndefined();
  expect(await again('broken')).toMatchObject({ code: 'E3804', details: { rollback: 'failed' } });
  expect([await made.isOpen('whole'), await made.isOpen('broken')]).toEqual([false, true]);
});

test('PIPE-03.7 a rollback whose end was not on record when the layer ended is put on record', async () => {
  const made = await left();
  await made.add('undone', {});
  await made.journal.markUndone('acme', 'undone', 0);
  expect(await made.run()).toEqual({ rolledBack: 1, left: 0 });
  expect(await made.row('undone')).toMatchObject({ state: 'ROLLED_BACK' });
  expect([made.taken, made.withdrawn.times]).toEqual([[], 0]);
});

test('PIPE-03 nothing is taken back while checkpoints say that it is done', async () => {
  const made = await left();
  await made.add('call', {});
  made.withdrawn.fails = true;
  expect(await made.run()).toEqual({ rolledBack: 0, left: 1 });
  expect([made.taken, await made.isOpen('call')]).toEqual([[], true]);
  made.withdrawn.fails = false;
  expect(await made.run()).toEqual({ rolledBack: 1, left: 0 });
  expect(made.withdrawn.times).toBe(2);
});
