import { setImmediate as nextTurn } from 'node:timers/promises';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Log, silentLog } from '../../telemetry/log.ts';
import type { Report, ReportStep } from './report.ts';
import { ReportQueue, type ReportQueueParts } from './report-queue.ts';

const OWNER = { tenantId: 'acme', agentDid: 'did:example:a' };
type Fields = Readonly<Record<string, unknown>> | undefined;

let sent: string[];
let noted: string[];
let logged: [event: string, fields: Fields][];
let gate: PromiseWithResolvers<void>;
let queue: ReportQueue;
const log: Log = { ...silentLog, warn: (event, fields) => void logged.push([event, fields]) };

beforeEach(() => {
  [sent, noted, logged] = [[], [], []];
  gate = Promise.withResolvers();
  open();
});
afterEach(async () => {
  gate.resolve();
  await queue[Symbol.asyncDispose]();
});

function open(more: Partial<ReportQueueParts> = {}): void {
  queue = new ReportQueue({
    async send({ taskId }, step) {
      sent.push(`${taskId} ${nameOf(step)}`);
      await gate.promise;
    },
    reported: async ({ taskId }, sequence) => void noted.push(`${taskId} ${sequence}`),
    ...{ log, reportsMax: 500, pauseMs: 1, closeMs: 0 },
    ...more,
  });
}

const nameOf = (step: ReportStep): string => (step.tool === 'rollback_to' ? step.checkpointId : String(step.args['n']));
const snapshot = (n: number): ReportStep => ({ tool: 'save_context_snapshot', args: { n }, upTo: n });
const milestone = (n: number): ReportStep => ({ tool: 'create_checkpoint', args: { n }, upTo: n });
const report = (taskId: string, ...steps: readonly ReportStep[]): Report => ({ owner: OWNER, taskId, steps });

test('STA-04.1 four tasks are reported at once, and the next when one is over; each task in its order', async () => {
  for (const task of ['a', 'b', 'c', 'd', 'e', 'f']) queue.add(report(task, snapshot(1), milestone(2)));
  expect(sent).toEqual(['a 1', 'b 1', 'c 1', 'd 1']);
  gate.resolve();
  await queue.settled();
  expect(sent.filter((each) => each.startsWith('f'))).toEqual(['f 1', 'f 2']);
  expect([sent.length, noted.length]).toEqual([12, 12]);
  expect(noted.filter((each) => each.startsWith('e'))).toEqual(['e 1', 'e 2']);
  queue.add(report('a', milestone(3)));
  await queue.settled();
  expect(sent.at(-1)).toBe('a 3');
});

test('STA-04.1 two owners with a task of one name are reported beside one another', () => {
  queue.add(report('a', snapshot(1)));
  queue.add({ ...report('a', snapshot(2)), owner: { ...OWNER, userDid: 'did:example:u' } });
  expect(sent).toEqual(['a 1', 'a 2']);
});

test('STA-04.1 of one task at most fifty steps wait, and of all tasks as many as the setting says', async () => {
  queue.add(report('a', ...Array.from({ length: 51 }, (_, at) => milestone(at))));
  expect(logged).toEqual([['context-report-dropped', { task: 'a', code: 'E3701' }]]);
  gate.resolve();
  await queue.settled();
  expect(sent).toHaveLength(50);
  expect(sent.at(-1)).toBe('a 49');
  open({ reportsMax: 2 });
  logged = [];
  queue.add(report('b', milestone(1), milestone(2)));
  queue.add(report('c', milestone(3)));
  expect(logged).toEqual([['context-report-dropped', { task: 'c', code: 'E3701' }]]);
  await queue.settled();
  // There is room again, also for a task that was refused.
  queue.add(report('c', milestone(4)));
  await queue.settled();
  expect(sent.slice(-3)).toEqual(['b 1', 'b 2', 'c 4']);
});

test('STA-04.1 a snapshot replaces the one before it, none across a milestone and none of another task', async () => {
  queue.add(report('a', milestone(0)));
  queue.add(report('a', snapshot(1)));
  queue.add(report('a', snapshot(2), milestone(3), snapshot(4)));
  queue.add(report('a', snapshot(5)));
  gate.resolve();
  await queue.settled();
  expect(sent).toEqual(['a 0', 'a 2', 'a 3', 'a 5']);
});

test('STA-04.1 a step that notes no place, and one that continues elsewhere, are sent and noted nowhere', async () => {
  gate.resolve();
  queue.add(report('a', { tool: 'save_context_snapshot', args: { n: 1 } }, { tool: 'rollback_to', checkpointId: 'x' }));
  await queue.settled();
  expect([sent, noted]).toEqual([['a 1', 'a x'], []]);
});

test('STA-04.1 what cannot be noted is in the log, and the next step is sent', async () => {
  open({
    reported: () => Promise.reject(new ToolLayerError('E3812', 'away')),
    send: async (_of, step) => void sent.push(nameOf(step)),
  });
  queue.add(report('a', milestone(1), milestone(2)));
  await queue.settled();
  expect(sent).toEqual(['1', '2']);
  const fields = { task: 'a', reason: expect.stringContaining('away') };
  expect(logged).toEqual([1, 2].map(() => ['context-report-not-noted', fields]));
});

test('STA-04.1 a server that is away is asked five times, one that refuses once; the next task has its turn', async () => {
  const codes = { away: 'E3310', refused: 'E3102' } as const;
  open({
    async send({ taskId }, step) {
      sent.push(`${taskId} ${nameOf(step)}`);
      if (taskId in codes) throw new ToolLayerError(codes[taskId as keyof typeof codes], 'no');
    },
  });
  for (const task of ['away', 'refused', 'well']) queue.add(report(task, milestone(1)));
  await queue.settled();
  expect(sent.filter((each) => each === 'away 1')).toHaveLength(5);
  expect(sent.filter((each) => each === 'refused 1')).toHaveLength(1);
  // Only what was sent or refused is over for good.
  expect(noted.sort()).toEqual(['refused 1', 'well 1']);
  const of = (task: 'away' | 'refused', tries: number) => ({
    task,
    tool: 'create_checkpoint',
    code: codes[task],
    tries,
  });
  expect(logged).toEqual([
    ['context-report-failed', of('refused', 1)],
    ['context-report-failed', of('away', 5)],
  ]);
});

test('STA-04.1 closing sends what waits if that is soon over, and takes nothing more', async () => {
  open({ closeMs: 50_000 });
  queue.add(report('a', milestone(1), milestone(2)));
  const closed = queue[Symbol.asyncDispose]();
  gate.resolve();
  await closed;
  queue.add(report('b', milestone(3)));
  await queue.settled();
  expect([sent, noted, logged]).toEqual([['a 1', 'a 2'], ['a 1', 'a 2'], []]);
});

test('STA-04.1 closing ends a pause between two tries at once, and drops what waits', async () => {
  let tries = 0;
  open({
    pauseMs: 1_000_000,
    async send() {
      tries += 1;
      throw new ToolLayerError('E3310', 'away');
    },
  });
  queue.add(report('a', milestone(1), milestone(2)));
  await nextTurn();
  await queue[Symbol.asyncDispose]();
  expect([tries, noted, logged]).toEqual([1, [], [['context-reports-dropped', { reports: 2 }]]]);
});
