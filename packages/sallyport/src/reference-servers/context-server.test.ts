import { KiB } from '@sallyport/std/bytes';
import { beforeEach, describe, expect, test } from 'vitest';
import { memoryContextStore } from '../../test/stores/outcomes/memory-context-store.ts';
import type { EmbeddedServer } from '../mcp-servers/embedded-server.port.ts';
import { CONTEXT_OVERRIDES, createContextServer } from './context-server.ts';
import { CONTEXT_SERVER_DEFAULTS, type ContextServerSettings } from './context-settings.ts';

const OWNER = { tenantId: 'acme', agentDid: 'did:example:a', userDid: 'did:example:u' };

const { signal: SIGNAL } = new AbortController();

let now: number;
let server: EmbeddedServer;

beforeEach(() => {
  now = 1_800_000_000_000;
  server = serverWith({});
});

const serverWith = (settings: Partial<ContextServerSettings>): EmbeddedServer =>
  createContextServer({
    store: memoryContextStore(),
    clock: { now: () => now, monotonic: () => now },
    settings: { ...CONTEXT_SERVER_DEFAULTS, ...settings },
    onChanged() {},
  });

type Answer = Readonly<Record<string, unknown>>;

async function ask(tool: string, args: Answer, owner = OWNER): Promise<Answer> {
  const { structuredContent, isError } = await server.call(tool, args, owner, SIGNAL);
  expect(isError, JSON.stringify(structuredContent)).toBeUndefined();
  return structuredContent as Answer;
}

async function refusal(tool: string, args: Answer, owner = OWNER): Promise<Answer> {
  const { structuredContent, isError, content } = await server.call(tool, args, owner, SIGNAL);
  expect(isError).toBe(true);
  const { error } = structuredContent as { error: Answer };
  expect((content as { text: string }[])[0]?.text).toBe(`${String(error['e_code'])}: ${String(error['message'])}`);
  return error;
}

const save = (updates: Answer, more: Answer = {}): Promise<Answer> =>
  ask('save_context_snapshot', { taskId: 'task', updates, ...more });
const contextOf = async (taskId = 'task'): Promise<unknown> =>
  (await ask('get_unified_context', { taskId }))['immediateContext'];

test('STA-04 each tool says what it leaves behind, as the layer takes it for granted, and only changes are published', async () => {
  const changed: unknown[] = [];
  const clock = { now: () => now, monotonic: () => now };
  const store = memoryContextStore();
  const own = createContextServer({
    store,
    clock,
    settings: CONTEXT_SERVER_DEFAULTS,
    onChanged: (by) => changed.push(by),
  });
  const policies = Object.fromEntries(
    Object.entries(CONTEXT_OVERRIDES).map(([name, { side_effect_policy }]) => [name, side_effect_policy]),
  );
  expect(policies).toEqual({
    detect_conflicts: 'pure',
    get_unified_context: 'pure',
    save_context_snapshot: 'idempotent',
    create_checkpoint: 'irreversible',
    rollback_to: 'idempotent',
    switch_task: 'idempotent',
  });
  for (const { name, annotations } of own.tools)
    expect(annotations, name).toMatchObject({
      readOnlyHint: policies[name] === 'pure',
      idempotentHint: policies[name] !== 'irreversible',
    });
  await own.call('get_unified_context', { taskId: 'task' }, OWNER, SIGNAL);
  expect(changed).toEqual([]);
  await own.call('save_context_snapshot', { taskId: 'task', updates: { a: 1 } }, OWNER, SIGNAL);
  expect(changed).toEqual([OWNER]);
});

