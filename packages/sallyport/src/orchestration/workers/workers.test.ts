import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { GivenApproval } from '../../domain/invocation/waiting-call.ts';
import { createCompositeExecutor } from '../../executors/composite.ts';
import { createNativeExecutor, type NativeCallContext } from '../../executors/native/native-executor.ts';
import { dueOf } from './due.ts';
import { instance, LATER, over, type Shared, sharedMemory, until } from './workers.fixture.ts';

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
});

type Rest = Parameters<typeof instance> extends [string, Shared, ...infer R] ? R : never;

async function start(shared: Shared = sharedMemory(), ...rest: Rest) {
  const made = await instance(`instance-${opened.length + 1}`, shared, ...rest);
  opened.push(made);
  await made.workers.start();
  return { ...made, shared };
}

/** A tool that runs until the test ends it, or its signal is aborted. */
function held() {
  const runs: NativeCallContext[] = [];
  const ends: (() => void)[] = [];
  const body = (_parameters: unknown, context: NativeCallContext) => {
    runs.push(context);
    return new Promise((resolve, reject) => {
      ends.push(() => resolve({ done: runs.length }));
      context.signal.addEventListener('abort', () => reject(context.signal.reason));
    });
  };
  return {
    runs,
    ends,
    body,
    end: () => {
      for (const each of ends.splice(0)) each();
    },
  };
}

const running = (runs: readonly unknown[], count: number) => until(() => (runs.length >= count ? true : undefined));
const states = async (made: Awaited<ReturnType<typeof start>>, { invocationId }: InvocationRecord) => [
  ...new Set((await made.eventsOf(invocationId)).map(({ data }) => data['state'])),
];
const urgent = (priority: 'low' | 'normal' | 'high') => ({ execution_options: { async_mode: true, priority } });

