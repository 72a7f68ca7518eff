import { setImmediate } from 'node:timers/promises';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { NO_USAGE } from '../../../domain/invocation/usage.ts';
import { createCompositeExecutor } from '../../../executors/composite.ts';
import type { Executor } from '../../../executors/executor.port.ts';
import { createNativeExecutor } from '../../../executors/native/native-executor.ts';
import { createHooks } from '../../../hooks/run-hooks.ts';
import { newOngoingCall, type Resumed } from '../../ongoing/ongoing-call.ts';
import type { AgentSlot } from '../../ongoing/slots/agent-slots.ts';
import { manifest, pipeline } from '../../pipeline.fixture.ts';
import { compensatingStep } from './compensating-step.ts';
import { executorCall, type RecordingParts } from './executor-call.ts';

test('AUD-01.7 EXE-03.6 PIPE-03.4 a run that its executor has taken back ends as rolled back, and is audited as such', async () => {
  const native = createNativeExecutor();
  const undoing = {
    ...native,
    async execute(call: Parameters<typeof native.execute>[0]): Promise<never> {
      if (call.parameters['n'] === 1) call.onRolledBack?.();
      throw new ToolLayerError('E3108', 'The tool failed.');
    },
  };
  const { add, call, eventsOf } = await pipeline({ executors: createCompositeExecutor([undoing]) });
  await add(manifest('undo'), () => 1);
  const taken = await call({ tool_id: 'undo', parameters: { n: 1 } });
  expect(taken).toMatchObject({ state: 'ROLLED_BACK', failure: { code: 'E3108' } });
  const [last] = (await eventsOf(taken.invocationId)).slice(-1);
  expect(last).toMatchObject({ type: 'ai.agent.tool.rolled_back', data: { state: 'ROLLED_BACK' } });
  const kept = await call({ tool_id: 'undo', parameters: { n: 2 } });
  expect(kept).toMatchObject({ state: 'FAILED', failure: { code: 'E3108' } });
});

/** A call as its executor gets it, with the members that the test adds. */
function made(more: object = {}, tool = manifest('t'), parts?: object) {
  const ongoing = newOngoingCall({ request: { tool_id: 't' }, caller: { door: 'library' } }, 0, false);
  const call = {
    invocationId: 'i',
    principal: { tenantId: 'acme', agentDid: 'did:a', sessionId: 's' },
    tool: { tenantId: 'acme', manifest: tool },
    parameters: { n: 1 },
    grant: { limits: {} },
    request: {},
    caller: { door: 'library' },
    executor: {},
    ...more,
  } as unknown as Parameters<typeof executorCall>[0];
  const clock = { now: () => 7, monotonic: () => 0 };
  const all = parts === undefined ? undefined : ({ clock, state: {}, ...parts } as unknown as RecordingParts);
  return { ongoing, call, of: executorCall(call, ongoing, all) };
}

test('EXE-01 an executor gets what the call brings, and nothing that it does not bring', () => {
  const { of } = made();
  expect([of.secrets.size, of.attempt, of.parameters]).toEqual([0, 0, { n: 1 }]);
  const absent = ['environment', 'priority', 'documents', 'meta', 'undo', 'state', 'checkDocument', 'onUnasked'];
  for (const name of absent) expect(of).not.toHaveProperty(name);
  const secrets = new Map([['a', 'b']]);
  const options = { execution_options: { environment: { A: '1' }, priority: 'high' } };
  const brought = made({ secrets, request: options, caller: { door: 'mcp', meta: { m: 1 } } }).of;
  expect(brought).toMatchObject({ environment: { A: '1' }, priority: 'high', meta: { m: 1 } });
  expect(brought.secrets).toBe(secrets);
});

test('DOC-05 documents are copies, in the parameter that is marked for them too', () => {
  const document = { document_id: 'a', tags: ['x'], deprecation: { reason: 'old' } };
  const plain = { document_id: 'b' };
  const documents = [document, plain];
  expect(made({ documents }).of.parameters).toEqual({ n: 1 });
  const properties = { d: { type: 'array', 'x-documents': true } };
  const marked = manifest('t', { parameters_schema: { type: 'object', properties } });
  const { of } = made({ documents }, marked);
  expect(of.documents).toStrictEqual(documents);
  expect(of.parameters).toEqual({ n: 1, d: documents });
  const [copy] = of.documents ?? [];
  for (const member of ['tags', 'deprecation'] as const) expect(copy?.[member]).not.toBe(document[member]);
});

