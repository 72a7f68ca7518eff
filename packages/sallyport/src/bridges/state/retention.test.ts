import { randomBytes } from 'node:crypto';
import { KiB, MiB } from '@sallyport/std/bytes';
import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { beforeEach, describe, expect, test } from 'vitest';
import { memoryCheckpointStore } from '../../../test/stores/outcomes/memory-checkpoint-store.ts';
import { memoryObjectStore } from '../../../test/stores/outcomes/memory-object-store.ts';
import type { CheckpointNote } from '../../domain/checkpoint/checkpoint.ts';
import { type Log, silentLog } from '../../telemetry/log.ts';
import type { CheckpointArchive } from '../checkpoint-archive.port.ts';
import type { CheckpointStore } from '../checkpoint-store.port.ts';
import { type Checkpoints, createCheckpoints } from '../checkpoints.ts';
import { IN_ARCHIVE, type ObjectStore } from '../object-store.port.ts';
import { createRetention, type Retention } from '../retention.ts';
import { CHECKPOINT_DEFAULTS, noListener } from '../run/runs.fixture.ts';
import type { CheckpointSettings } from '../settings.ts';

const DAY_MS = 86_400_000;
const HALF = { milestone: 'half' };
const always = async (): Promise<boolean> => true;
const never = (): boolean => false;

let now: number;
let store: CheckpointStore & CheckpointArchive;
let held: Map<string, Uint8Array>;
let objects: ObjectStore;
let checkpoints: Checkpoints;
let retention: Retention;
let logged: [event: string, fields: unknown][];
const clock: Clock = { now: () => now, monotonic: () => now };

beforeEach(() => {
  now = 1_800_000_000_000;
  store = memoryCheckpointStore(() => now);
  [held, logged] = [new Map(), []];
  objects = memoryObjectStore(held);
  build();
});

function build(settings: Partial<CheckpointSettings> = {}, given: Partial<ObjectStore> = {}): void {
  const log: Log = {
    ...silentLog,
    info: (event, fields) => void logged.push([event, fields]),
    warn: (event, fields) => void logged.push([event, fields]),
  };
  const parts = { store, archive: store, objects: { ...objects, ...given }, clock, log, listener: noListener };
  checkpoints = createCheckpoints({ ...parts, settings: { ...CHECKPOINT_DEFAULTS, ...settings } });
  retention = createRetention(parts);
}

const full = async (): Promise<never> => {
  throw new ToolLayerError('E3823', 'The object store could not store an object: the disk is full.');
};

async function saved(state: unknown, note: CheckpointNote = {}, call = 'call', tenantId = 'acme'): Promise<string> {
  const owner = { tenantId, agentDid: 'did:example:a' };
  const run = checkpoints.ofRun({ invocationId: call, owner, toolId: 'work', toolVersion: '1.0.0', onSaved: () => {} });
  return (await run.ofAttempt().save(state, note)).checkpointId;
}

const read = async (checkpointId: string, tenantId = 'acme'): Promise<Uint8Array> =>
  (await checkpoints.read(tenantId, checkpointId)).state;
const namesOf = (): readonly string[] => [...held.keys()].map((name) => name.split('/')[0] ?? '');

const RUN = {
  ...{ invocationId: 'call', toolId: 'work', toolVersion: '1.0.0' },
  owner: { tenantId: 'acme', agentDid: 'did:example:a' },
};