describe('snapshots', () => {
  test('STA-04.1 updates replace members, null removes one, all others stay', async () => {
    expect(await save({ step: 1, owner: { name: 'Ada', team: 'core' } })).toMatchObject({ taskId: 'task', version: 1 });
    await save({ step: 2, owner: { name: 'Bob' }, note: 'x' }, { syncToFile: false });
    expect(await save({ note: null })).toMatchObject({ version: 3 });
    expect(await contextOf()).toEqual({ step: 2, owner: { name: 'Bob' } });
    expect(await refusal('get_unified_context', { taskId: 'other' })).toMatchObject({ e_code: 'E3702' });
  });

  test('STA-04.1 a member with the name of a prototype is a member like any other', async () => {
    await save(JSON.parse('{"__proto__":{"isAdmin":true},"constructor":1}') as Answer);
    const context = (await contextOf()) as Answer;
    expect(Object.keys(context).toSorted()).toEqual(['__proto__', 'constructor']);
    expect(context['isAdmin']).toBeUndefined();
    expect(
      await refusal('save_context_snapshot', { taskId: 'task', updates: { toString: 1 }, baseVersion: 9 }),
    ).toMatchObject({ e_code: 'E3801' });
  });

  test('STA-04.1 a context has a largest size, an owner a largest number of tasks', async () => {
    server = serverWith({ contextBytesMax: KiB, tasksMax: 1 });
    await save({ text: 'x'.repeat(KiB - '{"text":""}'.length) });
    const more = { taskId: 'task', updates: { text: 'x'.repeat(KiB - '{"text":""}'.length + 1) } };
    expect(await refusal('save_context_snapshot', more)).toMatchObject({
      e_code: 'E3102',
      details: { limit: 'context.bytes_max', max: KiB },
    });
    await ask('save_context_snapshot', { taskId: 'second', updates: {} });
    expect(await refusal('get_unified_context', { taskId: 'task' })).toMatchObject({ e_code: 'E3702' });
    await ask('create_checkpoint', { taskId: 'second', label: 'kept' });
    expect(await refusal('save_context_snapshot', { taskId: 'third', updates: {} })).toMatchObject({
      details: { limit: 'context.tasks_max' },
    });
  });

  test('STA-04 what is another owner’s is unknown', async () => {
    await save({ step: 1 });
    const { checkpointId } = await ask('create_checkpoint', { taskId: 'task', label: 'parsed' });
    for (const other of [
      { ...OWNER, tenantId: 'other' },
      { ...OWNER, agentDid: 'did:example:b' },
      { ...OWNER, userDid: 'did:example:v' },
    ]) {
      expect(await refusal('get_unified_context', { taskId: 'task' }, other)).toMatchObject({ e_code: 'E3702' });
      const target = { type: 'checkpoint', checkpointId };
      expect(await refusal('rollback_to', { taskId: 'task', target }, other)).toMatchObject({ e_code: 'E3702' });
    }
  });

  test('STA-04 arguments that do not fit are refused before anything is read', async () => {
    for (const [tool, args] of [
      ['save_context_snapshot', { taskId: 'task' }],
      ['save_context_snapshot', { taskId: 'task', updates: [] }],
      ['save_context_snapshot', { taskId: 'task', updates: {}, syncToFile: true }],
      ['save_context_snapshot', { taskId: '', updates: {} }],
      ['rollback_to', { taskId: 'task', target: { type: 'checkpoint' } }],
      ['rollback_to', { taskId: 'task', target: { type: 'version', version: 0 } }],
      ['create_checkpoint', { taskId: 'task', label: 'x', checkpointType: 'huge' }],
      ['forget_everything', {}],
    ] as const)
      await expect(server.call(tool, args, OWNER, SIGNAL)).rejects.toMatchObject({ code: 'E3309' });
  });
});

