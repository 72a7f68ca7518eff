import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { memoryCheckpointStore } from '../../../test/stores/outcomes/memory-checkpoint-store.ts';
import { memoryContextStore } from '../../../test/stores/outcomes/memory-context-store.ts';
import { memoryObjectStore } from '../../../test/stores/outcomes/memory-object-store.ts';
import { defaultsOf } from '../../domain/settings/setting.ts';
import type { EmbeddedServer } from '../../mcp-servers/embedded-server.port.ts';
import { createContextServer } from '../../reference-servers/context-server.ts';
import { CONTEXT_SERVER_DEFAULTS } from '../../reference-servers/context-settings.ts';
import { type Log, silentLog } from '../../telemetry/log.ts';
import { type Checkpoints, createCheckpoints, type OpenRun } from '../checkpoints.ts';
import { type ContextBridge, createContextBridge } from '../context.ts';
import { CHECKPOINT_DEFAULTS } from '../run/runs.fixture.ts';
import type { ContextAnswer, ContextServerCalls } from './context-server.port.ts';
import { CONTEXT_SETTINGS, type ContextSettings } from './settings.ts';

const OWNER = { tenantId: 'acme', agentDid: 'did:example:a', userDid: 'did:example:u' };
const { signal: SIGNAL } = new AbortController();
const clock = { now: () => 1_800_000_000_000, monotonic: () => passedMs };

type Answer = Readonly<Record<string, unknown>>;

let passedMs: number;
let server: EmbeddedServer;
let asked: string[];
let logged: { event: string; fields: Answer | undefined }[];
let bridge: ContextBridge;
let checkpoints: Checkpoints;

const log: Log = { ...silentLog, warn: (event, fields) => void logged.push({ event, fields }) };

beforeEach(() => {
  passedMs = 1;
  asked = [];
  logged = [];
  server = createContextServer({
    store: memoryContextStore(),
    clock,
    settings: CONTEXT_SERVER_DEFAULTS,
    onChanged() {},
  });
  open(reachable);
});

afterEach(() => bridge[Symbol.asyncDispose]());

const reachable: ContextServerCalls['call'] = (owner, tool, args) => {
  asked.push(tool);
  return server.call(tool, args, owner as typeof OWNER, SIGNAL);
};

function open(
  call: ContextServerCalls['call'],
  settings: Partial<ContextSettings> = {},
  store = memoryCheckpointStore(clock.now),
  has = (_tenantId: string): boolean => true,
): void {
  const all = { ...defaultsOf(CONTEXT_SETTINGS), ...settings };
  const parts = { server: { call, has }, store, instanceId: 'one', settings: all };
  bridge = createContextBridge({ ...parts, clock, log, pauseMs: 1, closeMs: 0 });
  const { listener } = bridge;
  const objects = memoryObjectStore();
  checkpoints = createCheckpoints({
    store,
    archive: store,
    objects,
    clock,
    log: silentLog,
    settings: CHECKPOINT_DEFAULTS,
    listener,
  });
}

const run = (invocationId: string): OpenRun =>
  checkpoints.ofRun({ invocationId, owner: OWNER, toolId: 'count', toolVersion: '1.0.0', onSaved: () => {} });

async function contextOf(taskId: string): Promise<Answer> {
  const { structuredContent } = await server.call('get_unified_context', { taskId }, OWNER, SIGNAL);
  return structuredContent as Answer;
}

