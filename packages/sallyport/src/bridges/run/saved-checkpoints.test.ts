import { randomBytes } from 'node:crypto';
import { MiB } from '@sallyport/std/bytes';
import { beforeEach, describe, expect, test } from 'vitest';
import { memoryCheckpointStore } from '../../../test/stores/outcomes/memory-checkpoint-store.ts';
import { memoryObjectStore } from '../../../test/stores/outcomes/memory-object-store.ts';
import { silentLog } from '../../telemetry/log.ts';
import type { CheckpointArchive } from '../checkpoint-archive.port.ts';
import type { CheckpointStore } from '../checkpoint-store.port.ts';
import { type CheckpointParts, type Checkpoints, createCheckpoints } from '../checkpoints.ts';
import type { CheckpointSettings } from '../settings.ts';
import { packState, unpackState } from '../state/pack-state.ts';
import { CHECKPOINT_DEFAULTS, isOver, large, noListener, run, stateOf } from './runs.fixture.ts';

const NOW = 1_800_000_000_000;

let store: CheckpointStore & CheckpointArchive;
let logged: [event: string, fields: unknown][];
let reported: string[];
let checkpoints: Checkpoints;

beforeEach(() => {
  store = memoryCheckpointStore(() => NOW);
  [logged, reported] = [[], []];
  checkpoints = over();
});

const listener = (reports: boolean): CheckpointParts['listener'] => ({
  instanceId: 'one',
  reports: () => reports,
  saved: ({ checkpointId }, state) => void reported.push(`${checkpointId} ${Buffer.from(state)}`),
  resumed: ({ checkpointId }) => void reported.push(checkpointId),
});

const over = (
  given: Partial<CheckpointStore> = {},
  settings: Partial<CheckpointSettings> = {},
  more = {},
): Checkpoints =>
  createCheckpoints({
    ...{ store: { ...store, ...given }, archive: store, objects: memoryObjectStore(new Map()) },
    clock: { now: () => NOW, monotonic: () => NOW },
    log: { ...silentLog, warn: (event, fields) => void logged.push([event, fields]) },
    settings: { ...CHECKPOINT_DEFAULTS, ...settings },
    listener: noListener,
    ...more,
  });

describe('what is known of a checkpoint', () => {
  test('STA-01 its kind, label and place are those of the note, and who runs the tool is notified of it', async () => {
    const seen: unknown[] = [];
    const { save } = checkpoints
      .ofRun(run('call', { onSaved: ({ checkpointId, type }, label) => seen.push([checkpointId, type, label]) }))
      .ofAttempt();
    const saved = [
      await save({ step: 1 }),
      await save({ step: 2 }, { milestone: 'parsed', phase: 'parsing', progressPercent: 40 }),
      await save({ step: 3 }, { name: 'mine', milestone: 'sent' }),
    ];
    const ids = saved.map(({ checkpointId }) => checkpointId);
    expect(seen).toEqual([
      [ids[0], 'micro', undefined],
      [ids[1], 'macro', 'parsed'],
      [ids[2], 'named', 'mine'],
    ]);
    const [, parsed, first] = await checkpoints.list('acme', 'call', 9);
    expect(parsed).toMatchObject({
      type: 'macro',
      label: 'parsed',
      phase: 'parsing',
      progressPercent: 40,
      sequence: 2,
    });
    expect(Object.keys(first ?? {})).not.toEqual(
      expect.arrayContaining(['label', 'phase', 'progressPercent', 'afterChanges']),
    );
    expect(first).toMatchObject({
      type: 'micro',
      expiresAt: NOW + 3_600_000,
      size: 10,
      toolId: 'work',
      toolVersion: '1.0.0',
    });
  });

  test('STA-04.1 it is reported where checkpoints of the tenant are, and remembered as unreported there alone', async () => {
    for (const reports of [true, false]) {
      checkpoints = over({}, {}, { listener: listener(reports) });
      await checkpoints
        .ofRun(run(`call-${reports}`))
        .ofAttempt()
        .save({ reports });
    }
    expect(reported.map((text) => text.slice(text.indexOf(' ') + 1))).toEqual([
      '{"reports":true}',
      '{"reports":false}',
    ]);
    expect((await store.unreported('one', 9)).map(({ invocationId }) => invocationId)).toEqual(['call-true']);
  });

  test('STA-04.1 what cannot be read of the unreported ones is in the log, and harms no start', async () => {
    await over({}, {}, { listener: listener(true) })
      .ofRun(run('call'))
      .ofAttempt()
      .save({ step: 1 });
    reported = [];
    await over().reportLeft();
    expect(reported).toEqual([]);
    await over({ find: async () => undefined }, {}, { listener: listener(true) }).reportLeft();
    expect([reported, logged]).toEqual([[], []]);
    const down = () => Promise.reject(new Error('no database'));
    await over({ unreported: down }, {}, { listener: listener(true) }).reportLeft();
    expect(logged).toEqual([['checkpoints-not-reported', { reason: expect.any(String) }]]);
    await over({}, {}, { listener: listener(true) }).reportLeft();
    expect(reported).toHaveLength(1);
  });
});