describe('large states', () => {
  test('STA-03.4 below 1 MB a state is in its row, from there on it is an object of its tenant', async () => {
    const small = randomBytes(MiB - 4 * KiB);
    const large = randomBytes(MiB);
    const inRow = await saved(small);
    expect(namesOf()).toEqual([]);
    const outside = await saved(large, HALF, 'other', 'Acme GmbH & Söhne/..');
    expect(namesOf()).toEqual([expect.stringMatching(/^_[0-9a-f]{40}$/)]);
    expect((await store.find('Acme GmbH & Söhne/..', outside))?.packed).not.toHaveProperty('bytes');
    expect(Buffer.from(await read(inRow)).equals(small)).toBe(true);
    expect(Buffer.from(await read(outside, 'Acme GmbH & Söhne/..')).equals(large)).toBe(true);
  });

  test('STA-03.4 a missing or changed object is a damaged checkpoint: the one before it is taken', async () => {
    const run = checkpoints.ofRun({ ...RUN, onSaved: () => {} });
    const { save } = run.ofAttempt();
    const first = await save({ step: 1 });
    const second = await save(randomBytes(MiB), HALF);
    const [[name, bytes] = ['', new Uint8Array()]] = held;
    held.set(
      name,
      Uint8Array.from(bytes, (byte, at) => (at === 9 ? byte ^ 1 : byte)),
    );
    await expect(read(second.checkpointId)).rejects.toMatchObject({ code: 'E3703' });
    held.delete(name);
    await expect(read(second.checkpointId)).rejects.toMatchObject({ code: 'E3703' });
    const from = await checkpoints.continuing(RUN);
    expect([from?.restored?.checkpointId, from?.damaged]).toEqual([first.checkpointId, [second.checkpointId]]);
  });

  test('STA-03.4 an object store that is away is no damage: the resume fails, and can be tried again', async () => {
    const large = await saved(randomBytes(MiB));
    build({}, { get: full });
    await expect(read(large)).rejects.toMatchObject({ code: 'E3823' });
    await expect(checkpoints.continuing(RUN)).rejects.toMatchObject({ code: 'E3823' });
  });

  test('STA-03.4 a full object store refuses the checkpoint with E3701; the run goes on, and small ones are saved', async () => {
    build({}, { put: full });
    const run = checkpoints.ofRun({ ...RUN, onSaved: () => {} });
    const { save } = run.ofAttempt();
    await expect(save(randomBytes(MiB))).rejects.toMatchObject({
      code: 'E3701',
      message: expect.stringContaining('full'),
    });
    await save({ step: 1 });
    expect(await checkpoints.list('acme', 'call', 9)).toHaveLength(1);
    // A fault of the database is none of the object store.
    build({}, { put: () => Promise.reject(new ToolLayerError('E3812', 'Away.')) });
    const other = checkpoints.ofRun({ ...RUN, invocationId: 'other', onSaved: () => {} }).ofAttempt();
    await expect(other.save(randomBytes(MiB))).rejects.toMatchObject({ code: 'E3812' });
  });

  test('STA-03.4 the object of a removed checkpoint is removed, and one whose layer was killed before its row', async () => {
    const large = await saved(randomBytes(MiB));
    await saved(randomBytes(MiB), HALF, 'other');
    // Killed between object and row.
    await store.announce({ tenantId: 'acme', name: 'acme/orphan' }, now + 1000);
    held.set('acme/orphan', new Uint8Array(1));
    await checkpoints.remove('acme', large);
    await retention.expire(never);
    expect(held.size).toBe(2);
    now += 1000;
    await retention.expire(never);
    expect([held.size, held.has('acme/orphan')]).toEqual([1, false]);
    expect(await store.unused(9)).toEqual([]);
  });

  test('STA-03.4 an object that could not be removed is removed in a later turn', async () => {
    await checkpoints.remove('acme', await saved(randomBytes(MiB)));
    build({}, { remove: full });
    await expect(retention.expire(never)).rejects.toMatchObject({ code: 'E3823' });
    build();
    await retention.expire(never);
    expect(held.size).toBe(0);
  });
});