describe('checkpoints of calls', () => {
  test('STA-04.1 the newest state of a call is the context of its task at the context server', async () => {
    const { save } = run('call-1').ofAttempt();
    await save({ step: 1 });
    const { checkpointId } = await save({ step: 2 }, { phase: 'parsing', progressPercent: 40 });
    await bridge.settled();
    const { immediateContext, checkpoints: named } = await contextOf('call-1');
    expect(immediateContext).toEqual({
      schema_version: '1.0',
      checkpoint_id: checkpointId,
      invocation_id: 'call-1',
      tool_id: 'count',
      tool_version: '1.0.0',
      checkpoint_type: 'micro',
      timestamp: '2027-01-15T08:00:00.000Z',
      state: {
        progress_percent: 40,
        phase: 'parsing',
        custom_state: { step: 2 },
        state_bytes: 10,
        state_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    });
    expect(named).toEqual([]);
  });

  test('STA-04.1 milestones and named checkpoints are checkpoints there, with the state that they name', async () => {
    const { save } = run('call-1').ofAttempt();
    await save({ step: 1 }, { milestone: 'parsed' });
    await save({ step: 2 }, { name: 'before the upload' });
    await save({ step: 3 });
    await bridge.settled();
    const { checkpoints: named } = (await contextOf('call-1')) as { checkpoints: Answer[] };
    expect(named.map(({ label, checkpointType }) => [label, checkpointType])).toEqual([
      ['before the upload', 'named'],
      ['parsed', 'macro'],
    ]);
    const target = { type: 'checkpoint', checkpointId: named[1]?.['checkpointId'] };
    const { structuredContent } = await server.call('rollback_to', { taskId: 'call-1', target }, OWNER, SIGNAL);
    expect(structuredContent).toMatchObject({ immediateContext: { state: { custom_state: { step: 1 } } } });
  });

  test('STA-04.1 a call that resumes from a milestone rolls the task back to it', async () => {
    const { save } = run('call-1').ofAttempt();
    const parsed = await save({ step: 1 }, { milestone: 'parsed' });
    await save({ step: 2 });
    const resuming = { invocationId: 'call-2', owner: OWNER, toolId: 'count', toolVersion: '1.0.0' };
    await checkpoints.resume(resuming, parsed.checkpointId, async () => true);
    await bridge.settled();
    expect(asked.filter((tool) => tool === 'rollback_to')).toHaveLength(1);
    const { immediateContext } = await contextOf('call-1');
    expect(immediateContext).toMatchObject({ checkpoint_id: parsed.checkpointId });
  });

  test('STA-04.1 nothing is rolled back to a state that has no checkpoint at the server', async () => {
    const { save } = run('call-1').ofAttempt();
    const micro = await save({ step: 1 });
    const resuming = { invocationId: 'call-2', owner: OWNER, toolId: 'count', toolVersion: '1.0.0' };
    await checkpoints.resume(resuming, micro.checkpointId, async () => true);
    await bridge.settled();
    expect(asked).toEqual(['save_context_snapshot']);
    for (const named of [undefined, 'none', [], [{ description: 'ckpt_other: x', checkpointId: 'a' }]]) {
      asked = [];
      open(async (_owner, tool) => {
        asked.push(tool);
        return { structuredContent: { immediateContext: {}, checkpoints: named } };
      });
      bridge.listener.resumed({ ...micro, lineId: 'call-1', type: 'macro', owner: OWNER } as never);
      await bridge.settled();
      expect([asked, logged]).toEqual([['get_unified_context'], []]);
    }
    open(async (_owner, tool) => {
      asked.push(tool);
      return { structuredContent: { checkpoints: [{ description: `${micro.checkpointId}: count`, checkpointId: 7 }] } };
    });
    bridge.listener.resumed({ ...micro, lineId: 'call-1', type: 'macro', owner: OWNER } as never);
    await bridge.settled();
    expect(asked).toEqual(['get_unified_context', 'get_unified_context']);
  });

  test('STA-04.1 a milestone says of which tool, version and phase it is', async () => {
    const { save } = run('call-1').ofAttempt();
    const one = await save({ step: 1 }, { milestone: 'parsed', phase: 'parsing' });
    const two = await save({ step: 2 }, { name: 'mine' });
    await bridge.settled();
    const { checkpoints: named } = (await contextOf('call-1')) as { checkpoints: Answer[] };
    expect(named.map(({ description }) => description)).toEqual([
      `${two.checkpointId}: count 1.0.0`,
      `${one.checkpointId}: count 1.0.0 at phase parsing`,
    ]);
  });

  test('STA-04.1 of a large state only size and hash are reported, of bytes too', async () => {
    open(reachable, { stateBytesMax: 1024 });
    await run('large')
      .ofAttempt()
      .save({ text: 'x'.repeat(1024) });
    await run('bytes').ofAttempt().save(Buffer.from('"\xff"', 'latin1'));
    await run('most')
      .ofAttempt()
      .save({ text: 'x'.repeat(1013) });
    await bridge.settled();
    for (const [taskId, size] of [
      ['large', 1035],
      ['bytes', 3],
    ] as const) {
      const { immediateContext } = (await contextOf(taskId)) as { immediateContext: { state: Answer } };
      expect(immediateContext.state).toEqual({ state_bytes: size, state_sha256: expect.any(String) });
    }
    expect(await contextOf('most')).toMatchObject({
      immediateContext: { state: { custom_state: {}, state_bytes: 1024 } },
    });
  });

  test('STA-04.1 of snapshots that wait only the newest one is sent', async () => {
    const { promise: gate, resolve } = Promise.withResolvers<void>();
    open(async (...given) => {
      await gate;
      return reachable(...given);
    });
    const { save } = run('call-1').ofAttempt();
    for (const step of [1, 2, 3, 4]) await save({ step });
    resolve();
    await bridge.settled();
    expect(asked).toEqual(['save_context_snapshot', 'save_context_snapshot']);
    const { immediateContext } = await contextOf('call-1');
    expect(immediateContext).toMatchObject({ state: { custom_state: { step: 4 } } });
  });

  test('STA-04.1 nothing is reported where there is no context server, or the operator wants none', async () => {
    open(reachable, {}, undefined, () => false);
    await run('call-1').ofAttempt().save({ step: 1 }, { milestone: 'parsed' });
    await bridge.settled();
    open(reachable, { reportsCheckpoints: false });
    await run('call-2').ofAttempt().save({ step: 1 }, { milestone: 'parsed' });
    await bridge.settled();
    expect([asked, logged]).toEqual([[], []]);
  });
});

describe('a context server that fails', () => {
  const unreachable = (): Promise<never> => Promise.reject(new ToolLayerError('E3310', 'It does not run.'));

  test('STA-04.1 a report is sent again when the server is back', async () => {
    let calls = 0;
    open((...given) => {
      calls += 1;
      return calls < 3 ? unreachable() : reachable(...given);
    });
    await run('call-1').ofAttempt().save({ step: 1 });
    await bridge.settled();
    expect(asked).toEqual(['save_context_snapshot']);
    expect(logged).toEqual([]);
  });

  test('STA-04.1 no checkpoint fails because of it; the log says what was not reported', async () => {
    open(unreachable);
    const { save } = run('call-1').ofAttempt();
    await save({ step: 1 });
    await bridge.settled();
    const fields = { task: 'call-1', tool: 'save_context_snapshot', code: 'E3310', tries: 5 };
    expect(logged).toEqual([{ event: 'context-report-failed', fields }]);
    await save({ step: 2 });
    expect((await checkpoints.list('acme', 'call-1', 9)).length).toBe(2);
  });

  test('STA-04.1 rubbish and refusals are final', async () => {
    const answers: ContextAnswer[] = [
      {},
      { content: [{ type: 'text', text: '{' }] },
      { structuredContent: 'no' },
      { content: ['no'] },
      { content: [{ type: 'image', data: '{}' }] },
      { structuredContent: {} },
      { structuredContent: { error: { e_code: 'E3704', message: 'secret' } }, isError: true },
      { content: [{ type: 'text', text: 'go away' }], isError: true },
    ];
    const codes = [...Array(6).fill('E3308'), 'E3704', 'E3701'];
    for (const [at, answer] of answers.entries()) {
      open(async () => answer);
      const session = bridge.sessionContext(OWNER, 'session-1');
      await expect(session).rejects.toMatchObject({ code: codes[at] });
      await expect(session).rejects.not.toMatchObject({ message: expect.stringContaining('secret') });
    }
  });

  test('STA-04.1 a server that gives no structured content answers in its text; a refusal is said in words of the layer', async () => {
    const text = JSON.stringify({ immediateContext: { project_id: 'p1' } });
    for (const more of [{}, { structuredContent: 'no' }]) {
      open(async () => ({ content: [{ type: 'text', text }], ...more }));
      expect(await bridge.sessionContext(OWNER, 'session-1')).toEqual({ project_id: 'p1' });
    }
    for (const [e_code, message] of [
      ['E3704', 'Another writer'],
      ['E3707', 'does not keep that version'],
      ['E3102', 'larger than'],
      ['E9999', 'refused the request'],
    ] as const) {
      open(async () => ({ structuredContent: { error: { e_code, message: 'of the server' } }, isError: true }));
      const code = e_code === 'E9999' ? 'E3701' : e_code;
      const refused = { code, message: expect.stringContaining(message) };
      await expect(bridge.sessionContext(OWNER, 'session-1')).rejects.toMatchObject(refused);
    }
  });

  test('STA-04.1 reports beyond the bound are dropped, and the log says so', async () => {
    const { promise: gate, resolve } = Promise.withResolvers<undefined>();
    open(() => gate, { reportsMax: 2 });
    for (const call of ['one', 'two', 'three']) await run(call).ofAttempt().save({ step: 1 });
    expect(logged).toEqual([{ event: 'context-report-dropped', fields: { task: 'three', code: 'E3701' } }]);
    resolve(undefined);
    await bridge.settled();
  });

  test('STA-04.1 what was not reported when the layer ended is reported after its next start, once', async () => {
    const store = memoryCheckpointStore(clock.now);
    const hangs: ContextServerCalls['call'] = (_owner, _tool, _args, { signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', reject));
    open(hangs, {}, store);
    const { save } = run('call-1').ofAttempt();
    await save({ step: 1 });
    await save({ step: 2 }, { milestone: 'parsed' });
    await save({ step: 3 });
    await save({ step: 4 });
    await bridge[Symbol.asyncDispose]();
    open(reachable, {}, store);
    await checkpoints.reportLeft();
    await bridge.settled();
    expect(asked).toEqual(['save_context_snapshot', 'create_checkpoint', 'save_context_snapshot']);
    expect(await contextOf('call-1')).toMatchObject({
      immediateContext: { state: { custom_state: { step: 4 } } },
      checkpoints: [{ label: 'parsed' }],
    });
    await checkpoints.reportLeft();
    expect(await store.unreported('one', 9)).toEqual([]);
  });

  test('STA-04.1 a report that was given up is left for the next start, one that the server refuses is not', async () => {
    const store = memoryCheckpointStore(clock.now);
    open(() => Promise.reject(new ToolLayerError('E3812', 'away')), {}, store);
    await run('call-1').ofAttempt().save({ step: 1 });
    await bridge.settled();
    expect(await store.unreported('one', 9)).toHaveLength(1);
    const refused = { structuredContent: { error: { e_code: 'E3102' } }, isError: true };
    open(async () => refused, {}, store);
    await checkpoints.reportLeft();
    await bridge.settled();
    expect(await store.unreported('one', 9)).toEqual([]);
  });

  test('STA-04.1 closing ends what is being sent, and says what was lost', async () => {
    open((_owner, _tool, _args, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', reject)));
    await run('call-1').ofAttempt().save({ step: 1 }, { milestone: 'parsed' });
    await bridge[Symbol.asyncDispose]();
    expect(logged).toContainEqual({ event: 'context-reports-dropped', fields: { reports: 2 } });
  });
});

describe('contexts of sessions', () => {
  const save = (owner: typeof OWNER, updates: Answer) =>
    server.call('save_context_snapshot', { taskId: 'session-1', updates }, owner, SIGNAL);

  test('STA-04.1 it is that of the task with the id of the session, for its owner alone', async () => {
    const other = { ...OWNER, userDid: 'did:example:v' };
    await save(OWNER, { project_id: 'p1' });
    expect(await bridge.sessionContext(OWNER, 'session-1')).toEqual({ project_id: 'p1' });
    expect(await bridge.sessionContext(other, 'session-1')).toBeUndefined();
    expect(await bridge.sessionContext(OWNER, 'session-2')).toBeUndefined();
  });

  test('EXT-04.2 it is remembered for five minutes', async () => {
    await save(OWNER, { project_id: 'p1' });
    await bridge.sessionContext(OWNER, 'session-1');
    await save(OWNER, { project_id: 'p2' });
    passedMs += 299_000;
    expect(await bridge.sessionContext(OWNER, 'session-1')).toEqual({ project_id: 'p1' });
    passedMs += 2_000;
    expect(await bridge.sessionContext(OWNER, 'session-1')).toEqual({ project_id: 'p2' });
  });

  test('EXT-04.2 what a tool does to it is not remembered', async () => {
    await save(OWNER, { project: { id: 'p1' } });
    for (let turn = 0; turn < 3; turn += 1) {
      const context = await bridge.sessionContext(OWNER, 'session-1');
      expect(context).toEqual({ project: { id: 'p1' } });
      Object.assign(context?.['project'] as object, { id: 'forged' });
    }
    expect(asked).toHaveLength(1);
  });

  test('EXT-04.2 it is remembered until it is changed here, while it is read too', async () => {
    expect(await bridge.sessionContext(OWNER, 'session-1')).toBeUndefined();
    await save(OWNER, { project_id: 'p1' });
    for (let turn = 0; turn < 3; turn += 1) await bridge.sessionContext(OWNER, 'session-1');
    expect(asked).toHaveLength(2);
    await save(OWNER, { project_id: 'p2' });
    expect(await bridge.sessionContext(OWNER, 'session-1')).toEqual({ project_id: 'p1' });
    bridge.forget({ ...OWNER, userDid: 'did:example:v' });
    expect(await bridge.sessionContext(OWNER, 'session-1')).toEqual({ project_id: 'p1' });
    bridge.forget(OWNER);
    expect(await bridge.sessionContext(OWNER, 'session-1')).toEqual({ project_id: 'p2' });
    open(async (...given) => {
      const answer = await reachable(...given);
      await save(OWNER, { project_id: 'p3' });
      bridge.forget(OWNER);
      return answer;
    });
    await bridge.sessionContext(OWNER, 'session-1');
    expect(await bridge.sessionContext(OWNER, 'session-1')).toEqual({ project_id: 'p3' });
  });

  test('EXT-04.2 nothing is remembered where the operator says so', async () => {
    open(reachable, { cacheMs: 0 });
    await save(OWNER, { project_id: 'p1' });
    for (let turn = 0; turn < 2; turn += 1) await bridge.sessionContext(OWNER, 'session-1');
    expect(asked).toHaveLength(2);
  });
});