describe('workers', () => {
  test('PIPE-07.1 an asynchronous call is answered at once and runs soon after, with its result kept', async () => {
    const made = await start();
    const { tool, call, shared } = made;
    await tool('later', ({ n }) => ({ got: n }), { side_effect_policy: 'irreversible' });
    const accepted = await call({ tool_id: 'later', parameters: { n: 7 }, ...LATER });
    expect(accepted).toMatchObject({ state: 'AUTHORIZED', waiting: { wait: { for: 'worker' } } });
    const done = await over(shared, accepted);
    expect(done).toMatchObject({ state: 'COMPLETED', result: { got: 7 }, fence: 1 });
    expect(done).not.toHaveProperty('waiting');
    await until(async () => ((await shared.leases.find(accepted)) === undefined ? true : undefined));
    expect(await states(made, accepted)).toEqual(['DECLARED', 'VALIDATED', 'AUTHORIZED', 'EXECUTING', 'COMPLETED']);
  });

  test('PIPE-08.2 an agent runs as many calls at once as it may, and the others wait their turn', async () => {
    const { tool, call, shared, parts } = await start();
    let most = 0;
    await tool('slow', async () => {
      most = Math.max(most, parts.running.size);
      await new Promise((resolve) => setTimeout(resolve, 5));
    });
    const accepted = await Promise.all(
      Array.from({ length: 20 }, () => call({ tool_id: 'slow', parameters: { n: 1 }, ...LATER })),
    );
    for (const each of accepted) expect(await over(shared, each)).toMatchObject({ state: 'COMPLETED' });
    expect(most).toBe(4);
  });

  test('PIPE-08.1 what waits runs in the order of its urgency', async () => {
    const { tool, call, shared } = await start(sharedMemory(), { slots: 1, preemptAfterMs: 60_000 });
    const first = held();
    const order: unknown[] = [];
    await tool('held', first.body);
    await tool('next', ({ n }) => order.push(n));
    await call({ tool_id: 'held', parameters: { n: 0 }, ...LATER });
    await running(first.runs, 1);
    const waiting = [];
    // The worker takes one more call than it has free slots.
    for (const [n, priority] of (['normal', 'low', 'normal', 'high'] as const).entries())
      waiting.push(await call({ tool_id: 'next', parameters: { n }, ...urgent(priority) }));
    first.end();
    for (const each of waiting) await over(shared, each);
    expect(order.filter((n) => n !== 0)).toEqual([3, 2, 1]);
  });

  test('PIPE-08.4 beyond the queue calls are refused early, the least urgent first, with a hint', async () => {
    const { tool, call, intake } = await start(sharedMemory(), { queueMax: 10 });
    await tool('any', () => 1);
    const ask = (priority: 'low' | 'normal' | 'high') =>
      call({ tool_id: 'any', parameters: { n: 1 }, ...urgent(priority) });
    intake.noteLoad(8);
    expect(await ask('low')).toMatchObject({ failure: { code: 'E3803', retryAfterMs: 1000 } });
    expect(await ask('normal')).toMatchObject({ state: 'AUTHORIZED' });
    intake.noteLoad(10);
    expect(await ask('high')).toMatchObject({ failure: { code: 'E3803' } });
    intake.noteLoad(0);
    expect(await ask('low')).toMatchObject({ state: 'AUTHORIZED' });
  });

  test('PIPE-08.5 a call of low priority that may run again makes way for an urgent one, and runs again', async () => {
    const made = await start(sharedMemory(), { slots: 1, preemptAfterMs: 5 });
    const { tool, call, shared, eventsOf } = made;
    const low = held();
    await tool('low', low.body);
    await tool('high', () => 'urgent');
    const first = await call({ tool_id: 'low', parameters: { n: 1 }, ...urgent('low') });
    await running(low.runs, 1);
    const second = await call({ tool_id: 'high', parameters: { n: 1 }, ...urgent('high') });
    expect(await over(shared, second)).toMatchObject({ state: 'COMPLETED', result: 'urgent' });
    await running(low.runs, 2);
    low.end();
    expect(await over(shared, first)).toMatchObject({ state: 'COMPLETED', fence: 2 });
    const types = (await eventsOf(first.invocationId)).map(({ type }) => type);
    expect(types.filter((type) => type === 'ai.agent.tool.preempted')).toHaveLength(1);
  });

  test('PIPE-08 nothing makes way that must not run again, nor for the third time', async () => {
    const { tool, call, shared } = await start(sharedMemory(), { slots: 1, preemptAfterMs: 5, preemptionsMax: 0 });
    const low = held();
    const unsafe = held();
    await tool('low', low.body);
    await tool('unsafe', unsafe.body, { side_effect_policy: 'irreversible' });
    await tool('high', () => 'urgent');
    for (const [id, tooled] of [
      ['low', low],
      ['unsafe', unsafe],
    ] as const) {
      const first = await call({ tool_id: id, parameters: { n: 1 }, ...urgent('low') });
      await running(tooled.runs, 1);
      const second = await call({ tool_id: 'high', parameters: { n: 1 }, ...urgent('high') });
      await new Promise((resolve) => setTimeout(resolve, 40));
      expect(tooled.runs[0]?.signal.aborted).toBe(false);
      tooled.end();
      expect(await over(shared, first)).toMatchObject({ state: 'COMPLETED' });
      expect(await over(shared, second)).toMatchObject({ state: 'COMPLETED' });
    }
  });

  test('PIPE-12.2 PIPE-12.3 a call may last longer than a synchronous one, be extended, and must give signs of life', async () => {
    const { parts } = await start();
    const limits = { ...parts.limits, timeoutMsMax: 10_000, laterTimeoutMsMax: 60_000 };
    const { tool, call, shared, workers } = await start(sharedMemory(), {}, { parts: { limits } });
    const long = held();
    await tool('long', long.body);
    await tool('silent', held().body, { execution_config: { heartbeat_seconds: 0.05 } });
    const ask = (tool_id: string, seconds: number) =>
      call({ tool_id, parameters: { n: 1 }, resource_limits: { timeout_seconds: seconds }, ...LATER });
    expect(await ask('long', 61)).toMatchObject({ failure: { code: 'E3102' } });
    expect(await ask('long', 60)).toMatchObject({ state: 'AUTHORIZED' });
    const short = await ask('long', 0.15);
    const silent = await ask('silent', 30);
    await running(long.runs, 2);
    expect(await workers.extend(short, 60_000)).toBe(true);
    expect(await over(shared, silent)).toMatchObject({
      failure: { code: 'E3103', details: { heartbeat_ms: 50 } },
    });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(long.runs[1]?.signal.aborted).toBe(false);
    long.end();
    expect(await over(shared, short)).toMatchObject({ state: 'COMPLETED' });
    expect(await workers.extend(short, 1)).toBe(false);
  });

  test('PIPE-12.3 a tool that reports its progress lives on, and how far it is can be read elsewhere', async () => {
    const { tool, call, shared } = await start();
    await tool(
      'busy',
      async (_parameters, { progress }) => {
        for (let turn = 0; turn < 20; turn += 1) {
          for (let each = 0; each < 500; each += 1) progress({ progress: turn, total: 40, message: `turn ${turn}` });
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
        return 'done';
      },
      { execution_config: { heartbeat_seconds: 0.1 } },
    );
    const accepted = await call({ tool_id: 'busy', parameters: { n: 1 }, ...LATER });
    const seen = await until(async () => (await shared.leases.find(accepted))?.progress);
    expect(seen).toMatchObject({ percent: expect.any(Number), phase: expect.stringMatching(/^turn \d+$/) });
    expect(await over(shared, accepted)).toMatchObject({ state: 'COMPLETED', result: 'done' });
  });

  test('PIPE-06 a call that waits is ended at once by a cancel, and never runs', async () => {
    const { tool, call, shared, workers } = await start(sharedMemory(), { slots: 1 });
    const first = held();
    await tool('held', first.body);
    const runs = await call({ tool_id: 'held', parameters: { n: 1 }, ...LATER });
    await running(first.runs, 1);
    const waits = await call({ tool_id: 'held', parameters: { n: 2 }, ...LATER });
    expect(await workers.cancel(waits, 'not needed')).toBe('ended');
    expect(await over(shared, waits)).toMatchObject({
      state: 'ABORTED',
      failure: { code: 'E3805', message: expect.stringContaining('not needed') },
    });
    expect(await workers.cancel(runs, undefined)).toBe('notified');
    expect(await over(shared, runs)).toMatchObject({ state: 'ABORTED', failure: { code: 'E3805' } });
    expect(first.runs).toHaveLength(1);
  });

  test('PIPE-06 a cancel that comes when the call has decided to wait is not lost', async () => {
    const shared = sharedMemory();
    // The stage that sends a call to the workers is over, and nothing is on record.
    const onStage = (stage: string): void => {
      const ongoing = stage === 'reserve' ? made.parts.running.find('acme', 'late') : undefined;
      if (ongoing?.resumed === undefined && ongoing !== undefined)
        made.parts.running.cancel(ongoing, 'changed my mind');
    };
    const made = await start(shared, { slots: 1 }, { parts: { onStage } });
    const first = held();
    await made.tool('held', first.body);
    await made.call({ tool_id: 'held', parameters: { n: 1 }, ...LATER });
    await running(first.runs, 1);
    const accepted = await made.call({ tool_id: 'held', parameters: { n: 2 }, invocation_id: 'late', ...LATER });
    expect(accepted).toMatchObject({ invocationId: 'late', waiting: { wait: { for: 'worker' } } });
    expect(await over(shared, accepted)).toMatchObject({
      state: 'ABORTED',
      failure: { code: 'E3805', message: expect.stringContaining('changed my mind') },
    });
    expect(first.runs).toHaveLength(1);
  });

  test('a tool that ends twice, or after it was cancelled, has one end on record', async () => {
    const made = await start();
    const { tool, call, shared, workers, eventsOf } = made;
    let calls = 0;
    await tool('twice', () => {
      calls += 1;
      // An object of the tool with a method `then`.
      const own: object = {};
      Reflect.set(own, 'then', (resolve: (value: unknown) => void) => {
        resolve('first');
        resolve('second');
      });
      return own;
    });
    const late = held();
    await tool('late', (_parameters, context) => {
      late.runs.push(context);
      return new Promise((resolve) => late.ends.push(() => resolve('late')));
    });
    const twice = await call({ tool_id: 'twice', parameters: { n: 1 }, ...LATER });
    expect(await over(shared, twice)).toMatchObject({ state: 'COMPLETED', result: 'first' });
    const deaf = await call({ tool_id: 'late', parameters: { n: 1 }, ...LATER });
    await running(late.runs, 1);
    await workers.cancel(deaf, undefined);
    const ended = await over(shared, deaf);
    late.end();
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(await shared.store.findInvocation('acme', deaf.invocationId)).toEqual(ended);
    for (const each of [twice, deaf]) {
      const finals = (await eventsOf(each.invocationId)).filter(({ data }) => data['duration_ms'] !== undefined);
      expect(finals.filter(({ data }) => data['state'] !== 'AUTHORIZED')).toHaveLength(1);
    }
    expect(calls).toBe(1);
  });

  test('OPS-03.4 what the layer is asked to end while it stops goes on in its next life, or is of unknown outcome', async () => {
    const shared = sharedMemory();
    const made = await instance('one', shared, { graceMs: 20 });
    await made.workers.start();
    const [safe, unsafe] = [held(), held()];
    await made.tool('safe', safe.body);
    await made.tool('unsafe', unsafe.body, { side_effect_policy: 'irreversible' });
    const [goesOn, unknown] = [
      await made.call({ tool_id: 'safe', parameters: { n: 1 }, ...LATER }),
      await made.call({ tool_id: 'unsafe', parameters: { n: 1 }, ...LATER }),
    ];
    await running(unsafe.runs, 1);
    await running(safe.runs, 1);
    await made.close();
    expect(await over(shared, unknown)).toMatchObject({ failure: { code: 'E3804' } });
    const next = await instance('one', shared);
    opened.push(next);
    await next.tool('safe', () => 'again');
    await next.workers.start();
    expect(await over(shared, goesOn)).toMatchObject({ state: 'COMPLETED', result: 'again' });
  });

  test('PIPE-07 a restarted program may bind its functions later than its calls are looked for', async () => {
    const shared = sharedMemory();
    const before = await instance('one', shared);
    opened.push(before);
    await before.tool('later', () => 1);
    const accepted = await before.accept({ tool_id: 'later', parameters: { n: 1 }, ...LATER });
    const { registry, visible } = before.parts;
    const native = createNativeExecutor();
    const executors = createCompositeExecutor([native]);
    const { workers } = await start(shared, { sweepMs: 60_000 }, { parts: { registry, visible, executors } });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await shared.store.findInvocation('acme', accepted.invocationId)).toMatchObject({ waiting: {} });
    native.register('later', '1.0.0', () => 'bound');
    workers.lookAgain();
    expect(await over(shared, accepted)).toMatchObject({ state: 'COMPLETED', result: 'bound' });
  });

  test('an approved call runs with its yes, here or wherever its yes is known', async () => {
    const FAR = 4_102_444_800_000;
    const approvals = {
      standing: () => undefined,
      question: ({ reason, binding }: { reason: 'requires_approval'; binding: never }) => ({
        approvalId: 'a',
        reason,
        binding,
        requestedAt: 1,
        expiresAt: FAR,
      }),
    };
    let known: GivenApproval | undefined;
    const { tool, call, shared, workers } = await start(
      sharedMemory(),
      {},
      { parts: { approvalQuestions: approvals as never }, workers: { givenApproval: async () => known } },
    );
    await tool('asks', () => 'approved', { requires_confirmation: true });
    const asked = await call({ tool_id: 'asks', parameters: { n: 1 } });
    if (asked.waiting?.wait.for !== 'approval') throw new Error('nobody was asked');
    await workers.enqueue('acme', asked.invocationId);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await shared.store.findInvocation('acme', asked.invocationId)).toMatchObject({ state: 'AUTHORIZED' });
    const { approvalId, binding, expiresAt } = asked.waiting.wait.approval;
    await workers.enqueue('acme', asked.invocationId, { approvalId, binding, expiresAt });
    expect(await over(shared, asked)).toMatchObject({ state: 'COMPLETED', result: 'approved' });
    // Another instance took the answer, and ended before the call ran.
    const elsewhere = await call({ tool_id: 'asks', parameters: { n: 1 } });
    known = { approvalId, binding, expiresAt };
    await workers.enqueue('acme', elsewhere.invocationId);
    expect(await over(shared, elsewhere)).toMatchObject({ state: 'COMPLETED', result: 'approved' });
  });

  test('a database that cannot be reached for a while delays calls and loses none', async () => {
    const shared = sharedMemory();
    let broken = false;
    const leases = {
      ...shared.leases,
      take: async (...given: Parameters<Shared['leases']['take']>) => {
        if (broken) throw new ToolLayerError('E3812', 'gone');
        return shared.leases.take(...given);
      },
    };
    const { tool, call } = await start({ ...shared, leases });
    await tool('any', () => 1);
    broken = true;
    const accepted = await call({ tool_id: 'any', parameters: { n: 1 }, ...LATER });
    await new Promise((resolve) => setTimeout(resolve, 50));
    broken = false;
    expect(await over(shared, accepted)).toMatchObject({ state: 'COMPLETED' });
  });
});

const MINUTE_MS = 60_000;
const priorities = fc.constantFrom('low', 'normal', 'high');
const due = (priority: 'low' | 'normal' | 'high', acceptedAt: number): number => {
  const waiting = { request: { execution_options: { priority } } } as unknown as InvocationRecord['waiting'];
  return dueOf({ acceptedAt, ...(waiting === undefined ? {} : { waiting }) });
};

test('PIPE-08.6 a call runs before all that come more than a minute after it, however urgent they are', () => {
  fc.assert(
    fc.property(priorities, priorities, fc.nat(), fc.integer({ min: 1, max: 1e9 }), (own, later, at, ms) => {
      expect(due(own, at)).toBeLessThan(due(later, at + MINUTE_MS + ms));
    }),
  );
});

test('PIPE-08.1 of calls that come together the most urgent is due first', () => {
  expect(due('high', 0)).toBeLessThan(due('normal', 0));
  expect(due('normal', 0)).toBeLessThan(due('low', 0));
});