test('STA-01 a question that nobody saw and a checkpoint that was not saved are noted once', () => {
  const { ongoing, of } = made({}, manifest('t'), {});
  for (const why of ['nobody is there', 'it is late']) of.onUnasked?.(why);
  for (const why of ['it is too large', 'it is late']) of.onUnsaved?.(why);
  expect(ongoing.toolRun.warnings).toEqual([
    { code: 'question_unanswered', message: expect.stringMatching(/because nobody is there\.$/) },
    {
      code: 'checkpoint_not_saved',
      message: 'A checkpoint of the tool was not saved, because it is too large.',
    },
  ]);
  expect(ongoing.toolRun.facts).toEqual([
    { type: 'ai.agent.tool.question_unanswered', at: 7, data: { reason: 'nobody is there' } },
  ]);
  const stopped = made({}, manifest('t'), {});
  stopped.of.onUnsaved?.('it is full.');
  expect(stopped.ongoing.toolRun.warnings?.[0]?.message).toMatch(/full\.$/);
});

test('the context of the session is there for a tool whose manifest asks for it', async () => {
  const asked: unknown[] = [];
  const context = {
    sessionContext: async (_principal: object, id: string, signal: AbortSignal) => {
      asked.push([id, signal.aborted]);
      return 'context';
    },
  };
  const asking = manifest('t', { execution_config: { session_context: true } });
  expect(made({}, manifest('t'), { context }).of).not.toHaveProperty('sessionContext');
  expect(await made({}, asking, { context }).of.sessionContext?.()).toBe('context');
  const without = { principal: { tenantId: 'acme', agentDid: 'did:a' } };
  expect(await made(without, asking, { context }).of.sessionContext?.()).toBeUndefined();
  expect(asked).toEqual([['s', false]]);
});

test('PIPE-03 what a tool kept from an earlier attempt changes nothing', async () => {
  const { ongoing, call, of } = made({}, manifest('t'), {});
  ongoing.toolRun.beginAttempt();
  const step = { kind: 'x' } as never;
  await expect(of.undo?.record(step)).rejects.toMatchObject({ code: 'E3805' });
  await expect(of.state?.get('name')).rejects.toMatchObject({ code: 'E3805' });
  expect(executorCall(call, ongoing).attempt).toBe(1);
  let reopened = 0;
  ongoing.undo.reopen = () => {
    reopened += 1;
  };
  const parts = { clock: { now: () => 7, monotonic: () => 0 }, state: {} } as unknown as RecordingParts;
  executorCall(call, ongoing, parts);
  expect(reopened).toBe(0);
  ongoing.toolRun.beginAttempt();
  executorCall(call, ongoing, parts);
  expect(reopened).toBe(1);
});

test('PIPE-03.7 ORC-06 what a run changes is recorded under its lease, so that a later run of the call shares no place with it', async () => {
  const added: object[] = [];
  const written: unknown[] = [];
  const journal = { add: async (entry: object) => void added.push(entry) };
  const store = {
    read: async () => undefined,
    write: async ({ by }: { readonly by: object }) => {
      written.push(by);
      return 'written';
    },
  };
  const transactions = { journal, undoers: { file: {}, state: {} } };
  const clock = { now: () => 7, monotonic: () => 0 };
  const parts = { clock, instanceId: 'one', state: { store }, transactions } as unknown as RecordingParts;
  const resumed = { waiting: {}, hold: { fence: 3 } } as unknown as Resumed;
  const ongoing = newOngoingCall({ request: { tool_id: 't' }, caller: { door: 'library' } }, 0, false, resumed);
  ongoing.toolRun.beginAttempt();
  const { call } = made({}, manifest('t', { side_effect_policy: 'irreversible' }));
  const { undo, state } = executorCall(call, ongoing, parts);
  await undo?.record({ kind: 'file' });
  await state?.put('name', 1);
  const own = { tenantId: 'acme', invocationId: 'i', instanceId: 'one' };
  expect(added).toEqual([
    { ...own, position: 3 * 4_096, step: { kind: 'file' } },
    { ...own, position: 3 * 4_096 + 1, step: { kind: 'state', fence: 3, partial: true } },
  ]);
  expect(written).toMatchObject([{ invocationId: 'i', fence: 3 }]);
});

