import { beforeEach, describe, expect, test } from 'vitest';
import { memoryCheckpointStore } from '../../../test/stores/outcomes/memory-checkpoint-store.ts';
import { memoryObjectStore } from '../../../test/stores/outcomes/memory-object-store.ts';
import { silentLog } from '../../telemetry/log.ts';
import type { CheckpointArchive } from '../checkpoint-archive.port.ts';
import type { CheckpointStore, StoredCheckpoint } from '../checkpoint-store.port.ts';
import { type CheckpointedRun, type Checkpoints, createCheckpoints, type OpenRun } from '../checkpoints.ts';
import type { CheckpointSettings } from '../settings.ts';
import { CHECKPOINT_DEFAULTS, isOver, large, noListener, run, stateOf } from './runs.fixture.ts';

const NOW = 1_800_000_000_000;

let store: CheckpointStore & CheckpointArchive;
let checkpoints: Checkpoints;

beforeEach(() => {
  store = memoryCheckpointStore(() => NOW);
  checkpoints = over(store);
});

const over = (given: CheckpointStore, settings: Partial<CheckpointSettings> = {}): Checkpoints =>
  createCheckpoints({
    store: given,
    archive: store,
    objects: memoryObjectStore(new Map()),
    clock: { now: () => NOW, monotonic: () => NOW },
    log: silentLog,
    settings: { ...CHECKPOINT_DEFAULTS, ...settings },
    listener: noListener,
  });

const opened = (invocationId: string, more: Partial<CheckpointedRun> = {}): OpenRun =>
  checkpoints.ofRun(run(invocationId, more));

describe('states of other versions', () => {
  const savedBy = async (toolVersion: string): Promise<string> =>
    (await opened('first', { toolVersion }).ofAttempt().save({ step: 1 })).checkpointId;
  const resumedBy = (toolVersion: string, checkpointId: string) =>
    checkpoints.resume(run('second', { toolVersion }), checkpointId, isOver);

  test.each([
    ['1.2.0', '1.9.9', true],
    ['1.9.0', '1.2.0', true],
    ['1.9.9', '2.0.0', false],
    ['2.0.0-beta.1', '1.0.0', false],
    ['0.3.1', '0.3.9', true],
    ['0.3.1', '0.4.0', false],
  ])('STA-03.5 what version %s of a tool saved, %s continues: %s', async (saving, resuming, continues) => {
    const checkpointId = await savedBy(saving);
    const resumed = resumedBy(resuming, checkpointId);
    if (continues) expect((await resumed).restored?.toolVersion).toBe(saving);
    else await expect(resumed).rejects.toMatchObject({ code: 'E3703', message: expect.stringContaining(saving) });
    // The work is not taken from the first call by a refused one.
    expect((await store.line('acme', 'first'))?.holder).toBe(continues ? 'second' : 'first');
  });

  test('STA-03.5 an interrupted call that runs again in another major version begins anew, and names what it passed over', async () => {
    const checkpointId = await savedBy('1.0.0');
    const from = await checkpoints.continuing(run('first', { toolVersion: '2.0.0' }));
    expect([from?.restored, from?.damaged]).toEqual([undefined, [checkpointId]]);
  });

  test('STA-03.5 a state in the form of a later release is not read', async () => {
    const checkpointId = await savedBy('1.0.0');
    checkpoints = over({
      ...store,
      find: async (tenantId, id) => {
        const found = await store.find(tenantId, id);
        return found === undefined ? undefined : { ...found, schemaVersion: '2.0' };
      },
    });
    await expect(resumedBy('1.0.0', checkpointId)).rejects.toMatchObject({ code: 'E3703' });
  });
});

describe('damaged checkpoints', () => {
  /** A store in which one bit of the states of some checkpoints is wrong. */
  function damaging(ids: ReadonlySet<string>): CheckpointStore {
    const flip = (bytes: Uint8Array): Uint8Array => Uint8Array.from(bytes, (byte, at) => (at === 3 ? byte ^ 1 : byte));
    const damaged = (one: StoredCheckpoint): StoredCheckpoint =>
      ids.has(one.checkpointId) && one.packed !== undefined && 'bytes' in one.packed
        ? { ...one, packed: { ...one.packed, bytes: flip(one.packed.bytes) } }
        : one;
    return {
      ...store,
      async find(tenantId, checkpointId) {
        const found = await store.find(tenantId, checkpointId);
        return found === undefined ? undefined : damaged(found);
      },
      ancestors: async (...asked) => (await store.ancestors(...asked)).map(damaged),
    };
  }

  test('STA-02.3 the newest one before it is taken, and it is named', async () => {
    const { save } = opened('call').ofAttempt();
    const saved = [await save({ step: 1 }), await save({ step: 2 }), await save({ step: 3 })];
    const [, second, third] = saved.map(({ checkpointId }) => checkpointId);
    const bad = new Set([second ?? '', third ?? '']);
    checkpoints = over(damaging(bad));
    const from = await checkpoints.continuing(run('call'));
    expect(stateOf(from?.restored)).toEqual({ step: 1 });
    expect(from?.damaged).toEqual([third, second]);
    const resumed = await checkpoints.resume(run('next'), third ?? '', isOver);
    expect([stateOf(resumed.restored), resumed.damaged]).toEqual([{ step: 1 }, [third, second]]);
  });

  test('STA-02.3 where none is left, a resume is E3703, and an interrupted call begins anew', async () => {
    const { checkpointId } = await opened('call').ofAttempt().save({ step: 1 });
    checkpoints = over(damaging(new Set([checkpointId])));
    await expect(checkpoints.resume(run('next'), checkpointId, isOver)).rejects.toMatchObject({ code: 'E3703' });
    await expect(checkpoints.read('acme', checkpointId)).rejects.toMatchObject({ code: 'E3703' });
    const from = await checkpoints.continuing(run('call'));
    expect([from?.restored, from?.damaged]).toEqual([undefined, [checkpointId]]);
  });

  test('STA-03.3 a damaged whole one makes the differences from it unreadable, those after the next whole one not', async () => {
    checkpoints = over(store, { deltasMax: 2 });
    const { save } = opened('call').ofAttempt();
    const ids: string[] = [];
    for (let step = 0; step < 4; step += 1) ids.push((await save(large(step))).checkpointId);
    checkpoints = over(damaging(new Set(ids.slice(0, 1))));
    for (const id of ids.slice(0, 3))
      await expect(checkpoints.read('acme', id)).rejects.toMatchObject({ code: 'E3703' });
    await checkpoints.read('acme', ids[3] ?? '');
  });
});
