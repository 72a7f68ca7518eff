import { describe, expect, test } from 'vitest';
import { memoryCheckpointStore } from '../../../test/stores/outcomes/memory-checkpoint-store.ts';
import { memoryUndoJournal } from '../../../test/stores/outcomes/memory-undo-journal.ts';
import { silentLog } from '../../telemetry/log.ts';
import { type Step, UndoLog } from './undo-log.ts';

function logged(): { undo: UndoLog; ran: string[] } {
  const undo = new UndoLog();
  const ran: string[] = [];
  undo.defer(() => void ran.push('close 1'));
  undo.undo(() => void ran.push('undo 1'));
  undo.undo(async () => void ran.push('undo 2'));
  undo.defer(() => void ran.push('close 2'));
  return { undo, ran };
}

describe('the undo log', () => {
  test('takes back and closes, newest first', async () => {
    const { undo, ran } = logged();
    expect(await undo.rollBack(silentLog, true)).toBe('nothing');
    await undo.close(silentLog);
    expect(ran).toEqual(['undo 2', 'undo 1', 'close 2', 'close 1']);
  });

  test('what the tool has taken back itself counts for the attempt that said so, and not for the next', async () => {
    const { undo } = logged();
    undo.sayRolledBack();
    expect(await undo.rollBackAttempt(silentLog)).toBe('nothing');
    expect(await undo.rollBack(silentLog, true)).toBe('nothing');
    undo.sayRolledBack();
    expect(await undo.rollBack(silentLog, true)).toBe('done');
  });

  test('PIPE-03 what the tool has taken back itself says nothing of changes that are recorded and could not be', async () => {
    const journal = memoryUndoJournal();
    const checkpoints = memoryCheckpointStore();
    for (const [fails, partial, end] of [
      [true, false, 'failed'],
      [false, true, 'part'],
      [false, false, 'done'],
    ] as const) {
      const undo = new UndoLog();
      const undoer = { undo: () => (fails ? Promise.reject(new Error('cannot')) : Promise.resolve()) };
      const of = { tenantId: 'acme', invocationId: end, instanceId: 'one' };
      const step = { kind: 'value', ...(partial ? { partial } : {}) };
      await undo.record({ journal, checkpoints, undoers: { value: undoer } }, of, step);
      undo.sayRolledBack();
      expect(await undo.rollBack(silentLog, true)).toBe(end);
    }
  });

  test('a step that fails keeps no other from running', async () => {
    const undo = new UndoLog();
    const ran: string[] = [];
    const failed: unknown[] = [];
    const log = { ...silentLog, error: (event: string, fields?: object) => void failed.push([event, fields]) };
    for (const [register, name] of [
      [(step: Step) => undo.undo(step), 'undo'],
      [(step: Step) => undo.defer(step), 'close'],
    ] as const) {
      register(() => void ran.push(name));
      register(() => {
        throw new Error(`cannot ${name}`);
      });
      register(() => Promise.reject(new Error(`cannot ${name} either`)));
    }
    expect(await undo.rollBack(log, true)).toBe('nothing');
    await undo.close(log);
    expect(ran).toEqual(['undo', 'close']);
    expect(failed).toEqual(
      ['undo either', 'undo', 'close either', 'close'].map((what) => [
        'undo-step-failed',
        { reason: `Error: cannot ${what}` },
      ]),
    );
  });
});