describe('the archive', () => {
  test('STA-06.3 a milestone is archived after its time, not before, and read from there as ever', async () => {
    const macro = await saved({ step: 1 }, HALF);
    const named = await saved({ step: 2 }, { name: 'kept' }, 'other');
    now += 90 * DAY_MS - 1;
    await retention.archive(always);
    expect(held.size).toBe(0);
    now += 1;
    await retention.archive(always);
    expect([...held.values()].map((bytes) => Buffer.from(bytes).toString())).toEqual(['{"step":1}']);
    const facts = await checkpoints.find('acme', macro);
    expect(facts).toMatchObject({ archivedAt: now, expiresAt: now + 2557 * DAY_MS });
    expect(Buffer.from(await read(macro)).toString()).toBe('{"step":1}');
    expect((await checkpoints.find('acme', named))?.archivedAt).toBeUndefined();
    expect((await checkpoints.list('acme', 'call', 9)).map(({ checkpointId }) => checkpointId)).toEqual([macro]);
  });

  test('STA-06.3 after 7 years in the archive it has expired, and its object is removed', async () => {
    const macro = await saved({ step: 1 }, HALF);
    now += 90 * DAY_MS;
    await retention.archive(always);
    now += 2557 * DAY_MS - 1;
    await read(macro);
    now += 1;
    await expect(read(macro)).rejects.toMatchObject({ code: 'E3707' });
    await retention.expire(never);
    expect(held.size).toBe(0);
  });

  test('STA-06.3 without an archive it expires after its time in the database', async () => {
    build({ archiveKeptMs: 0 });
    const macro = await saved({ step: 1 }, HALF);
    now += 90 * DAY_MS;
    await retention.archive(always);
    await retention.expire(never);
    expect(held.size).toBe(0);
    await expect(read(macro)).rejects.toMatchObject({ code: 'E3707' });
  });

  test('STA-06.2 milestones of a failed run are kept 30 days, and never archived', async () => {
    const macro = await saved({ step: 1 }, HALF);
    await checkpoints.ended('acme', 'call', false);
    now += 30 * DAY_MS - 1;
    await read(macro);
    now += 1;
    await retention.expire(never);
    await expect(read(macro)).rejects.toMatchObject({ code: 'E3707' });
    now += 90 * DAY_MS;
    await retention.archive(always);
    expect(held.size).toBe(0);
  });

  test('STA-06.3 a full disk loses nothing: the state stays in the database until it is archived', async () => {
    const macro = await saved({ step: 1 }, HALF);
    now += 90 * DAY_MS;
    build({}, { put: full });
    await expect(retention.archive(always)).rejects.toMatchObject({ code: 'E3823' });
    expect(Buffer.from(await read(macro)).toString()).toBe('{"step":1}');
    build();
    await retention.archive(always);
    expect((await checkpoints.find('acme', macro))?.archivedAt).toBe(now);
  });

  test('STA-06.3 an archiving that was cut off between object and row begins anew, and leaves no second object', async () => {
    const macro = await saved({ step: 1 }, HALF);
    now += 90 * DAY_MS;
    const { move } = store;
    store.move = full;
    build();
    await expect(retention.archive(always)).rejects.toThrow();
    expect(held.size).toBe(1);
    store.move = move;
    build();
    await retention.archive(always);
    now += DAY_MS;
    await retention.expire(never);
    expect(held.size).toBe(1);
    expect(Buffer.from(await read(macro)).toString()).toBe('{"step":1}');
  });

  test('STA-06.3 a damaged one holds up no other', async () => {
    const damaged = await saved(randomBytes(MiB), HALF, 'damaged');
    held.clear();
    const whole = await saved({ step: 1 }, HALF, 'whole');
    now += 90 * DAY_MS;
    await retention.archive(always);
    expect((await checkpoints.find('acme', whole))?.archivedAt).toBe(now);
    expect(logged).toEqual([
      ['checkpoint-not-archived', { checkpoint: damaged, code: 'E3703' }],
      ['checkpoints-archived', { moved: 1, unreadable: 1 }],
    ]);
    logged = [];
    build({}, { get: () => Promise.reject(new TypeError('a bug')) });
    await expect(retention.archive(always)).rejects.toThrow('a bug');
    await checkpoints.remove('acme', damaged);
    build();
    await retention.archive(always);
    expect(logged).toEqual([]);
  });

  test('STA-06.1 it ends when another instance has the lease', async () => {
    await saved({ step: 1 }, HALF, 'one');
    await saved({ step: 1 }, HALF, 'two');
    now += 90 * DAY_MS;
    let calls = 0;
    await retention.archive(async () => {
      calls += 1;
      return calls < 2;
    });
    expect(held.size).toBe(1);
  });
});

