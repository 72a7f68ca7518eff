import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { failure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { ExecutorCall } from '../../../executors/executor.port.ts';
import type { NativeFunction } from '../../../executors/native/native-executor.ts';
import { newOngoingCall, type Resumed } from '../../ongoing/ongoing-call.ts';
import { manifest, pipeline } from '../../pipeline.fixture.ts';
import type { CallEnd } from '../../record/late-ends.ts';
import { serverTasksOf } from './server-tasks.ts';

const SHORT = { execution_config: { default_timeout_seconds: 0.05 } };
const untilAborted: NativeFunction = (_parameters, { signal }) => wait(60_000, undefined, { signal });

async function layer(body: NativeFunction, more: Parameters<typeof manifest>[1] = {}) {
  const made = await pipeline();
  let runs = 0;
  await made.add(manifest('write', { side_effect_policy: 'irreversible', ...more }), (parameters, context) => {
    runs += 1;
    return body(parameters, context);
  });
  const run = (more = {}, caller = {}) => made.call({ tool_id: 'write', parameters: { n: 1 }, ...more }, caller);
  return { ...made, run, runs: () => runs };
}

describe('a tool that is not safe to repeat', () => {
  test('PIPE-13.2 PIPE-13.3 that runs into its timeout ends as outcome unknown; the write is not tried again', async () => {
    const { run, runs, store } = await layer(untilAborted, SHORT);
    const record = await run();
    expect(record).toMatchObject({
      state: 'ABORTED',
      failure: { code: 'E3804', details: { cut_off_by: 'E3103', timeout_ms: 50 } },
      metadata: { attempts: 1 },
    });
    expect(record.failure?.message).toMatch(/did not end within 0\.05 s.*not known/);
    expect(runs()).toBe(1);
    expect(await store.findInvocation('acme', record.invocationId)).toMatchObject({ failure: { code: 'E3804' } });
  });

  test('PIPE-13.2 whose connection is lost, whose sandbox or database is lost or whose layer stops ends so too', async () => {
    for (const code of ['E3107', 'E3310', 'E3306', 'E3308', 'E3812'] as const) {
      const { run, runs } = await layer(() => {
        throw new ToolLayerError(code, 'It is gone.', { details: { reached: true } });
      });
      expect(await run()).toMatchObject({ failure: { code: 'E3804', details: { cut_off_by: code } } });
      expect(runs()).toBe(1);
    }
    const stopping = await layer(untilAborted);
    const running = stopping.run();
    await expect.poll(stopping.runs).toBe(1);
    await stopping.parts.running.drain(1);
    expect(await running).toMatchObject({ failure: { code: 'E3804', details: { cut_off_by: 'E3811' } } });
  });

  test('PIPE-13 whose caller goes away ends so too, and is answered so when it asks again with its key', async () => {
    const { run, runs } = await layer(untilAborted);
    const gone = new AbortController();
    const request = { execution_options: { idempotency_key: 'k' } };
    const running = run(request, { signal: gone.signal });
    await expect.poll(runs).toBe(1);
    gone.abort();
    const record = await running;
    expect(record).toMatchObject({ state: 'ABORTED', failure: { code: 'E3804', details: { cut_off_by: 'E3805' } } });
    expect(await run(request)).toMatchObject({ invocationId: record.invocationId, failure: { code: 'E3804' } });
    expect(runs()).toBe(1);
  });

  test('PIPE-13 that answered, but too late for its answer to be taken, is not said to have failed', async () => {
    const { run } = await layer(async (_parameters, { signal }) => {
      await wait(60_000, undefined, { signal }).catch(() => undefined);
      return 'done all the same';
    }, SHORT);
    expect((await run()).failure?.code).toBe('E3804');
  });

  test('keeps the error that it reported itself, or that surely came before it', async () => {
    const cases = [
      ['E3109', {}],
      ['E3108', {}],
      ['E3304', { status: 500 }],
      ['E3310', { reached: false }],
      ['E3101', {}],
    ] as const;
    for (const [code, details] of cases) {
      const { run } = await layer(
        () => {
          throw new ToolLayerError(code, 'No.', { details });
        },
        { execution_config: { retry_policy: { max_attempts: 1 } } },
      );
      expect((await run()).failure?.code).toBe(code);
    }
  });

  test('that was cancelled before it was reached has done nothing', async () => {
    const gone = new AbortController();
    gone.abort();
    const { run, runs } = await layer(untilAborted);
    expect(await run({}, { signal: gone.signal })).toMatchObject({ failure: { code: 'E3805' } });
    expect(runs()).toBe(0);
  });
});

test('a tool that is safe to repeat says what happened: a timeout is a timeout, a cancel a cancel', async () => {
  for (const side_effect_policy of ['pure', 'idempotent'] as const) {
    const { run, runs } = await layer(untilAborted, { side_effect_policy, ...SHORT });
    expect(await run()).toMatchObject({ state: 'ABORTED', failure: { code: 'E3103' } });
    expect(runs()).toBe(1);
  }
});

test('what an executor has taken back is known', async () => {
  const made = await pipeline();
  const [native] = made.parts.executors.chain;
  if (native === undefined) throw new Error('no executor');
  const undoing = {
    ...native,
    async execute(call: Parameters<typeof native.execute>[0]): Promise<never> {
      call.onRolledBack?.();
      throw ToolLayerError.of(failure('E3107', 'The sandbox ended.'));
    },
  };
  const { createCompositeExecutor } = await import('../../../executors/composite.ts');
  const again = await pipeline({ executors: createCompositeExecutor([undoing]) });
  await again.add(manifest('write', { side_effect_policy: 'irreversible' }), () => 1);
  expect(await again.call({ tool_id: 'write', parameters: { n: 1 } })).toMatchObject({
    state: 'ROLLED_BACK',
    failure: { code: 'E3107' },
  });
});

/** A layer with a tool that its timeout ends; then its executor does what is given. */
async function undoingLayer(
  undo: (call: ExecutorCall, signal: AbortSignal) => Promise<void>,
  side_effect_policy: 'idempotent' | 'irreversible' = 'irreversible',
) {
  const [native] = (await pipeline()).parts.executors.chain;
  if (native === undefined) throw new Error('no executor');
  const undoing = {
    ...native,
    async execute(call: ExecutorCall, signal: AbortSignal): Promise<never> {
      await wait(60_000, undefined, { signal }).catch(() => {});
      await undo(call, signal);
      throw signal.reason;
    },
  };
  const { createCompositeExecutor } = await import('../../../executors/composite.ts');
  const made = await pipeline({ executors: createCompositeExecutor([undoing]) });
  await made.add(manifest('write', { side_effect_policy, ...SHORT }), () => 1);
  const graces: Promise<void>[] = [];
  const { setTimeout: later } = globalThis;
  // The time in which an aborted executor must stop, 5 s, is over at once.
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((run: () => void, ms: number) => {
    if (ms !== 5_000) return later(run, ms);
    graces.push(setImmediate().then(run));
    return later(() => {}, 0);
  }) as typeof setTimeout);
  onTestFinished(() => void vi.restoreAllMocks());
  return {
    run: () => made.call({ tool_id: 'write', parameters: { n: 1 } }),
    async graceOver() {
      await expect.poll(() => graces.length, { timeout: 50_000 }).toBe(1);
      await graces[0];
    },
  };
}