test('PIPE-03 a tool names only one that its token covers to take a change back, in this version', async () => {
  const claims = { tool_id: '*', tool_version: '^1.0.0', allowed_operations: ['execute'] };
  const { call } = made({ claims });
  const step = (version: string) => {
    const visible = { findById: async () => ({ tool: { manifest: manifest('undo', { version }) } }) };
    const parts = { visible, limits: { argumentDepthMax: 9, argumentBytesMax: 99 } };
    return compensatingStep(parts as never, call as never, { toolId: 'undo', parameters: {} });
  };
  expect(await step('1.2.0')).toMatchObject({ kind: 'call', request: { tool_id: 'undo' }, claims });
  await expect(step('2.0.0')).rejects.toMatchObject({ code: 'E3209' });
});

test('PIPE-06 while a person is asked the call holds no slot, and its silence is not counted', async () => {
  const did: string[] = [];
  const slot: AgentSlot = {
    free: () => undefined,
    without: async (work) => {
      did.push('let go');
      return work();
    },
  };
  const { ongoing, of } = made({ slot });
  const deadline = {
    asking: () => {
      did.push('asking');
      return { [Symbol.dispose]: () => void did.push('asked') };
    },
    progressed: () => void did.push('progress'),
  };
  ongoing.toolRun.begin(deadline as never);
  expect(await of.whileAsking?.(async () => 'yes, do')).toBe('yes, do');
  expect(did.splice(0)).toEqual(['asking', 'let go', 'asked']);
  const progress: unknown[] = [];
  const reported = made({ caller: { door: 'library', onProgress: (one: unknown) => void progress.push(one) } });
  reported.ongoing.toolRun.begin(deadline as never);
  reported.of.onProgress?.({ progress: 1 });
  expect([progress, reported.ongoing.toolRun.progress, did]).toEqual([
    [{ progress: 1 }],
    { progress: 1 },
    ['progress'],
  ]);
  expect(await made().of.whileAsking?.(async () => 'no slot')).toBe('no slot');
  reported.of.onUsage?.({ cpu_ms: 1 } as never);
  expect(reported.ongoing.toolRun.usage).toEqual({ cpu_ms: 1 });
});