describe('more than one statement takes', () => {
  const MANY = 130;
  const calls = Array.from({ length: MANY }, (_, at) => `call-${at}`);

  test('STA-06.1 STA-06.3 all that are due are archived, past those that cannot be read, and all that ended is removed', async () => {
    for (const call of calls) await saved({ step: 1 }, HALF, call);
    const { find } = store;
    // Every second one cannot be read, more of them than one statement takes.
    let found = 0;
    store.find = async (...asked) => {
      const one = await find(...asked);
      found += 1;
      if (one === undefined || found % 2 === 0) return one;
      return { ...one, packed: { form: 'plain', size: 1, sha256: '', object: { name: 'a/b', size: 1, sha256: '' } } };
    };
    build();
    now += 90 * DAY_MS;
    await retention.archive(always);
    expect([held.size, logged.at(-1)]).toEqual([MANY / 2, ['checkpoints-archived', { moved: 65, unreadable: 65 }]]);
    store.find = find;
    build();
    now += 2557 * DAY_MS;
    await retention.expire(never);
    expect([held.size, await store.unused(9)]).toEqual([0, []]);
    now += 7 * DAY_MS + 1;
    await retention.expire(never);
    await retention.forgetWork(never);
    expect([await store.line('acme', 'call-0'), await store.line('acme', 'call-129')]).toEqual([undefined, undefined]);
  });

  test('STA-06.1 STA-06.5 each part of it ends early when it is stopped', async () => {
    const all = [];
    for (const call of calls) all.push(await saved({ step: 1 }, HALF, call));
    now += 90 * DAY_MS;
    await retention.archive(always);
    for (const one of all) await checkpoints.remove('acme', one);
    now += 8 * DAY_MS;
    await retention.expire(() => true);
    await retention.forgetWork(() => true);
    expect([held.size, (await store.line('acme', 'call-0'))?.holder]).toEqual([MANY, 'call-0']);
    let asked = 0;
    await retention.expire(() => ++asked > 71);
    expect(held.size).toBe(MANY - 70);
    await retention.forgetWork(never);
    expect(await store.line('acme', 'call-0')).toBeUndefined();
  });

  test('STA-06.3 one that was removed or has expired meanwhile is no fault', async () => {
    const macro = await saved({ step: 1 }, HALF);
    now += 90 * DAY_MS;
    const { due } = store;
    store.due = async (...asked) => {
      const found = await due(...asked);
      await checkpoints.remove('acme', macro);
      return found;
    };
    build();
    await retention.archive(always);
    expect([held.size, logged]).toEqual([0, [['checkpoints-archived', { moved: 1, unreadable: 0 }]]]);
  });
});

describe('restoring from the archive', () => {
  const archived = async (state: unknown): Promise<string> => {
    const macro = await saved(state, HALF);
    now += 90 * DAY_MS;
    await retention.archive(always);
    return macro;
  };

  test('STA-06.4 a state is in the database again, for as long as milestones are kept there', async () => {
    const macro = await archived({ step: 1 });
    const { expiresAt } = (await checkpoints.find('acme', macro)) ?? {};
    const facts = await checkpoints.restore('acme', macro);
    expect(facts).toMatchObject({ checkpointId: macro, archiveAt: now + 90 * DAY_MS, expiresAt });
    expect(facts).not.toHaveProperty('archivedAt');
    await retention.expire(never);
    expect(held.size).toBe(0);
    expect(Buffer.from(await read(macro)).toString()).toBe('{"step":1}');
    now += 90 * DAY_MS;
    await retention.archive(always);
    expect(held.size).toBe(1);
  });

  test('STA-06.4 a large one is an object again; one that is not archived stays as it is', async () => {
    const state = randomBytes(MiB);
    const macro = await archived(state);
    await retention.expire(never);
    await checkpoints.restore('acme', macro);
    const again = await checkpoints.restore('acme', macro);
    await retention.expire(never);
    expect([held.size, again.archivedAt]).toEqual([1, undefined]);
    expect(Buffer.from(await read(macro)).equals(state)).toBe(true);
  });

  test('STA-06.4 while the archive brings it back, restoring and resuming are E3708', async () => {
    const macro = await archived({ step: 1 });
    let asked = 0;
    build({}, { get: async () => IN_ARCHIVE, bringBack: async () => (asked++ < 2 ? 'pending' : 'readable') });
    const resume = () => checkpoints.resume({ ...RUN, invocationId: 'next' }, macro, always);
    await expect(resume()).rejects.toMatchObject({
      code: 'E3708',
      message: expect.stringContaining('checkpoints.restore'),
    });
    expect(asked).toBe(0);
    await expect(checkpoints.restore('acme', macro)).rejects.toMatchObject({ code: 'E3708' });
    await expect(checkpoints.restore('acme', macro)).rejects.toMatchObject({ code: 'E3708' });
    build({}, { bringBack: async () => 'readable' });
    await checkpoints.restore('acme', macro);
    expect(Buffer.from((await resume()).restored?.bytes ?? []).toString()).toBe('{"step":1}');
  });

  test('STA-06.4 unknown, expired and lost ones are E3702, E3707 and E3703', async () => {
    await expect(checkpoints.restore('acme', 'unknown')).rejects.toMatchObject({ code: 'E3702' });
    const macro = await archived({ step: 1 });
    await expect(checkpoints.restore('other', macro)).rejects.toMatchObject({ code: 'E3702' });
    held.clear();
    await expect(checkpoints.restore('acme', macro)).rejects.toMatchObject({ code: 'E3703' });
    now += 2557 * DAY_MS;
    await expect(checkpoints.restore('acme', macro)).rejects.toMatchObject({ code: 'E3707' });
  });
});