test('EXE-03.6 PIPE-13 an executor that takes back what its tool did is waited for beyond the time in which others must stop', async () => {
  const restored = Promise.withResolvers<void>();
  const { run, graceOver } = await undoingLayer(async (call) => {
    call.onUndoing?.();
    await restored.promise;
    call.onRolledBack?.();
  });
  const running = run();
  await graceOver();
  restored.resolve();
  expect(await running).toMatchObject({ state: 'ROLLED_BACK', failure: { code: 'E3103' } });
}, 60_000);

test('EXE-03.3 PIPE-13 an executor that could not be stopped takes nothing back once its call has ended', async () => {
  const [stopped, refused] = [Promise.withResolvers<void>(), Promise.withResolvers<unknown>()];
  const { run, graceOver } = await undoingLayer(async (call) => {
    await stopped.promise;
    try {
      refused.resolve(call.onUndoing?.());
    } catch (thrown) {
      refused.resolve(thrown);
    }
  });
  const running = run();
  await graceOver();
  expect(await running).toMatchObject({ state: 'ABORTED', failure: { code: 'E3804' } });
  stopped.resolve();
  expect(await refused.promise).toMatchObject({ code: 'E3805' });
}, 60_000);

test('EXE-03.3 PIPE-13 a timeout does not hide that files could not be restored, also of a tool that is safe to repeat', async () => {
  const { run } = await undoingLayer(async (call) => {
    call.onUndoing?.();
    throw new ToolLayerError('E3804', 'Not all was taken back.', { details: { rollback: 'failed' } });
  }, 'idempotent');
  expect(await run()).toMatchObject({ state: 'ABORTED', failure: { code: 'E3804', details: { rollback: 'failed' } } });
}, 60_000);

