import { KiB } from '@sallyport/std/bytes';
import type { Clock } from '@sallyport/std/clock';
import { beforeEach, describe, expect, test } from 'vitest';
import { memoryCheckpointStore } from '../../../test/stores/outcomes/memory-checkpoint-store.ts';
import { memoryObjectStore } from '../../../test/stores/outcomes/memory-object-store.ts';
import type { CheckpointNote } from '../../domain/checkpoint/checkpoint.ts';
import { secretSearch } from '../../external/hide-secrets.ts';
import { silentLog } from '../../telemetry/log.ts';
import type { CheckpointArchive } from '../checkpoint-archive.port.ts';
import type { CheckpointStore } from '../checkpoint-store.port.ts';
import { type CheckpointedRun, type Checkpoints, createCheckpoints, type OpenRun } from '../checkpoints.ts';
import type { CheckpointSettings } from '../settings.ts';
import { CHECKPOINT_DEFAULTS, isOver, large, noListener, OWNER, run, stateOf } from './runs.fixture.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

let now: number;
let store: CheckpointStore & CheckpointArchive;
let objects: Map<string, Uint8Array>;
let checkpoints: Checkpoints;
const clock: Clock = { now: () => now, monotonic: () => now };

beforeEach(() => {
  now = 1_800_000_000_000;
  store = memoryCheckpointStore(() => now);
  objects = new Map();
  checkpoints = over(store);
});

const over = (given: CheckpointStore, settings: Partial<CheckpointSettings> = {}): Checkpoints =>
  createCheckpoints({
    store: given,
    archive: store,
    objects: memoryObjectStore(objects),
    clock,
    log: silentLog,
    settings: { ...CHECKPOINT_DEFAULTS, ...settings },
    listener: noListener,
  });

const opened = (invocationId: string, more: Partial<CheckpointedRun> = {}): OpenRun =>
  checkpoints.ofRun(run(invocationId, more));

