import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { describe, expect, test, vi } from 'vitest';
import { textOfCall } from '../../../domain/invocation/call-key.ts';
import type { CallQuestionsByKey } from '../../../domain/invocation/tasks/call-question.ts';
import { movedClock, notingLog } from '../../approvals/approvals.fixture.ts';
import { createCallIntake } from '../../call-intake.ts';
import type { Beat, CallLeaseStore } from '../../call-lease-store.port.ts';
import { beat, shownProgress } from '../heartbeat.ts';
import { HeldCall } from '../held-call.ts';
import { createLater } from '../later.ts';
import { createPostponedCalls } from '../postponed-calls.ts';
import { regularBeat } from '../regular-beat.ts';
import { repeat } from '../repeat.ts';
import { sweep } from '../sweep.ts';
import { WORKER_DEFAULTS } from '../worker-limits.ts';
import type { WorkerParts } from '../worker-parts.ts';
import { createCallQuestions } from './call-questions.ts';

const ME = { instanceId: 'one', owner: 'one/1' };
const call = (invocationId: string, tenantId = 'acme') => ({ tenantId, invocationId });

describe('calls that wait for a slot of their agent', () => {
  const slot = { free: () => undefined } as never;

  test('PIPE-08.2 are taken agent by agent in turn, each in order of arrival, and only where there is a slot', () => {
    const postponed = createPostponedCalls(10);
    for (const [agent, id] of [
      ['a', '1'],
      ['a', '2'],
      ['b', '3'],
      ['a', '4'],
    ] as const)
      expect(postponed.add(agent, call(id), false)).toBe(true);
    expect(postponed.add('a', call('2'), false)).toBe(false);
    expect(['a', 'b', 'c'].map((agent) => postponed.count(agent))).toEqual([3, 1, 0]);
    const take = (agents = ['a', 'b']) =>
      postponed.take((agent) => (agents.includes(agent) ? slot : undefined))?.call.invocationId;
    expect(take([])).toBeUndefined();
    expect(take(['b'])).toBe('3');
    expect(postponed.count('b')).toBe(0);
    postponed.add('b', call('5'), false);
    expect([take(), take(), take(), take(), take()]).toEqual(['1', '5', '2', '4', undefined]);
    expect(postponed.count('a')).toBe(0);
  });

  test('PIPE-08.5 are taken the urgent ones of an agent first, where it has a slot', () => {
    const postponed = createPostponedCalls(2);
    postponed.add('a', call('1'), false);
    postponed.add('a', call('2'), true);
    const urgentOf = (agent: string, free = true) =>
      postponed.takeUrgent(agent, () => (free ? slot : undefined))?.call.invocationId;
    expect([urgentOf('b'), urgentOf('a', false), urgentOf('a'), urgentOf('a')]).toEqual([
      undefined,
      undefined,
      '2',
      undefined,
    ]);
    expect([postponed.count('a'), postponed.add('b', call('3'), false)]).toEqual([1, true]);
  });

  test('PIPE-08.4 are no more than so many, of all agents together; one that is taken makes room', () => {
    const postponed = createPostponedCalls(2);
    expect([postponed.add('a', call('1'), false), postponed.add('b', call('2'), false)]).toEqual([true, true]);
    expect([postponed.add('a', call('3'), false), postponed.add('c', call('3'), false)]).toEqual([false, false]);
    expect([postponed.count('a'), postponed.count('c')]).toEqual([1, 0]);
    postponed.take(() => slot);
    expect(postponed.add('c', call('3'), false)).toBe(true);
  });
});

test('PIPE-08 what waits for room comes up once, not before its time, at most a quarter later, and never after the end', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const came: string[] = [];
    const later = createLater<string>((thing) => came.push(thing));
    const keys = Array.from({ length: 20 }, (_, n) => `${n}`);
    for (const key of keys) expect(later.add(key, key, 100)).toBe(true);
    expect(later.add('0', 'again', 1)).toBe(false);
    expect(later.size).toBe(20);
    vi.advanceTimersByTime(99);
    expect(came).toEqual([]);
    vi.advanceTimersByTime(26);
    expect(came.toSorted()).toEqual(keys.toSorted());
    expect(later.size).toBe(0);
    expect(later.add('0', 'second', 100)).toBe(true);
    later[Symbol.dispose]();
    expect(later.size).toBe(0);
    vi.advanceTimersByTime(1_000);
    expect(came).toHaveLength(20);
  } finally {
    vi.useRealTimers();
  }
});

