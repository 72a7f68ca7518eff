import { expect, test } from 'vitest';
import { type CallIntake, createCallIntake } from '../../call-intake.ts';
import { WORKER_DEFAULTS, type WorkerLimits } from '../worker-limits.ts';

const SECOND = 1_000;
const intakeOf = (limits: Partial<WorkerLimits> = {}): CallIntake =>
  createCallIntake({ ...WORKER_DEFAULTS, slots: 2, queueMax: 10, waitMsMax: 100 * SECOND, ...limits });
const refused = (intake: CallIntake) =>
  (['low', 'normal', 'high'] as const).filter((priority) => intake.refuses(priority) !== undefined);

test('PIPE-08.4 a full queue refuses the least urgent calls first', () => {
  const intake = intakeOf();
  for (const [waiting, expected] of [
    [7, []],
    [8, ['low']],
    [9, ['low', 'normal']],
    [10, ['low', 'normal', 'high']],
  ] as const) {
    intake.noteLoad(waiting);
    expect(refused(intake), `${waiting} wait`).toEqual(expected);
  }
});

test('PIPE-08.4 a queue that takes too long refuses the least urgent calls first, however short it is', () => {
  const intake = intakeOf({ queueMax: 1_000 });
  // Two slots serve a call of 10 s each, so 16 calls wait for 80 s.
  intake.noteServed(10 * SECOND);
  for (const [waiting, expected] of [
    [16, []],
    [17, ['low']],
    [19, ['low', 'normal']],
    [20, ['low', 'normal']],
    [21, ['low', 'normal', 'high']],
  ] as const) {
    intake.noteLoad(waiting);
    expect(refused(intake), `${waiting} wait`).toEqual(expected);
  }
});

test('PIPE-08 calls that are kept back for their agent count as waiting, until they no longer are', () => {
  const intake = intakeOf();
  intake.noteQueued(4);
  intake.notePostponed(4);
  expect(intake.queued()).toBe(4);
  expect(refused(intake)).toEqual(['low']);
  expect(intake.refuses('low')).toMatchObject({ details: { priority: 'low', waiting: 8 } });
  intake.notePostponed(-1);
  expect(refused(intake)).toEqual([]);
  intake.noteQueued(-4);
  expect(intake.queued()).toBe(0);
});

test('PIPE-08.4 the hint says when as many calls have run as are too many, between a second and a minute', () => {
  const intake = intakeOf({ slots: 1, waitMsMax: 10_000 * SECOND });
  intake.noteLoad(12);
  // Nothing has been measured yet.
  expect(intake.refuses('high')).toMatchObject({ code: 'E3803', retryAfterMs: SECOND });
  intake.noteServed(5 * SECOND);
  // Three calls too many: 12 wait, and 9 would be taken.
  expect(intake.refuses('high')).toMatchObject({ retryAfterMs: 15 * SECOND });
  intake.noteLoad(12, 3);
  expect(intake.refuses('high')).toMatchObject({ retryAfterMs: 5 * SECOND });
  intake.noteLoad(100, 1);
  expect(intake.refuses('high')).toMatchObject({ retryAfterMs: 60 * SECOND });
});

test('PIPE-08.4 the hint of a queue that takes too long says when it has become short enough', () => {
  const intake = intakeOf({ slots: 1, queueMax: 1_000 });
  intake.noteServed(10 * SECOND);
  intake.noteLoad(12);
  expect(intake.refuses('high')).toMatchObject({ retryAfterMs: 20 * SECOND });
});

test('the estimate follows the calls that ended, the newest a tenth', () => {
  const intake = intakeOf();
  expect(intake.estimateSeconds()).toBeUndefined();
  intake.noteServed(10 * SECOND);
  expect(intake.estimateSeconds()).toBe(10);
  intake.noteServed(20 * SECOND);
  expect(intake.estimateSeconds()).toBe(11);
  intake.noteQueued(4);
  expect(intake.estimateSeconds()).toBe(33);
  // Two instances with two slots each; a number below one counts as one.
  intake.noteLoad(4, 2);
  expect(intake.estimateSeconds()).toBe(22);
  intake.noteLoad(4, 0);
  expect(intake.estimateSeconds()).toBe(33);
});