describe('checkpoints and rollback', () => {
  test('STA-04.1 a rollback is a new version, also along a chain and back again', async () => {
    const ids: unknown[] = [];
    for (const step of [1, 2, 3]) {
      await save({ step });
      ids.push((await ask('create_checkpoint', { taskId: 'task', label: `step ${step}` }))['checkpointId']);
    }
    const to = (at: number) =>
      ask('rollback_to', { taskId: 'task', target: { type: 'checkpoint', checkpointId: ids[at] } });
    expect(await to(0)).toEqual({ taskId: 'task', version: 4, restoredVersion: 1, immediateContext: { step: 1 } });
    expect(await to(2)).toMatchObject({ version: 5, immediateContext: { step: 3 } });
    expect(await to(1)).toMatchObject({ version: 6, immediateContext: { step: 2 } });
    const back = await ask('rollback_to', { taskId: 'task', target: { type: 'version', version: 4 } });
    expect(back).toMatchObject({ version: 7, immediateContext: { step: 1 } });
    const { checkpoints, versionHistory } = await ask('get_unified_context', {
      taskId: 'task',
      includeVersionHistory: true,
    });
    expect((checkpoints as Answer[]).map(({ label }) => label)).toEqual(['step 3', 'step 2', 'step 1']);
    expect((versionHistory as Answer[]).map(({ change }) => change)).toEqual([
      ...Array.from({ length: 4 }, () => 'rolled_back'),
      ...Array.from({ length: 3 }, () => 'saved'),
    ]);
  });

  test('STA-04.1 a checkpoint outlives the versions that are dropped', async () => {
    server = serverWith({ versionsMax: 2 });
    await save({ step: 1 });
    const { checkpointId } = await ask('create_checkpoint', { taskId: 'task', label: 'first', description: 'a start' });
    for (const step of [2, 3, 4]) await save({ step });
    expect(await refusal('rollback_to', { taskId: 'task', target: { type: 'version', version: 1 } })).toMatchObject({
      e_code: 'E3707',
    });
    const target = { type: 'checkpoint', checkpointId };
    expect(await ask('rollback_to', { taskId: 'task', target })).toMatchObject({ immediateContext: { step: 1 } });
  });

  test('STA-04.1 a rollback to what is unknown changes nothing', async () => {
    await save({ step: 1 });
    const targets = { checkpoint: { checkpointId: 'ctx_unknown' }, version: { version: 2 } };
    for (const [type, rest] of Object.entries(targets)) {
      const error = await refusal('rollback_to', { taskId: 'task', target: { type, ...rest } });
      expect(error['e_code']).toBe(type === 'checkpoint' ? 'E3702' : 'E3801');
    }
    expect(await refusal('create_checkpoint', { taskId: 'other', label: 'x' })).toMatchObject({ e_code: 'E3702' });
    expect(await ask('get_unified_context', { taskId: 'task' })).toMatchObject({ version: 1 });
  });

  test('STA-04.1 a task has so many checkpoints and no more', async () => {
    server = serverWith({ checkpointsMax: 1 });
    await save({ step: 1 });
    await ask('create_checkpoint', { taskId: 'task', label: 'one' });
    expect(await refusal('create_checkpoint', { taskId: 'task', label: 'two' })).toMatchObject({ e_code: 'E3102' });
  });
});

describe('unified context', () => {
  test('STA-04.1 it names sessions, documents and checkpoints of the task', async () => {
    await save({ document_versions: { 'spec:a': '3', broken: 7 } }, { sessionId: 'monday' });
    now += 1000;
    await save({ step: 1 }, { sessionId: 'tuesday' });
    await save({ step: 2 }, { sessionId: 'monday' });
    await ask('create_checkpoint', { taskId: 'task', label: 'half', checkpointType: 'macro' });
    expect(await ask('get_unified_context', { taskId: 'task' })).toEqual({
      taskId: 'task',
      version: 3,
      updatedAt: '2027-01-15T08:00:01.000Z',
      immediateContext: { document_versions: { 'spec:a': '3', broken: 7 }, step: 2 },
      sessions: [
        { sessionId: 'monday', lastSavedAt: '2027-01-15T08:00:01.000Z' },
        { sessionId: 'tuesday', lastSavedAt: '2027-01-15T08:00:01.000Z' },
      ],
      documents: [{ documentId: 'spec:a', version: '3' }],
      checkpoints: [expect.objectContaining({ label: 'half', checkpointType: 'macro', version: 3 })],
    });
  });
});