test('a turn is repeated with a pause after each, never two at once, and none begins after the end', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    let turns = 0;
    let end = Promise.withResolvers<void>();
    const stop = repeat(
      async () => {
        turns += 1;
        await end.promise;
      },
      () => 10,
    );
    await vi.advanceTimersByTimeAsync(9);
    expect(turns).toBe(0);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(turns).toBe(1);
    end.resolve();
    end = Promise.withResolvers<void>();
    await vi.advanceTimersByTimeAsync(10);
    expect(turns).toBe(2);
    let isStopped = false;
    const stopped = stop().then(() => {
      isStopped = true;
    });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(isStopped).toBe(false);
    end.resolve();
    await stopped;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(turns).toBe(2);
  } finally {
    vi.useRealTimers();
  }
});

describe('questions of a running call', () => {
  const open: CallQuestionsByKey = { one: { method: 'elicitation/create', params: {} } as never };

  function questionsOf(here: object | undefined, progress?: object) {
    const asked: unknown[] = [];
    const running = { find: () => here };
    const leases = {
      find: async () => ({ live: true, ...(progress === undefined ? {} : { progress }) }),
      notifyHolder: async (key: object, wish: object) => asked.push([key, wish]) > 0,
    };
    return { asked, questions: createCallQuestions({ running: running as never, leases }) };
  }

  test('EXE-07 are read where the call runs, or from its lease elsewhere', async () => {
    expect(await questionsOf({ toolRun: { openQuestions: open } }).questions.open(call('x'))).toBe(open);
    expect(await questionsOf({ toolRun: {} }, { questions: open }).questions.open(call('x'))).toEqual({});
    expect(await questionsOf(undefined, { questions: open }).questions.open(call('x'))).toBe(open);
    expect(await questionsOf(undefined, {}).questions.open(call('x'))).toEqual({});
    expect(await questionsOf(undefined).questions.open(call('x'))).toEqual({});
  });

  test('EXE-07 are answered where the call runs; elsewhere the answers to open ones are left for its holder', async () => {
    const answered: unknown[] = [];
    const here = questionsOf({ toolRun: { questions: { answer: (given: unknown) => answered.push(given) } } });
    await here.questions.answer(call('x'), { one: 1 });
    expect([answered, here.asked]).toEqual([[{ one: 1 }], []]);
    const elsewhere = questionsOf(undefined, { questions: open });
    await elsewhere.questions.answer(call('x'), { one: 1, other: 2, toString: 3 });
    expect(elsewhere.asked).toEqual([[call('x'), { answers: { one: 1 } }]]);
    await elsewhere.questions.answer(call('x'), { other: 2 });
    expect(elsewhere.asked).toHaveLength(1);
  });

  test('EXE-07 are asked where the call runs, until it or its asker ends, and nowhere else', async () => {
    const controller = new AbortController();
    const given: AbortSignal[] = [];
    const ask = async (_question: unknown, signal: AbortSignal) => void given.push(signal);
    const caller = { questions: { elicitation: {} } };
    const { questions } = questionsOf({ toolRun: { questions: { ask } }, controller, call: { caller } });
    expect(questions.clientOf(call('x'))).toEqual({ elicitation: {} });
    const own = new AbortController();
    await questions.ask(call('x'), open['one'] as never, own.signal);
    await questions.ask(call('x'), open['one'] as never, new AbortController().signal);
    own.abort();
    expect(given.map(({ aborted }) => aborted)).toEqual([true, false]);
    controller.abort();
    expect(given.map(({ aborted }) => aborted)).toEqual([true, true]);
    const none = questionsOf(undefined).questions;
    expect(none.clientOf(call('x'))).toBeUndefined();
    await expect(none.ask(call('x'), open['one'] as never, own.signal)).rejects.toThrow('does not run here');
  });
});

/** Parts of a sweep and of a beat that note what they are asked. */
function noting(answers: { readonly unattended?: readonly object[]; readonly dead?: readonly string[] } = {}) {
  const did: unknown[] = [];
  const { log, lines } = notingLog();
  const clock = movedClock();
  const state = { isAway: false };
  const leases = {
    forgetEnded: async () => void did.push('forgetEnded'),
    unattended: async (...given: unknown[]) => {
      did.push(['unattended', ...given]);
      return answers.unattended ?? [];
    },
    takeDeadInstances: async () => answers.dead ?? [],
    forgetInstance: async (...given: unknown[]) => void did.push(['forget', ...given]),
    beat: async () => {
      if (state.isAway) throw new ToolLayerError('E3812', 'away');
      return { held: [], unheld: [], instances: 1 };
    },
  };
  const queue = {
    add: async (jobs: readonly object[]) => void did.push(['add', jobs.length, jobs[0]]),
    length: async () => 9,
  };
  const intake = { noteLoad: (...given: unknown[]) => void did.push(['load', ...given]), queued: () => 0 };
  const records = {
    openInvocations: async (id: string) => {
      did.push(['open', id]);
      return [];
    },
  };
  const rollBackFor = async (id: string) => did.push(['rollBack', id]);
  const limits = { leaseMs: 100 };
  const parts = { leases, queue, intake, records, rollBackFor, limits, log, clock } as unknown as WorkerParts;
  return { did, lines, parts, state, clock };
}

