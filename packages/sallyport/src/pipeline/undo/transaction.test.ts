import { setImmediate as turn } from 'node:timers/promises';
import { MiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { memoryCheckpointStore } from '../../../test/stores/outcomes/memory-checkpoint-store.ts';
import { memoryUndoJournal } from '../../../test/stores/outcomes/memory-undo-journal.ts';
import type { Undoer, UndoStep } from '../../domain/invocation/undo-step.ts';
import { silentLog } from '../../telemetry/log.ts';
import type { UndoJournal } from '../undo-journal.port.ts';
import { rollBackOpen } from './roll-back-open.ts';
import { Transaction, type TransactionParts, undoStep } from './transaction.ts';

const checkpoints = memoryCheckpointStore();
const OF = { tenantId: 'acme', invocationId: 'call', instanceId: 'one' };

/** Values by name, changed through a transaction. */
class Values implements Undoer {
  readonly held = new Map<string, number>();

  stepOf(name: string, value: number): UndoStep {
    return { kind: 'value', name, before: this.held.get(name) ?? null, after: value };
  }

  async undo({ name, before, after }: UndoStep): Promise<void> {
    const now = this.held.get(String(name)) ?? null;
    if (now === before) return;
    if (now !== after) throw new Error('somebody else changed it');
    if (before === null) this.held.delete(String(name));
    else this.held.set(String(name), Number(before));
  }
}

/** Counts reads and writes of the stores; the process dies before or after the given one. */
function dying(at: number) {
  let actions = 0;
  return async <Result>(action: () => Result | Promise<Result>): Promise<Result> => {
    actions += 1;
    if (actions === at) throw new Crash();
    const result = await action();
    actions += 1;
    if (actions === at) throw new Crash();
    return result;
  };
}

class Crash extends Error {}

function under(journal: UndoJournal, values: Values, step: ReturnType<typeof dying>): TransactionParts {
  return {
    journal: {
      ...journal,
      add: (entry) => step(() => journal.add(entry)),
      markUndone: (...where) => step(() => journal.markUndone(...where)),
      close: (...where) => step(() => journal.close(...where)),
    },
    checkpoints,
    undoers: { value: { undo: (undo) => step(() => values.undo(undo)) } },
  };
}

const changes = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(9)), { minLength: 1, maxLength: 6 });