describe('the checkpoints of a run', () => {
  test('STA-02.1 an interrupted call continues from its newest one', async () => {
    const { save, restored } = opened('call').ofAttempt();
    expect(restored).toBeUndefined();
    expect(await checkpoints.continuing(run('call'))).toBeUndefined();
    await save({ step: 1 });
    await save({ step: 2 }, { phase: 'counting', progressPercent: 40 });
    const from = await checkpoints.continuing(run('call'));
    expect(stateOf(from?.restored)).toEqual({ step: 2 });
    expect(from?.restored).toMatchObject({ type: 'micro', phase: 'counting', progressPercent: 40 });
    expect(await checkpoints.continuing(run('call', { owner: { ...OWNER, tenantId: 'other' } }))).toBeUndefined();
  });

  test('STA-01 STA-02.1 a tool may write on into the bytes that it saved, and into those that it continues from', async () => {
    const newest = async (): Promise<Buffer> =>
      Buffer.from((await checkpoints.continuing(run('call')))?.restored?.bytes ?? []);
    const open = opened('call');
    const first = open.ofAttempt();
    const bytes = Buffer.from(Array.from({ length: 20 * KiB }, (_, at) => (at * at) % 251));
    const saved = Buffer.from(bytes);
    const saving = first.save(bytes);
    bytes.fill(1, 0, 100);
    await saving;
    expect((await newest()).equals(saved)).toBe(true);
    await first.save(bytes);
    expect((await newest()).equals(bytes)).toBe(true);
    open.ofAttempt().restored?.bytes.fill(2);
    const { restored, save } = open.ofAttempt();
    expect(bytes.equals(restored?.bytes ?? Buffer.of())).toBe(true);
    await save(restored?.bytes.fill(3, 0, 100));
    expect((await newest()).equals(bytes.fill(3, 0, 100))).toBe(true);
  });

  test('STA-02.1 the next attempt continues where the last one was, which saves no more', async () => {
    const open = opened('call');
    const first = open.ofAttempt();
    await first.save({ step: 1 });
    const second = open.ofAttempt();
    expect(stateOf(second.restored)).toEqual({ step: 1 });
    await expect(first.save({ step: 9 })).rejects.toMatchObject({ code: 'E3805' });
    await second.save({ step: 2 });
    open.close();
    await expect(second.save({ step: 3 })).rejects.toMatchObject({ code: 'E3805' });
    expect(stateOf((await checkpoints.continuing(run('call')))?.restored)).toEqual({ step: 2 });
  });

  test('STA-01 what is saved at once is stored in that order', async () => {
    const { save } = opened('call').ofAttempt();
    await Promise.all([1, 2, 3, 4, 5].map((step) => save({ step })));
    expect(stateOf((await checkpoints.continuing(run('call')))?.restored)).toEqual({ step: 5 });
    expect((await checkpoints.list('acme', 'call', 9)).map(({ sequence }) => sequence)).toEqual([5, 4, 3, 2, 1]);
  });

  test('STA-03.1 micro checkpoints are differences, at most so many in a row, and each can be read', async () => {
    checkpoints = over(store, { deltasMax: 3 });
    const { save } = opened('call').ofAttempt();
    const saved = [];
    for (let step = 0; step < 10; step += 1) saved.push(await save(large(step)));
    const forms = await Promise.all(
      saved.map(async ({ checkpointId }) => (await store.find('acme', checkpointId))?.packed?.form),
    );
    const row = ['zstd', 'delta', 'delta', 'delta'];
    expect(forms).toEqual([...row, ...row, 'zstd', 'delta']);
    for (const [step, { checkpointId }] of saved.entries()) {
      const { state } = await checkpoints.read('acme', checkpointId);
      expect(JSON.parse(Buffer.from(state).toString())).toEqual(large(step));
    }
  });

  test('STA-01 milestones and named ones stand alone: micro ones can be deleted without them', async () => {
    const { save } = opened('call').ofAttempt();
    const micro = await save(large(1));
    const macro = await save(large(2), { milestone: 'half' });
    const named = await save(large(3), { name: 'before the upload' });
    const after = await save(large(4));
    expect([macro.type, named.type, after.type]).toEqual(['macro', 'named', 'micro']);
    expect(await checkpoints.remove('acme', micro.checkpointId)).toBe(true);
    for (const { checkpointId } of [macro, named, after]) await checkpoints.read('acme', checkpointId);
    expect(await checkpoints.remove('acme', named.checkpointId)).toBe(true);
    await expect(checkpoints.read('acme', after.checkpointId)).rejects.toMatchObject({ code: 'E3702' });
    await checkpoints.read('acme', macro.checkpointId);
  });

  test('STA-03.1 STA-02.1 a state whose predecessor was removed while the tool ran, or has expired, is stored whole', async () => {
    const { save } = opened('call').ofAttempt();
    const named = await save(large(1), { name: 'mine' });
    await checkpoints.remove('acme', named.checkpointId);
    const second = await save(large(2));
    expect(stateOf((await checkpoints.continuing(run('call')))?.restored)).toEqual(large(2));
    // A tool may save more rarely than micro checkpoints are kept.
    await store.keepUntil('acme', second.checkpointId, 0);
    await store.expire(Number.MAX_SAFE_INTEGER, 9);
    await save(large(3));
    expect(stateOf((await checkpoints.continuing(run('call')))?.restored)).toEqual(large(3));
    expect(await save(large(4))).toMatchObject({ type: 'micro' });
    expect(stateOf((await checkpoints.continuing(run('call')))?.restored)).toEqual(large(4));
  });

  test('STA-01.2 STA-01.3 milestones are kept 90 days and then archived for 7 years, named ones until they are removed', async () => {
    const { save } = opened('call').ofAttempt();
    const [macro, named] = [await save({ step: 1 }, { milestone: 'half' }), await save({ step: 2 }, { name: 'mine' })];
    const { facts } = await checkpoints.read('acme', macro.checkpointId);
    expect(facts.archiveAt).toBe(facts.savedAt + 90 * DAY_MS);
    const unarchived = await over(store, { archiveKeptMs: 0 })
      .ofRun(run('kept'))
      .ofAttempt()
      .save(1, { milestone: 'm' });
    const kept = await checkpoints.find('acme', unarchived.checkpointId);
    expect([kept?.archiveAt, kept?.expiresAt]).toEqual([undefined, unarchived.savedAt + 90 * DAY_MS]);
    now = (facts.expiresAt ?? 0) - 1;
    expect(now - facts.savedAt).toBeGreaterThan(7 * 365 * DAY_MS);
    await checkpoints.read('acme', macro.checkpointId);
    now += 1;
    await expect(checkpoints.read('acme', macro.checkpointId)).rejects.toMatchObject({ code: 'E3707' });
    now += 20 * 365 * DAY_MS;
    expect((await checkpoints.read('acme', named.checkpointId)).facts.expiresAt).toBeUndefined();
    expect(await checkpoints.remove('acme', named.checkpointId)).toBe(true);
    await expect(checkpoints.read('acme', named.checkpointId)).rejects.toMatchObject({ code: 'E3702' });
  });

  test('STA-05.1 of two runs of one call, the one that saved after another state than the newest is E3704', async () => {
    await opened('call').ofAttempt().save({ step: 1 });
    const from = await checkpoints.continuing(run('call'));
    const [one, other] = [1, 2].map(() => checkpoints.ofRun(run('call'), from).ofAttempt());
    await one?.save({ step: 2, by: 'one' });
    await expect(other?.save({ step: 2, by: 'other' })).rejects.toMatchObject({ code: 'E3704' });
    await one?.save({ step: 3, by: 'one' });
    await expect(other?.save({ step: 3, by: 'other' })).rejects.toMatchObject({ code: 'E3704' });
    expect(stateOf((await checkpoints.continuing(run('call')))?.restored)).toEqual({ step: 3, by: 'one' });
  });

  test('what a call saves is bounded in number and in bytes', async () => {
    checkpoints = over(store, { savesMax: 2 });
    const few = opened('few').ofAttempt();
    await few.save(1);
    await few.save(2);
    await expect(few.save(3)).rejects.toMatchObject({ code: 'E3102', failure: { details: { max: 2 } } });
    checkpoints = over(store, { callBytesMax: 100 });
    const small = opened('small').ofAttempt();
    await small.save(Buffer.alloc(60));
    await expect(small.save(Buffer.alloc(41))).rejects.toMatchObject({ code: 'E3102' });
    await small.save(Buffer.alloc(40));
  });

  test('SBX-05.4 a state with the value of a secret of the call, in any form and place, is not stored', async () => {
    const secret = 'correct-horse-battery';
    const holdsSecret = secretSearch(new Map([['KEY', secret]]));
    const { save } = opened('call', holdsSecret === undefined ? {} : { holdsSecret }).ofAttempt();
    const hidden: readonly (readonly [unknown, CheckpointNote?])[] = [
      [{ headers: { authorization: `Bearer ${secret}` } }],
      [{ basic: Buffer.from(`user:${secret}`).toString('base64') }],
      [Buffer.concat([Buffer.alloc(256 * KiB - 5), Buffer.from(secret), Buffer.alloc(9)])],
      [{ step: 1 }, { milestone: `sent ${secret}` }],
      [{ step: 1 }, { phase: secret }],
    ];
    for (const [state, note] of hidden)
      await expect(save(state, note)).rejects.toMatchObject({
        code: 'E3109',
        message: expect.not.stringContaining(secret),
      });
    expect(await checkpoints.list('acme', 'call', 9)).toEqual([]);
    await save({ half: secret.slice(0, 10) });
    expect(secretSearch(new Map([['PIN', '12345']]))).toBeUndefined();
  });

  test('a state that JSON cannot hold, or that is too large, is refused, and the run goes on', async () => {
    checkpoints = over(store, { stateBytesMax: 100 });
    const { save } = opened('call').ofAttempt();
    await expect(save(undefined)).rejects.toMatchObject({ code: 'E3109' });
    await expect(save({ text: 'x'.repeat(100) })).rejects.toMatchObject({ code: 'E3102' });
    await save(Buffer.alloc(100));
    expect((await checkpoints.list('acme', 'call', 9)).map(({ size }) => size)).toEqual([100]);
  });
});