describe('a sweep', () => {
  test('ORC-06 queues in groups what nobody holds, due since it was accepted, and counts what waits', async () => {
    const unattended = Array.from({ length: 501 }, (_, n) => ({ ...call(`${n}`), acceptedAt: n }));
    const { did, parts, lines } = noting({ unattended });
    await sweep(parts, ME, 7, 8);
    expect(did).toEqual([
      'forgetEnded',
      ['unattended', 8, 7],
      ['add', 500, { ...call('0'), due: 0 }],
      ['add', 1, { ...call('500'), due: 500 }],
      ['load', 9],
    ]);
    expect(lines).toEqual([]);
    const none = noting();
    await sweep(none.parts, ME, 0, 1);
    expect(none.did).toEqual(['forgetEnded', ['unattended', 1, 0]]);
  });

  test('ORC-06 settles what a dead instance left, takes back what it changed, and forgets it then', async () => {
    const { did, parts, lines } = noting({ dead: ['two'] });
    await sweep(parts, ME, 0, 1);
    const rolledBack = did.findIndex((each) => Array.isArray(each) && each[0] === 'rollBack');
    expect(did.slice(rolledBack - 1)).toEqual([
      ['open', 'two'],
      ['rollBack', 'two'],
      ['forget', 'two', 'one/1'],
    ]);
    expect(lines).toEqual([
      `warn instance-gone ${JSON.stringify({ instance_id: 'two', settled: 0, rolled_back: rolledBack + 1 })}`,
    ]);
    const broken = noting();
    const away = { ...broken.parts.leases, forgetEnded: () => Promise.reject(new ToolLayerError('E3812', 'away')) };
    await sweep({ ...broken.parts, leases: away }, ME, 0, 1);
    expect(broken.lines).toEqual(['warn sweep-failed {"reason":"away"}']);
  });

  test('ORC-06 after an outage comes at once, once more when leases have run out, and then no more', async () => {
    const { did, parts, state, clock } = noting();
    const turn = regularBeat(parts, ME, new Map());
    const sweeps = async (passedMs = 0) => {
      clock.pass(passedMs);
      await turn();
      return did.filter((each) => each === 'forgetEnded').length;
    };
    expect([await sweeps(), await sweeps(1_000)]).toEqual([0, 0]);
    state.isAway = true;
    expect([await sweeps(), await sweeps(1_000)]).toEqual([0, 0]);
    state.isAway = false;
    expect([await sweeps(), await sweeps(), await sweeps(99)]).toEqual([1, 1, 1]);
    // Away when it is due: then as soon as the store is back.
    state.isAway = true;
    expect(await sweeps(1)).toBe(1);
    state.isAway = false;
    expect([await sweeps(), await sweeps(99), await sweeps(1), await sweeps(1_000)]).toEqual([2, 2, 3, 3]);
    expect(did).toContainEqual(['unattended', 10_000, 0]);
  });
});

test('PIPE-12.3 progress is shown as a share of its total, within bounds, with a text that is cut', () => {
  const shown = (progress: number, total?: number, message?: string) =>
    shownProgress({
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    });
  expect(shownProgress(undefined)).toBeUndefined();
  expect(shown(1)).toEqual({});
  expect(shown(1, 3)).toEqual({ percent: 33.3 });
  expect([shown(-1, 3), shown(4, 3), shown(3, 3)].map((each) => each?.percent)).toEqual([0, 100, 100]);
  for (const total of [0, -2, Number.NaN]) expect(shown(1, total), `${total}`).toEqual({});
  expect(shown(1, 2, `${'x'.repeat(199)}\u{1F600}`)).toEqual({ percent: 50, phase: `${'x'.repeat(199)}\uFFFD` });
});