describe('changes that are taken back', () => {
  test('STA-02.1 the next attempt continues from the newest state that stays true, and compares with that one', async () => {
    let hasChanges = false;
    const open = checkpoints.ofRun(run('call', { hasChanges: () => hasChanges }));
    const first = open.ofAttempt();
    const lasting = await first.save(large(1));
    hasChanges = true;
    const after = await first.save(large(2));
    expect((await checkpoints.find('acme', after.checkpointId))?.afterChanges).toBe(true);
    expect((await checkpoints.find('acme', lasting.checkpointId))?.afterChanges).toBeUndefined();
    const second = open.ofAttempt();
    expect(stateOf(second.restored)).toEqual(large(1));
    hasChanges = false;
    const next = await second.save(large(3));
    expect((await store.find('acme', next.checkpointId))?.parentId).toBe(lasting.checkpointId);
    expect(stateOf(open.ofAttempt().restored)).toEqual(large(3));
  });

  test('STA-02.1 work of an earlier call goes on in its line, and an attempt that saved nothing begins where that ended', async () => {
    const { checkpointId } = await checkpoints.ofRun(run('first')).ofAttempt().save({ step: 1 });
    const from = await checkpoints.resume(run('second'), checkpointId, isOver);
    const open = checkpoints.ofRun(run('second'), from);
    open.ofAttempt();
    expect(stateOf(open.ofAttempt().restored)).toEqual({ step: 1 });
    await open.ofAttempt().save({ step: 2 });
    expect((await checkpoints.list('acme', 'second', 9)).map(({ lineId, sequence }) => [lineId, sequence])).toEqual([
      ['first', 2],
      ['first', 1],
    ]);
  });
});

describe('what is refused', () => {
  test('SBX-05.4 two parts of a note are no secret together', async () => {
    const holdsSecret = async (bytes: Uint8Array) => Buffer.from(bytes).toString().includes('horse-battery');
    const { save } = checkpoints.ofRun(run('call', { holdsSecret })).ofAttempt();
    await save({ step: 1 }, { phase: 'horse-', milestone: 'battery' });
    await expect(save({ step: 2 }, { phase: 'horse-battery' })).rejects.toMatchObject({ code: 'E3109' });
  });

  test('what is too large or too much says the limit, and what is just small enough is saved', async () => {
    const { save } = over({}, { stateBytesMax: 100, savesMax: 2, callBytesMax: 150 }).ofRun(run('call')).ofAttempt();
    const limit = (name: string, max: number) => ({ code: 'E3102', failure: { details: { limit: name, max } } });
    await expect(save(Buffer.alloc(101))).rejects.toMatchObject(limit('checkpoints.state_bytes_max', 100));
    await save(Buffer.alloc(100));
    await expect(save(Buffer.alloc(51))).rejects.toMatchObject(limit('checkpoints.call_bytes_max', 150));
    await save(Buffer.alloc(50));
    await expect(save(Buffer.of())).rejects.toMatchObject(limit('checkpoints.saves_max', 2));
  });

  test('STA-02.3 errors of checkpoints name the one that was asked for', async () => {
    const id = 'ckpt_'.padEnd(200, 'x');
    const details = { checkpoint_id: id.slice(0, 128) };
    await expect(checkpoints.read('acme', id)).rejects.toMatchObject({ code: 'E3702', failure: { details } });
    const { checkpointId } = await checkpoints.ofRun(run('call')).ofAttempt().save({ step: 1 });
    const lost = over({ line: async () => undefined });
    await expect(lost.resume(run('next'), checkpointId, isOver)).rejects.toMatchObject({
      code: 'E3702',
      failure: { details: { checkpoint_id: checkpointId } },
    });
  });
});

describe('chains of differences', () => {
  test('STA-02.3 STA-03.3 one whose parent is missing, or has ended, is damaged; the log names it', async () => {
    const { save } = checkpoints.ofRun(run('call')).ofAttempt();
    const [first, second] = [await save(large(1)), await save(large(2))];
    const parent = await store.find('acme', first.checkpointId);
    if (parent === undefined) throw new Error('the parent is gone');
    for (const ancestors of [[], [{ ...parent, packed: undefined }]]) {
      const broken = over({ ancestors: async () => ancestors });
      await expect(broken.read('acme', second.checkpointId)).rejects.toMatchObject({ code: 'E3703' });
      const from = await broken.continuing(run('call'));
      expect([from?.restored?.checkpointId, from?.damaged]).toEqual([first.checkpointId, [second.checkpointId]]);
      const fields = { checkpoint: second.checkpointId, line: 'call', code: 'E3703' };
      expect(logged.splice(0)).toEqual([['checkpoint-damaged', fields]]);
    }
    const away = over({ ancestors: () => Promise.reject(new TypeError('a bug')) });
    await expect(away.continuing(run('call'))).rejects.toThrow('a bug');
  });

  test('STA-03.1 STA-03.2 what cannot be compressed is E3706, and with a parent E3705', async () => {
    const failing = (calls: number): Uint8Array => {
      const state = Buffer.alloc(20_000);
      const { subarray } = state;
      let left = calls;
      return Object.assign(state, {
        subarray: (...asked: [number, number]) => {
          left -= 1;
          if (left < 0) throw new Error('no memory');
          return subarray.apply(state, asked);
        },
      });
    };
    // It is hashed before.
    await expect(packState(failing(1))).rejects.toMatchObject({ code: 'E3706' });
    await expect(packState(failing(1), Buffer.alloc(9))).rejects.toMatchObject({ code: 'E3705' });
  });

  test('STA-02.3 a large one whose pieces do not fit together is damaged', async () => {
    const packed = await packState(randomBytes(2 * MiB));
    for (const at of [3, 7]) {
      const bytes = Uint8Array.from(packed.bytes);
      bytes[at] = 0xff;
      await expect(unpackState({ ...packed, bytes })).rejects.toMatchObject({ code: 'E3703' });
    }
    const short = await packState(randomBytes(20_000));
    for (const size of [19_999, 20_001])
      await expect(unpackState({ ...short, size })).rejects.toMatchObject({ code: 'E3703' });
  });
});