describe('two writers', () => {
  test('STA-04.2 the second one is refused with the members that differ, and others are merged', async () => {
    await save({ step: 1, owner: 'Ada', note: 'a' });
    await save({ step: 2, owner: 'Bob' }, { baseVersion: 1 });
    const late = { taskId: 'task', updates: { step: 5, owner: 'Bob', note: 'b' }, baseVersion: 1 };
    expect(await refusal('save_context_snapshot', late)).toMatchObject({
      e_code: 'E3704',
      message: expect.stringContaining('step'),
      details: { base_version: 1, current_version: 2, fields: ['step'] },
    });
    expect(await ask('detect_conflicts', late)).toEqual({
      taskId: 'task',
      baseVersion: 1,
      currentVersion: 2,
      hasConflicts: true,
      conflicts: [{ field: 'step', base: 1, current: 2, yours: 5 }],
    });
    expect(await save({ note: 'b' }, { baseVersion: 1 })).toMatchObject({ version: 3 });
    expect(await contextOf()).toEqual({ step: 2, owner: 'Bob', note: 'b' });
  });

  test('STA-04.2 without updates every change is named, removals too', async () => {
    await save({ kept: 1, gone: 1 });
    await save({ gone: null, made: [1] });
    const { conflicts } = await ask('detect_conflicts', { taskId: 'task', baseVersion: 1 });
    expect(conflicts).toEqual([
      { field: 'gone', base: 1 },
      { field: 'made', current: [1] },
    ]);
    const removing = { taskId: 'task', baseVersion: 1, updates: { gone: null } };
    expect(await ask('detect_conflicts', removing)).toMatchObject({ hasConflicts: false });
    expect(await ask('detect_conflicts', { taskId: 'new', baseVersion: 0 })).toMatchObject({ currentVersion: 0 });
  });

  test('STA-04.2 of many that save at once on one version, one succeeds where they meet', async () => {
    await save({ step: 0 });
    const saves = Array.from({ length: 8 }, (_, at) =>
      server.call(
        'save_context_snapshot',
        { taskId: 'task', updates: { step: at + 1 }, baseVersion: 1 },
        OWNER,
        SIGNAL,
      ),
    );
    expect((await Promise.all(saves)).filter(({ isError }) => isError !== true)).toHaveLength(1);
    const apart = Array.from({ length: 8 }, (_, at) => save({ [`own${at}`]: at }, { baseVersion: 2 }));
    await Promise.all(apart);
    expect(Object.keys((await contextOf()) as Answer)).toHaveLength(9);
  });

  test('STA-04.2 a rollback on an old version is refused too', async () => {
    await save({ step: 1 });
    await save({ step: 2 });
    const target = { type: 'version', version: 1 };
    expect(await refusal('rollback_to', { taskId: 'task', target, baseVersion: 1 })).toMatchObject({
      e_code: 'E3704',
      details: { fields: ['step'] },
    });
    await ask('rollback_to', { taskId: 'task', target, baseVersion: 2 });
  });
});

describe('switching tasks', () => {
  test('STA-04.2 the one is saved and the other loaded; a new one is empty', async () => {
    await ask('save_context_snapshot', { taskId: 'invoices', updates: { done: 3 } });
    const { saved, loaded } = await ask('switch_task', {
      fromTaskId: 'task',
      toTaskId: 'invoices',
      updates: { step: 4 },
      sessionId: 'monday',
    });
    expect(saved).toMatchObject({ taskId: 'task', version: 1 });
    expect(loaded).toMatchObject({ taskId: 'invoices', version: 1, immediateContext: { done: 3 } });
    expect(await contextOf()).toEqual({ step: 4 });
    const begun = await ask('switch_task', { toTaskId: 'letters' });
    expect(begun).toEqual({ loaded: expect.objectContaining({ version: 0, immediateContext: {} }) });
  });

  test('STA-04.2 a conflict in the task that is left is an error', async () => {
    await save({ step: 1 });
    await save({ step: 2 });
    const stale = { fromTaskId: 'task', toTaskId: 'letters', updates: { step: 9 }, baseVersion: 1 };
    expect(await refusal('switch_task', stale)).toMatchObject({ e_code: 'E3704' });
    expect(await refusal('switch_task', { toTaskId: 'letters', updates: {} })).toMatchObject({ e_code: 'E3801' });
  });
});