describe('a beat', () => {
  const intake = createCallIntake(WORKER_DEFAULTS);
  const parts = (more: Partial<WorkerParts>) => {
    const nothing = { running: { find: () => undefined }, queue: { length: async () => 0 } };
    return { ...nothing, intake, limits: WORKER_DEFAULTS, ...more } as unknown as WorkerParts;
  };
  /** Beats with calls that are held, and what the store answers. */
  async function beaten(answer: Partial<Beat>, more: Partial<WorkerParts> = {}) {
    const calls = ['a', 'b', 'c'].map((invocationId) => new HeldCall({ tenantId: 'acme', invocationId }));
    for (const held of calls.slice(0, 2)) held.lease = { fence: 2, begun: false, preemptions: 0, extendedMs: 0 };
    const asked: unknown[] = [];
    const beats: CallLeaseStore['beat'] = async (_me, _ttlMs, attended) => {
      asked.push(attended);
      return { held: [], unheld: [], instances: 1, ...answer };
    };
    const byText = new Map(calls.map((held) => [textOfCall(held), held]));
    const instances = await beat(parts({ leases: { beat: beats } as never, ...more }), ME, byText);
    return { calls, asked, instances };
  }
  const heldAs = (invocationId: string, fence = 2, more: object = {}) => ({
    tenantId: 'acme',
    invocationId,
    fence,
    extendedMs: 0,
    ...more,
  });

  test("PIPE-07 ends the run of a call whose lease is another's by now, and of no other", async () => {
    const { calls, asked, instances } = await beaten({ held: [heldAs('a'), heldAs('b', 3)] });
    expect(calls.map(({ isLost, controller }) => [isLost, controller.signal.aborted])).toEqual([
      [false, false],
      [true, true],
      // Its lease was not there yet when the beat began.
      [false, false],
    ]);
    expect(calls[1]?.controller.signal.reason).toMatchObject({ code: 'E3811' });
    expect([instances, asked]).toEqual([1, [[heldKey('a'), heldKey('b')]]]);
    const { calls: gone } = await beaten({ held: [heldAs('a')] });
    expect(gone.map(({ isLost }) => isLost)).toEqual([false, true, false]);
  });
  const heldKey = (invocationId: string) => ({ tenantId: 'acme', invocationId });

  test('PIPE-06 PIPE-12.2 brings what others want of a call: its cancel, more time, and cancels of calls without a lease', async () => {
    const cancelled: unknown[] = [];
    const running = {};
    const reached: unknown[] = [];
    const toolRun = {
      deadline: { extendTo: (ms: number) => reached.push(ms) },
      questions: { answer: (answers: unknown) => reached.push(answers) },
      progress: { progress: 1, total: 4 },
      openQuestions: { q: {} },
    };
    Object.assign(running, {
      find: (_tenant: string, id: string) => (id === 'b' ? { toolRun } : id === 'mine' ? { id } : undefined),
      cancel: (ongoing: unknown, reason: string) => cancelled.push([ongoing, reason]),
    });
    const unheld = ['mine', 'over'].map((invocationId) => ({ tenantId: 'acme', invocationId, cancel: 'stop' }));
    const held = [heldAs('a', 2, { cancel: 'no' }), heldAs('b', 2, { extendedMs: 500, answers: { q: 1 } })];
    const { calls, asked } = await beaten({ held, unheld }, { running: running as never });
    expect(reached).toEqual([{ q: 1 }, 500]);
    expect(asked).toEqual([[heldKey('a'), { ...heldKey('b'), progress: { percent: 25, questions: { q: {} } } }]]);
    expect(calls.map((each) => each.cancelled)).toEqual([{ reason: 'no' }, undefined, undefined]);
    expect(calls.map(({ extendedMs }) => extendedMs)).toEqual([0, 500, 0]);
    expect(cancelled).toEqual([[{ id: 'mine' }, 'stop']]);
  });

  test('PIPE-08 counts what waits only where something waits, and says when the store is away', async () => {
    let asked = 0;
    const length = async () => {
      asked += 1;
      return 7;
    };
    const counted = { length } as never;
    intake.noteLoad(0);
    await beaten({}, { queue: counted });
    expect([asked, intake.queued()]).toEqual([0, 0]);
    intake.noteLoad(3);
    await beaten({}, { queue: counted });
    expect([asked, intake.queued()]).toEqual([1, 7]);
    intake.noteLoad(0);
    const { log, lines } = notingLog();
    const away = { beat: () => Promise.reject(new ToolLayerError('E3812', 'away')) };
    const { instances, calls } = await beaten({}, { leases: away as never, log });
    expect(instances).toBeUndefined();
    expect(calls.some(({ isLost }) => isLost)).toBe(false);
    expect(lines).toEqual(['warn leases-not-renewed {"reason":"away","held":2}']);
  });
});