describe('the stage that runs the tool', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
  afterEach(() => void vi.useRealTimers());

  /** A pipeline with one tool, which the test runs. */
  async function running(
    execute: Executor['execute'],
    own: Parameters<typeof manifest>[1] = {},
    changes: Parameters<typeof pipeline>[0] = {},
  ) {
    const begun = Promise.withResolvers<void>();
    const executor: Executor = {
      ...createNativeExecutor(),
      execute: (...of) => {
        begun.resolve();
        return execute(...of);
      },
    };
    const made = await pipeline({ executors: createCompositeExecutor([executor]), ...changes });
    await made.add(manifest('tool', own), () => undefined);
    const ended: unknown[] = [];
    const gone = new AbortController();
    const call = (more: object = {}) =>
      made.call({ tool_id: 'tool', parameters: { n: 1 }, ...more }, { signal: gone.signal }).then((record) => {
        ended.push([record.state, record.failure?.code ?? record.result]);
        return record;
      });
    return { ...made, begun: begun.promise, ended, gone, call };
  }
  const outcome = (result: unknown) => ({ result, usage: NO_USAGE });
  const after = <T>(ms: number, end: () => T) =>
    new Promise<T>((resolve, reject) => {
      setTimeout(() => {
        try {
          resolve(end());
        } catch (thrown) {
          reject(thrown);
        }
      }, ms);
    });

  test.each([true, false])(
    'PIPE-06.2 gives a cancelled run 5 s to stop, and then ends without it; cancelled as it begins: %s',
    async (atOnce) => {
      const made: Awaited<ReturnType<typeof running>> = await running(() => {
        if (atOnce) made.gone.abort();
        return new Promise(() => undefined);
      });
      const call = made.call();
      await made.begun;
      made.gone.abort();
      await vi.advanceTimersByTimeAsync(4_990);
      expect(made.ended).toEqual([]);
      await vi.advanceTimersByTimeAsync(20);
      await call;
      expect(made.ended).toEqual([['ABORTED', 'E3805']]);
    },
  );

  test('PIPE-06 lets a run that nobody stops take its time, and what comes after it too', async () => {
    const hooks = createHooks([
      { id: 'slow', at: 'after', run: () => after(3_000, () => ({ outcome: 'allow' as const })) },
    ]);
    const own = { execution_config: { default_timeout_seconds: 8 } };
    const made = await running(() => after(6_000, () => outcome('done')), own, { hooks });
    const call = made.call();
    await made.begun;
    await vi.advanceTimersByTimeAsync(8_900);
    expect(made.ended).toEqual([]);
    await vi.advanceTimersByTimeAsync(200);
    await call;
    expect(made.ended).toEqual([['COMPLETED', 'done']]);
  });

  test('PIPE-12.3 stops a tool that is silent for longer than its heartbeat; each attempt is silent anew', async () => {
    const own = { execution_config: { heartbeat_seconds: 1 } };
    const silent = await running((_call, signal) => {
      const { promise, reject } = Promise.withResolvers<never>();
      signal.addEventListener('abort', () => reject(new ToolLayerError('E3304', 'Not reachable.')));
      return promise;
    }, own);
    const call = silent.call();
    await silent.begun;
    await vi.advanceTimersByTimeAsync(990);
    expect(silent.ended).toEqual([]);
    await vi.advanceTimersByTimeAsync(20);
    expect(await call).toMatchObject({ state: 'ABORTED', failure: { code: 'E3103', details: { heartbeat_ms: 1000 } } });

    const retry_policy = { max_attempts: 2, base_delay_ms: 1, max_delay_ms: 1 };
    const second = Promise.withResolvers<void>();
    const again = await running(
      ({ attempt }) => {
        if (attempt === 2) second.resolve();
        return after(900, () => {
          if (attempt === 1) throw new ToolLayerError('E3304', 'Not reachable.');
          return outcome('done');
        });
      },
      { execution_config: { heartbeat_seconds: 1, retry_policy } },
    );
    const retried = again.call();
    await again.begun;
    await vi.advanceTimersByTimeAsync(950);
    await second.promise;
    await vi.advanceTimersByTimeAsync(910);
    await retried;
    expect(again.ended).toEqual([['COMPLETED', 'done']]);
  });

  test('PIPE-12 sets a call aside whose result a worker gets later; it has begun, and is not over', async () => {
    const execute = async () => ({ ...outcome(undefined), later: true as const });
    const made = await running(execute, {}, { workers: { refuses: () => undefined } });
    expect(await made.call()).toMatchObject({
      state: 'EXECUTING',
      waiting: { wait: { for: 'worker', confirmed: false } },
    });
  });

  test('STA-01 ends the checkpoints of a call that saved some and failed, also by its answer, and nothing of others', async () => {
    const noted: unknown[] = [];
    const made = await running(
      async ({ parameters, checkpoints }) => {
        if (parameters['n'] !== 2) for (const step of [1, 2]) await checkpoints?.save({ step });
        if (parameters['n'] !== 3) throw new ToolLayerError('E3108', 'The tool failed.');
        return outcome('no object');
      },
      { result_schema: { type: 'object' } },
    );
    vi.spyOn(made.parts.checkpoints, 'ended').mockImplementation(async (...of) => {
      await setImmediate();
      noted.push(of);
    });
    await made.call({ parameters: { n: 2 } });
    expect(noted).toEqual([]);
    for (const [n, code] of [
      [1, 'E3108'],
      [3, 'E3507'],
    ] as const) {
      const { invocationId, failure } = await made.call({ parameters: { n } });
      expect(failure?.code).toBe(code);
      expect(noted.splice(0)).toEqual([['acme', invocationId, false]]);
    }
  });
});
