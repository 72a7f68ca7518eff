import { deepEqual, equal } from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import type { ContextBounds, ContextCheckpointFacts, ContextStore, StoredContext } from './context-store.port.ts';

const OWNER = { tenantId: 'acme', agentDid: 'did:example:a', userDid: 'did:example:u' };
const { userDid: _user, ...AGENT_ALONE } = OWNER;
const OTHERS = [
  { ...OWNER, tenantId: 'other' },
  { ...OWNER, agentDid: 'did:example:b' },
  { ...OWNER, userDid: 'did:example:v' },
  AGENT_ALONE,
];
const BOUNDS: ContextBounds = { versionsMax: 3, checkpointsMax: 2, tasksMax: 2 };
const NOW = 1_800_000_000_000;

const stored = (version: number, more: Partial<StoredContext> = {}): StoredContext => ({
  taskId: 'task-1',
  version,
  change: 'saved',
  savedAt: NOW + version,
  context: { step: version },
  ...more,
});

const checkpoint = (checkpointId: string, version: number): ContextCheckpointFacts => ({
  checkpointId,
  taskId: 'task-1',
  version,
  label: 'parsed \ud800',
  type: 'named',
  createdAt: NOW + version,
});

/** Requirements of every ContextStore. `open` gives an empty one each time. */
export function contextStoreConformance(test: TestCase, adapter: string, open: OpenStore<ContextStore>): void {
  const check = casesOver(test, adapter, open);

  check('STA-04 a version comes back as it was stored, for its owner alone', async (store) => {
    const given = stored(1, { sessionId: 'a\0b', context: { text: 'é\0"', deep: { list: [1, null, 1e21] } } });
    equal(await store.put(OWNER, given, BOUNDS), 'stored');
    deepEqual(await store.newest(OWNER, 'task-1'), given);
    deepEqual(await store.version(OWNER, 'task-1', 1), given);
    equal(await store.newest(OWNER, 'task-2'), undefined);
    equal(await store.version(OWNER, 'task-1', 2), undefined);
    await store.addCheckpoint(OWNER, checkpoint('ckpt-1', 1), BOUNDS);
    for (const other of OTHERS) {
      equal(await store.newest(other, 'task-1'), undefined);
      equal(await store.version(other, 'task-1', 1), undefined);
      deepEqual(await store.versions(other, 'task-1', 9), []);
      deepEqual(await store.checkpoints(other, 'task-1', 9), []);
      equal(await store.checkpoint(other, 'task-1', 'ckpt-1'), undefined);
      equal(await store.addCheckpoint(other, checkpoint('theirs', 1), BOUNDS), 'gone');
      equal(await store.put(other, stored(1, { context: { mine: true } }), BOUNDS), 'stored');
    }
    deepEqual(await store.newest(OWNER, 'task-1'), given);
  });

  check('STA-04 of many that store the same version at once, one succeeds', async (store) => {
    const many = Array.from({ length: 8 }, (_, at) => store.put(OWNER, stored(1, { context: { at } }), BOUNDS));
    deepEqual((await Promise.all(many)).toSorted(), [...Array.from({ length: 7 }, () => 'stale'), 'stored']);
    equal(await store.put(OWNER, stored(3), BOUNDS), 'stale');
    equal(await store.put(OWNER, stored(2), BOUNDS), 'stored');
    equal(await store.put(OWNER, stored(2, { taskId: 'unknown' }), BOUNDS), 'stale');
    equal(await store.newest(OWNER, 'unknown'), undefined);
  });

  check('STA-04 what is stored of one task leaves those of other owners and tasks as they are', async (store) => {
    const others = [
      ...OTHERS.map((owner) => ({ owner, taskId: 'task-1' })),
      { owner: OWNER, taskId: 'task-0' },
      { owner: OWNER, taskId: 'task-2' },
    ];
    const bounds = { versionsMax: 1, checkpointsMax: 1, tasksMax: 3 };
    for (const { owner, taskId } of [...others, { owner: OWNER, taskId: 'task-1' }]) {
      equal(await store.put(owner, stored(1, { taskId }), bounds), 'stored');
      equal(await store.addCheckpoint(owner, { ...checkpoint(`of ${taskId}`, 1), taskId }, bounds), 'stored');
    }
    equal(await store.put(OWNER, stored(2), bounds), 'stored');
    equal(await store.version(OWNER, 'task-1', 1), undefined);
    for (const { owner, taskId } of others) {
      deepEqual(await store.version(owner, taskId, 1), stored(1, { taskId }));
      equal((await store.versions(owner, taskId, 9)).length, 1);
      equal(await store.put(owner, stored(2, { taskId }), bounds), 'stored');
    }
    equal(await store.checkpoint(OWNER, 'task-1', 'of task-2'), undefined);
  });

  check('STA-04 old versions are dropped, but checkpoints keep theirs', async (store) => {
    await store.put(OWNER, stored(1), BOUNDS);
    await store.put(OWNER, stored(2), BOUNDS);
    equal(await store.addCheckpoint(OWNER, checkpoint('ckpt-1', 1), BOUNDS), 'stored');
    for (const version of [3, 4, 5]) await store.put(OWNER, stored(version), BOUNDS);
    const kept = await store.versions(OWNER, 'task-1', 9);
    deepEqual(
      kept.map(({ version }) => version),
      [5, 4, 3],
    );
    equal('context' in (kept[0] ?? {}), false);
    deepEqual(await store.newest(OWNER, 'task-1'), stored(5));
    equal(await store.put(OWNER, stored(9), BOUNDS), 'stale');
    equal((await store.versions(OWNER, 'task-1', 9)).length, 3);
    deepEqual(await store.checkpoint(OWNER, 'task-1', 'ckpt-1'), { ...checkpoint('ckpt-1', 1), context: { step: 1 } });
    equal((await store.versions(OWNER, 'task-1', 2)).length, 2);
    equal(await store.addCheckpoint(OWNER, checkpoint('ckpt-2', 2), BOUNDS), 'gone');
  });

  check('STA-04 checkpoints are found by their task, newest first, and bounded', async (store) => {
    await store.put(OWNER, stored(1), BOUNDS);
    await store.put(OWNER, stored(2), BOUNDS);
    const first = { ...checkpoint('a\0b', 1), description: 'before the upload' };
    await store.addCheckpoint(OWNER, first, BOUNDS);
    await store.addCheckpoint(OWNER, checkpoint('ckpt-2', 2), BOUNDS);
    equal(await store.addCheckpoint(OWNER, checkpoint('ckpt-3', 2), BOUNDS), 'full');
    deepEqual(await store.checkpoints(OWNER, 'task-1', 9), [checkpoint('ckpt-2', 2), first]);
    deepEqual(await store.checkpoints(OWNER, 'task-1', 1), [checkpoint('ckpt-2', 2)]);
    deepEqual(await store.checkpoint(OWNER, 'task-1', 'a\0b'), { ...first, context: { step: 1 } });
    equal(await store.checkpoint(OWNER, 'task-1', 'unknown'), undefined);
    equal(await store.checkpoint(OWNER, 'task-2', 'ckpt-2'), undefined);
  });

  check('STA-04 an owner has so many tasks and no more', async (store) => {
    equal(await store.put(OWNER, stored(1, { taskId: 'one' }), BOUNDS), 'stored');
    equal(await store.put(OWNER, stored(1, { taskId: 'two' }), BOUNDS), 'stored');
    equal(await store.put(OWNER, stored(1, { taskId: 'three' }), BOUNDS), 'full');
    equal(await store.put(OWNER, stored(2, { taskId: 'two' }), BOUNDS), 'stored');
    equal(await store.put({ ...OWNER, userDid: 'did:example:v' }, stored(1, { taskId: 'three' }), BOUNDS), 'stored');
  });

  check(
    'STA-04 tasks that nobody has changed for long are forgotten, but not those with a named checkpoint',
    async (store) => {
      const bounds = { ...BOUNDS, tasksMax: 9 };
      for (const taskId of ['old', 'named', 'milestone']) await store.put(OWNER, stored(1, { taskId }), bounds);
      await store.put(OWNER, stored(1, { taskId: 'new', savedAt: NOW + 100 }), bounds);
      await store.addCheckpoint(OWNER, { ...checkpoint('ckpt-1', 1), taskId: 'named' }, bounds);
      await store.addCheckpoint(OWNER, { ...checkpoint('ckpt-2', 1), taskId: 'milestone', type: 'macro' }, bounds);
      equal(await store.forget(NOW + 50, 1), 1);
      equal(await store.forget(NOW + 50, 9), 1);
      equal(await store.forget(NOW + 50, 9), 0);
      equal(await store.newest(OWNER, 'old'), undefined);
      deepEqual(await store.checkpoints(OWNER, 'milestone', 9), []);
      deepEqual((await store.newest(OWNER, 'named'))?.version, 1);
      deepEqual((await store.newest(OWNER, 'new'))?.version, 1);
    },
  );

  check('STA-04 the oldest task of an owner makes room, unless it has a named checkpoint', async (store) => {
    const bounds = { ...BOUNDS, tasksMax: 9 };
    const tasks = { 'task-3': 3, named: 0, 'task-1': 1, 'task-2': 2 };
    for (const other of OTHERS) await store.put(other, stored(1, { savedAt: NOW - 9 }), bounds);
    for (const [taskId, at] of Object.entries(tasks))
      await store.put(OWNER, stored(1, { taskId, savedAt: NOW + at }), bounds);
    await store.addCheckpoint(OWNER, { ...checkpoint('ckpt-1', 1), taskId: 'named' }, bounds);
    await store.addCheckpoint(OWNER, { ...checkpoint('ckpt-2', 1), taskId: 'task-1', type: 'macro' }, bounds);
    await store.addCheckpoint(AGENT_ALONE, checkpoint('ckpt-1', 1), bounds);
    await store.put({ ...OWNER, tenantId: 'other' }, stored(1, { taskId: 'named', savedAt: NOW - 9 }), bounds);
    const left = async () => {
      const found = await Promise.all(Object.keys(tasks).map((taskId) => store.newest(OWNER, taskId)));
      return found.flatMap((one) => one?.taskId ?? []);
    };
    for (const expected of [['task-3', 'named', 'task-2'], ['task-3', 'named'], ['named']]) {
      equal(await store.forgetOldest(OWNER), true);
      deepEqual(await left(), expected);
    }
    equal(await store.forgetOldest(OWNER), false);
    for (const other of OTHERS) equal((await store.newest(other, 'task-1'))?.version, 1);
    equal(await store.forget(NOW, 9), OTHERS.length);
    equal((await store.newest(AGENT_ALONE, 'task-1'))?.version, 1);
  });
}