describe('resuming the work of another call', () => {
  const interrupted = async (): Promise<string> => {
    const { save } = opened('first').ofAttempt();
    await save({ step: 1 });
    return (await save({ step: 2 })).checkpointId;
  };
  const resume = (invocationId: string, checkpointId: string, over: typeof isOver = isOver, owner = OWNER) =>
    checkpoints.resume(run(invocationId, { owner }), checkpointId, over);

  test('STA-02.1 it continues there, and the first call saves no more', async () => {
    const open = opened('first');
    const first = open.ofAttempt();
    const { checkpointId } = await first.save({ step: 1 });
    const from = await resume('second', checkpointId);
    expect(stateOf(from.restored)).toEqual({ step: 1 });
    const second = checkpoints.ofRun(run('second'), from).ofAttempt();
    expect(second.restored).toEqual(from.restored);
    await second.save({ step: 2 });
    await expect(first.save({ step: 2 })).rejects.toMatchObject({ code: 'E3704' });
    expect(stateOf((await checkpoints.continuing(run('second')))?.restored)).toEqual({ step: 2 });
    expect(await checkpoints.list('acme', 'first', 9)).toHaveLength(2);
  });

  test('STA-02.1 the end of the call that it was taken from ends it no more', async () => {
    const checkpointId = await interrupted();
    await resume('second', checkpointId);
    await checkpoints.ended('acme', 'first', true);
    await checkpoints.ended('acme', 'unknown', true);
    expect(stateOf((await checkpoints.continuing(run('second')))?.restored)).toEqual({ step: 2 });
    await checkpoints.ended('acme', 'second', true);
    expect((await checkpoints.continuing(run('second')))?.restored).toBeUndefined();
  });

  test('STA-05 two at once: one wins, the other is E3704', async () => {
    const checkpointId = await interrupted();
    const ends = await Promise.allSettled([resume('a', checkpointId), resume('b', checkpointId)]);
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(ends.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'E3704' } });
  });

  test('STA-05 work that is still done by a call is not taken from it', async () => {
    const checkpointId = await interrupted();
    await expect(resume('second', checkpointId, async () => false)).rejects.toMatchObject({ code: 'E3704' });
    await resume('second', checkpointId, async (holder) => holder === 'first');
  });

  test('STA-02.3 one of another tenant, agent, user or tool is unknown, E3702', async () => {
    const checkpointId = await interrupted();
    const { userDid: _user, ...agentAlone } = OWNER;
    for (const owner of [
      { ...OWNER, tenantId: 'other' },
      { ...OWNER, agentDid: 'did:example:b' },
      { ...OWNER, userDid: 'did:example:v' },
      agentAlone,
    ]) {
      const asked = checkpoints.resume(run('x', { owner }), checkpointId, isOver);
      await expect(asked).rejects.toMatchObject({ code: 'E3702' });
    }
    const otherTool = checkpoints.resume(run('x', { toolId: 'play' }), checkpointId, isOver);
    await expect(otherTool).rejects.toMatchObject({ code: 'E3702' });
    await expect(resume('x', 'ckpt_unknown')).rejects.toMatchObject({ code: 'E3702' });
  });

  test('STA-02.3 STA-01.1 a micro one expires after an hour without being read, E3707', async () => {
    const checkpointId = await interrupted();
    now += 59 * MINUTE_MS;
    await checkpoints.read('acme', checkpointId);
    now += 59 * MINUTE_MS;
    await checkpoints.read('acme', checkpointId);
    now += 60 * MINUTE_MS;
    await expect(checkpoints.read('acme', checkpointId)).rejects.toMatchObject({ code: 'E3707' });
    await expect(resume('second', checkpointId)).rejects.toMatchObject({ code: 'E3707' });
  });
});
