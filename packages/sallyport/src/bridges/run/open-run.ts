import { randomUUID } from 'node:crypto';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { CheckpointNote, RunCheckpoints, SavedCheckpoint } from '../../domain/invocation/checkpoint.ts';
import type { StoredCheckpoint } from '../checkpoint-store.port.ts';
import { packState } from '../state/pack-state.ts';
import type { PackedState } from '../state/packed-state.ts';
import { serialiseState } from '../state/serialise-state.ts';
import type { CheckpointedRun, CheckpointParts, Continuation } from './checkpointed-run.ts';

/** Version of the form in which states are stored. */
const SCHEMA_VERSION = '1.0';

/** The newest checkpoint of a run, which the next one is compared with. */
interface Newest {
  readonly checkpointId: string;
  readonly state: Uint8Array;
  readonly sha256: string;
  /** Number of checkpoints since the last whole one. */
  readonly deltas: number;
}

/** The checkpoints of one run. They are saved one after the other, in the order in which the tool saved them. */
export function openRun(parts: CheckpointParts, run: CheckpointedRun, from?: Continuation): RunCheckpoints {
  const { settings, log, clock } = parts;
  let sequence = from?.line.newest ?? 0;
  let newest: Newest | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  const store = async (state: Uint8Array, packed: PackedState, note: CheckpointNote): Promise<StoredCheckpoint> => {
    const type = typeOf(note);
    const savedAt = clock.now();
    const keptMs = { micro: settings.microTtlMs, macro: settings.macroKeptMs, named: undefined }[type];
    const label = note.name ?? note.milestone;
    const checkpoint: StoredCheckpoint = {
      checkpointId: `ckpt_${randomUUID()}`,
      invocationId: run.invocationId,
      lineId: from?.line.lineId ?? run.invocationId,
      sequence: sequence + 1,
      type,
      owner: run.owner,
      toolId: run.toolId,
      toolVersion: run.toolVersion,
      schemaVersion: SCHEMA_VERSION,
      size: packed.size,
      sha256: packed.sha256,
      savedAt,
      packed,
      ...(label === undefined ? {} : { label }),
      ...(note.phase === undefined ? {} : { phase: note.phase }),
      ...(note.progressPercent === undefined ? {} : { progressPercent: note.progressPercent }),
      ...(packed.form === 'delta' && newest !== undefined ? { parentId: newest.checkpointId } : {}),
      ...(keptMs === undefined ? {} : { expiresAt: savedAt + keptMs }),
    };
    if (!(await parts.store.put(checkpoint))) throw continuedElsewhere();
    sequence += 1;
    const deltas = packed.form === 'delta' ? (newest?.deltas ?? 0) + 1 : 0;
    newest = { checkpointId: checkpoint.checkpointId, state, sha256: packed.sha256, deltas };
    return checkpoint;
  };

  const saveNow = async (given: unknown, note: CheckpointNote): Promise<SavedCheckpoint> => {
    if (run.signal.aborted) throw isOver();
    const state = await bytesOf(given);
    if (state.length > settings.stateBytesMax) throw tooLarge(state.length, settings.stateBytesMax);
    // Checkpoints that are kept long stand alone: one can be deleted without the others.
    const mayDiffer = typeOf(note) === 'micro' && newest !== undefined && newest.deltas < settings.deltasMax;
    const packed = await packState(state, mayDiffer ? newest?.state : undefined);
    if (run.signal.aborted) throw isOver();
    const { checkpointId, type, savedAt, label } = await store(state, packed, note);
    const saved = { checkpointId, type, savedAt };
    run.onSaved(saved, label);
    return saved;
  };

  const save = (given: unknown, note: CheckpointNote = {}): Promise<SavedCheckpoint> => {
    const mine = last.then(() => saveNow(given, note));
    last = mine.catch(() => {});
    return mine;
  };

  const onTimer = (state: () => unknown): void => {
    clearInterval(timer);
    let isSaving = false;
    const take = async (): Promise<void> => {
      const bytes = await bytesOf(state());
      const isSame = newest !== undefined && Buffer.from(newest.state).equals(bytes);
      if (!isSame) await save(bytes);
    };
    timer = setInterval(() => {
      if (isSaving) return;
      isSaving = true;
      take()
        .catch((cause: unknown) => log.warn('checkpoint-not-saved', { call: run.invocationId, cause }))
        .finally(() => {
          isSaving = false;
        });
    }, run.intervalMs ?? settings.intervalMs).unref();
  };
  run.signal.addEventListener('abort', () => clearInterval(timer), { once: true });

  return { restored: from?.restored, save, onTimer };
}

function typeOf({ name, milestone }: CheckpointNote): SavedCheckpoint['type'] {
  if (name !== undefined) return 'named';
  return milestone === undefined ? 'micro' : 'macro';
}

async function bytesOf(given: unknown): Promise<Uint8Array> {
  if (given instanceof Uint8Array) return given;
  try {
    return await serialiseState(given);
  } catch (cause) {
    throw new ToolLayerError(
      'E3109',
      'The state of the checkpoint is no JSON value. Save only what JSON can hold, or bytes.',
      {
        cause,
      },
    );
  }
}

const isOver = (): ToolLayerError => new ToolLayerError('E3805', 'This run is over; it saves nothing any more.');

const continuedElsewhere = (): ToolLayerError =>
  new ToolLayerError('E3704', 'Another call has continued the work of this one, so it saves nothing any more. Stop.');

const tooLarge = (size: number, max: number): ToolLayerError =>
  new ToolLayerError('E3102', `The state has ${size} bytes; a checkpoint holds at most ${max}.`, {
    details: { limit: 'checkpoints.state_bytes_max', max },
  });