describe('a transaction', () => {
  test('PIPE-03 takes back newest first, and only once', async () => {
    const journal = memoryUndoJournal();
    const order: unknown[] = [];
    const undoers = { n: { undo: async ({ at }: UndoStep) => void order.push(at) } };
    const transaction = new Transaction({ journal, checkpoints, undoers }, OF);
    for (const at of [1, 2, 3]) await transaction.record({ kind: 'n', at });
    expect(await transaction.rollBack(silentLog)).toBe('done');
    expect(await transaction.rollBack(silentLog)).toBe('nothing');
    expect(order).toEqual([3, 2, 1]);
    transaction.recorded(silentLog);
    await expect.poll(() => journal.find('acme', 'call')).toBeUndefined();
  });

  test('PIPE-03 waits with taking back for a change that is being made, and takes no more of them', async () => {
    const undone: unknown[] = [];
    const undoers = { n: { undo: async ({ at }: UndoStep) => void undone.push(at) } };
    const transaction = new Transaction({ journal: memoryUndoJournal(), checkpoints, undoers }, OF);
    await transaction.record({ kind: 'n', at: 1 });
    const made = Promise.withResolvers<string>();
    const changing = transaction.change(() => made.promise);
    await transaction.change(async () => 'at once');
    const rolledBack = transaction.rollBack(silentLog);
    await new Promise((resolve) => setImmediate(resolve));
    expect(undone).toEqual([]);
    await expect(transaction.change(async () => 'late')).rejects.toMatchObject({ code: 'E3805' });
    made.resolve('made');
    expect([await changing, await rolledBack, undone]).toEqual(['made', 'done', [1]]);
  });

  test('PIPE-03 that is over writes nothing more into its journal, where the next start would find it', async () => {
    const journal = memoryUndoJournal();
    const undoers = { n: { undo: async () => undefined } };
    for (const end of ['taken back', 'on record']) {
      const transaction = new Transaction({ journal, checkpoints, undoers }, OF);
      if (end === 'taken back') await transaction.rollBack(silentLog);
      else transaction.recorded(silentLog);
      await expect(transaction.record({ kind: 'n' })).rejects.toMatchObject({ code: 'E3805' });
      expect(await journal.find('acme', 'call')).toBeUndefined();
    }
  });

  test('PIPE-03 goes on when its journal was away, and writes no step twice whose answer was lost', async () => {
    const inner = memoryUndoJournal();
    const values = new Values();
    let calls = 0;
    /** The first attempt is done but its answer is lost, the second one fails, the third one works. */
    const moody =
      <Given extends unknown[]>(act: (...given: Given) => Promise<void>) =>
      async (...given: Given): Promise<void> => {
        calls += 1;
        if (calls % 3 === 1) await act(...given);
        if (calls % 3 !== 0) throw new ToolLayerError('E3812', 'away');
        await act(...given);
      };
    const journal = { ...inner, add: moody(inner.add), markUndone: moody(inner.markUndone) };
    const transaction = new Transaction({ journal, checkpoints, undoers: { value: values } }, OF);
    await transaction.record(values.stepOf('a', 1));
    values.held.set('a', 1);
    expect((await inner.find('acme', 'call'))?.steps).toHaveLength(1);
    expect(await transaction.rollBack(silentLog)).toBe('done');
    expect(values.held.size).toBe(0);
    expect((await inner.find('acme', 'call'))?.steps).toMatchObject([{ undone: true }]);
  });

  test('PIPE-03 leaves the old state or the new one, wherever the process dies, also during the rollback of the rollback', async () => {
    await fc.assert(
      fc.asyncProperty(changes, fc.boolean(), fc.nat(40), fc.nat(30), async (wanted, succeeds, first, second) => {
        const journal = memoryUndoJournal();
        const values = new Values();
        values.held.set('a', 1);
        const before = new Map(values.held);
        let committed = false;
        const step = dying(first);
        const transaction = new Transaction(under(journal, values, step), OF);
        try {
          for (const [name, value] of wanted) {
            await transaction.record(values.stepOf(name, value));
            await step(() => void values.held.set(name, value));
          }
          // The row of the call decides whether the changes stay: it is recorded as completed, or it is not.
          if (succeeds)
            await step(() => {
              committed = true;
            });
          else await transaction.rollBack(silentLog);
        } catch (thrown) {
          if (!(thrown instanceof Crash)) throw thrown;
        }
        const after = new Map(before);
        for (const [name, value] of wanted) after.set(name, value);
        // The next start dies too; the start after that does not.
        for (const at of [second, Number.POSITIVE_INFINITY]) {
          const open = await journal.find('acme', 'call');
          if (committed || open === undefined) break;
          await rollBackOpen(under(journal, values, dying(at)), open, silentLog);
        }
        expect(values.held).toEqual(committed ? after : before);
      }),
      { numRuns: 400 },
    );
  });

  test('stops at a step that cannot be taken back, and goes on there the next time', async () => {
    const journal = memoryUndoJournal();
    let broken = true;
    const order: unknown[] = [];
    const undoers = {
      n: {
        async undo({ at }: UndoStep): Promise<void> {
          if (at === 2 && broken) throw new Error('the disk is gone');
          order.push(at);
        },
      },
    };
    const transaction = new Transaction({ journal, checkpoints, undoers }, OF);
    for (const at of [1, 2, 3]) await transaction.record({ kind: 'n', at });
    expect(await transaction.rollBack(silentLog)).toBe('failed');
    transaction.recorded(silentLog);
    broken = false;
    const open = await journal.find('acme', 'call');
    expect(open?.steps.map(({ undone }) => undone)).toEqual([false, false, true]);
    if (open !== undefined) expect(await rollBackOpen({ journal, checkpoints, undoers }, open, silentLog)).toBe('done');
    expect(order).toEqual([3, 2, 1]);
  });

  test('refuses changes of a call that is over, too many, too large ones, and those that nobody takes back', async () => {
    const undoers = { n: { undo: async () => undefined } };
    const parts = { journal: memoryUndoJournal(), checkpoints, undoers, stepsMax: 2, stepBytesMax: 100 };
    const transaction = new Transaction(parts, OF);
    await expect(transaction.record({ kind: 'other' })).rejects.toMatchObject({ code: 'E3900' });
    await expect(transaction.record({ kind: 'toString' })).rejects.toMatchObject({ code: 'E3900' });
    await expect(transaction.record({ kind: 'n', text: 'x'.repeat(100) })).rejects.toMatchObject({ code: 'E3102' });
    await transaction.record({ kind: 'n', text: 'x'.repeat(100 - '{"kind":"n","text":""}'.length) });
    await transaction.record({ kind: 'n' });
    await expect(transaction.record({ kind: 'n' })).rejects.toMatchObject({ code: 'E3102' });
    await transaction.rollBack(silentLog);
    await expect(new Transaction(parts, { ...OF, invocationId: 'b' }).rollBack(silentLog)).resolves.toBe('nothing');
    await expect(transaction.record({ kind: 'n' })).rejects.toMatchObject({ code: 'E3102' });
  });

  test('a tool that goes on after its call was taken back changes nothing', async () => {
    const transaction = new Transaction(
      { journal: memoryUndoJournal(), checkpoints, undoers: { n: { undo: async () => undefined } } },
      OF,
    );
    await transaction.record({ kind: 'n' });
    const late = transaction.record({ kind: 'n' });
    const rolledBack = transaction.rollBack(silentLog);
    await expect(late).rejects.toMatchObject({ code: 'E3805' });
    expect(await rolledBack).toBe('done');
    await expect(transaction.record({ kind: 'n' })).rejects.toMatchObject({ code: 'E3805' });
  });
});