describe('a call whose server answers with a task', () => {
  type Given = Parameters<typeof serverTasksOf>;
  const task = { id: 'task' } as unknown as Parameters<
    NonNullable<ReturnType<typeof serverTasksOf>['onServerTask']>
  >[0];

  function tasksOf(more: {
    caller?: object;
    tool?: object;
    credentials?: readonly string[];
    resumed?: object;
    attempts?: number;
  }) {
    const noted: unknown[] = [];
    const toolRun = { attempts: more.attempts ?? 1, noteServerTask: (each: unknown) => void noted.push(each) };
    const call = {
      caller: { door: 'mcp', ...more.caller },
      tool: { manifest: manifest('read', more.tool) },
      grant: { credentials: more.credentials ?? [] },
    };
    const parts = { secrets: { ofCaller: (names: readonly string[]) => names.filter((name) => name === 'own') } };
    const ongoing = { toolRun, ...(more.resumed === undefined ? {} : { resumed: more.resumed }) };
    return { noted, tasks: serverTasksOf(...([parts, call, ongoing] as unknown as Given)) };
  }

  test('API-03 is set aside with it where its client takes tasks, and runs again only where that is safe', async () => {
    const { noted, tasks } = tasksOf({ caller: { takesTasks: true } });
    expect(tasks).toMatchObject({ mayRunLater: true, wantsServerTask: true });
    expect([await tasks.onServerTask?.(task), noted]).toEqual(['later', [task]]);
    const unsafe = tasksOf({ caller: { takesTasks: true }, tool: { side_effect_policy: 'irreversible' } }).tasks;
    expect([unsafe.mayRunLater, unsafe.wantsServerTask]).toEqual([undefined, true]);
    const other = tasksOf({ caller: { takesTasks: true }, credentials: ['stored'] }).tasks;
    expect(other.wantsServerTask).toBe(true);
  });

  test('API-03 PRM-11 waits for its end where nothing can be set aside, or the operator says so, and elsewhere is left to the server', async () => {
    for (const more of [
      { caller: { takesTasks: true }, credentials: ['own'] },
      { caller: { door: 'rest' } },
      { tool: { execution_config: { task_support: 'optional' } } },
    ]) {
      const { tasks, noted } = tasksOf(more);
      expect([Object.keys(tasks), await tasks.onServerTask?.(task), noted]).toEqual([['onServerTask'], 'here', []]);
    }
    expect(tasksOf({}).tasks).toEqual({});
    expect(tasksOf({ tool: { execution_config: { task_support: 'required' } } }).tasks).toEqual({});
  });

  test('API-03 takes the task up that an earlier run was set aside with, in its first attempt', () => {
    const resumed = { waiting: { serverTask: task } };
    const { noted, tasks } = tasksOf({ resumed });
    expect([noted, tasks]).toEqual([[task], expect.objectContaining({ serverTask: task, wantsServerTask: true })]);
    const again = tasksOf({ resumed, attempts: 2 });
    expect([again.noted, again.tasks.serverTask, again.tasks.wantsServerTask]).toEqual([[], undefined, true]);
    expect(tasksOf({ resumed: { waiting: {} } }).tasks).not.toHaveProperty('serverTask');
  });

  test('API-03 ORC-06 has its id on the disk, in the row of a call that a worker runs, before its end is waited for', async () => {
    const written: unknown[] = [];
    let isAway = true;
    const commit = async ({ record, durability }: CallEnd): Promise<void> => {
      await setImmediate();
      if (isAway) {
        isAway = false;
        throw new ToolLayerError('E3812', 'away');
      }
      written.push([record.state, record.waiting?.serverTask, durability]);
    };
    const parts = { ledger: { commit }, instanceId: 'one', clock: { now: () => 1, monotonic: () => 0 } };
    const resumed = { invocationId: 'i', nonce: 'n', acceptedAt: 1, waiting: { since: 1 } } as unknown as Resumed;
    const ongoing = newOngoingCall({ request: { tool_id: 'read' }, caller: { door: 'rest' } }, 0, false, resumed);
    const { onServerTask } = serverTasksOf(...([parts, {}, ongoing] as unknown as Given));
    expect(await onServerTask?.(task)).toBe('here');
    expect(written).toEqual([['EXECUTING', task, 'synchronous']]);
  });
});