describe('the steps of a transaction', () => {
  /** A transaction whose steps note what is done with them, and what is logged of it. */
  function noting(changes: Partial<TransactionParts> = {}, fence?: number) {
    const [done, lines]: [unknown[], unknown[]] = [[], []];
    const note = (what: string) => async (step: UndoStep) => {
      await turn();
      if (step['fails'] === what) throw new Error('cannot');
      done.push([what, step['at']]);
    };
    const journal = memoryUndoJournal();
    const each = { undo: note('undo'), keep: note('keep') };
    const parts = { journal, checkpoints, undoers: { n: each, state: { ...each, first: true as const } }, ...changes };
    const transaction = new Transaction(parts, { ...OF, ...(fence === undefined ? {} : { fence }) });
    const line = (event: string, fields?: object) => void lines.push({ event, ...fields });
    const log = { ...silentLog, warn: line, error: line };
    return { transaction, journal, done, lines, log, parts };
  }

  test('ORC-06 stand at places of their own lease: no later run writes over them', async () => {
    const { transaction, journal } = noting({}, 2);
    expect(transaction.hasSteps).toBe(false);
    await transaction.record({ kind: 'n', at: 1 });
    expect(transaction.hasSteps).toBe(true);
    expect(await journal.find('acme', 'call')).toMatchObject({ steps: [{ position: 8_192 }] });
  });

  test('PIPE-03 are on record when they may be made, and up to 8 MiB by default', async () => {
    const order: string[] = [];
    const memory = memoryUndoJournal();
    const add: UndoJournal['add'] = async (entry) => {
      await turn();
      order.push('added');
      await memory.add(entry);
    };
    const { transaction } = noting({ journal: { ...memory, add } });
    await transaction.record({ kind: 'n', at: 1 });
    order.push('recorded');
    expect(order).toEqual(['added', 'recorded']);
    const text = 'x'.repeat(8 * MiB);
    await expect(transaction.record({ kind: 'n', text })).rejects.toMatchObject({ code: 'E3102' });
  });

  test('PIPE-03 that only the call has seen are taken back before all others, and one that says so leaves a part', async () => {
    const { transaction, done, log } = noting();
    for (const [at, kind] of ['state', 'n', 'n'].entries())
      await transaction.record({ kind, at, ...(at === 1 ? { partial: true } : {}) });
    expect(await transaction.rollBack(log)).toBe('part');
    expect(done).toEqual([
      ['undo', 0],
      ['undo', 2],
      ['undo', 1],
    ]);
    expect(transaction.hasSteps).toBe(false);
  });

  test('PIPE-13 that could not be taken back stay in the journal, also when the end of the call is on record', async () => {
    const { transaction, journal, done, lines, log } = noting();
    for (const at of [0, 1, 2]) await transaction.record({ kind: 'n', at, ...(at === 1 ? { fails: 'undo' } : {}) });
    expect([await transaction.rollBack(log), await transaction.rollBack(log)]).toEqual(['failed', 'failed']);
    transaction.recorded(log);
    await turn();
    await turn();
    expect(done).toEqual([['undo', 2]]);
    const failed = { event: 'rollback-failed', invocation_id: 'call', kind: 'n', position: 1 };
    expect(lines).toEqual([{ ...failed, reason: 'Error: cannot' }]);
    const { steps = [] } = (await journal.find('acme', 'call')) ?? {};
    expect(steps.map(({ undone }) => undone)).toEqual([false, false, true]);
  });

  test('STA-01 are not taken back while a checkpoint says that they were made', async () => {
    const removeAfterChanges = () => Promise.reject(new Error('refused'));
    const { transaction, done, lines, log } = noting({ checkpoints: { removeAfterChanges } });
    await transaction.record({ kind: 'n', at: 1 });
    expect(await transaction.rollBack(log)).toBe('failed');
    expect(done).toEqual([]);
    const failed = { event: 'rollback-failed', invocation_id: 'call', kind: 'checkpoints' };
    expect(lines).toEqual([{ ...failed, reason: 'Error: refused' }]);
  });

  test('PIPE-03 are kept before the journal drops them; what cannot be kept stays in it, and the log says so', async () => {
    for (const fails of [false, true]) {
      const { transaction, journal, done, lines, log } = noting();
      await transaction.record({ kind: 'n', at: 1 });
      await transaction.record({ kind: 'n', at: 2, ...(fails ? { fails: 'keep' } : {}) });
      transaction.recorded(log);
      if (fails) await expect.poll(() => lines).toHaveLength(1);
      else await expect.poll(() => journal.find('acme', 'call')).toBeUndefined();
      expect(done).toEqual([['keep', 1], ...(fails ? [] : [['keep', 2]])]);
      expect((await journal.find('acme', 'call')) === undefined).toBe(!fails);
      const left = { event: 'undo-journal-not-closed', invocation_id: 'call', reason: 'Error: cannot' };
      expect(lines).toEqual(fails ? [left] : []);
      await expect(transaction.record({ kind: 'n', at: 3 })).rejects.toMatchObject({ code: 'E3805' });
    }
  });

  test('PIPE-03 of a kind that nobody takes back any more are not taken for taken back', async () => {
    const { parts, lines, log } = noting();
    const step = { kind: 'toString' };
    expect(await undoStep(parts, OF, { position: 0, step }, log)).toBe(false);
    expect(lines).toMatchObject([{ reason: 'Error: nobody takes back toString' }]);
  });
});
