import { randomUUID } from 'node:crypto';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type {
  CheckpointNote,
  RestoredCheckpoint,
  RunCheckpoints,
  SavedCheckpoint,
} from '../../domain/checkpoint/checkpoint.ts';
import type { StoredCheckpoint } from '../checkpoint-store.port.ts';
import { packState } from '../state/pack-state.ts';
import { SCHEMA_VERSION } from '../state/packed-state.ts';
import { serialiseState } from '../state/serialise-state.ts';
import { heldState } from '../state/state-objects.ts';
import type { CheckpointedRun, CheckpointParts, Continuation, OpenRun } from './checkpointed-run.ts';

/** The newest checkpoint of a run, which the next one is compared with. */
interface Newest {
  readonly restored: RestoredCheckpoint;
  /** Number of checkpoints since the last whole one. */
  readonly deltas: number;
}

/** A run under way. Its checkpoints are stored one after the other, in the order in which the tool saved them. */
interface Run extends CheckpointedRun {
  readonly parts: CheckpointParts;
  readonly lineId: string;
  sequence: number;
  newest: Newest | undefined;
  /** The newest one that stays true when the changes of the attempt are taken back. */
  lasting: Newest | undefined;
  /** Checkpoints and bytes that this run has stored. */
  stored: { readonly saves: number; readonly bytes: number };
  /** Ends when all that was given so far is stored. */
  last: Promise<unknown>;
  /** Number of the attempt that may save; 0 when the run is over. */
  attempt: number;
  timer: NodeJS.Timeout | undefined;
}

/** The checkpoints of a run. Nothing is read or stored before its tool saves something. */
export function openRun(parts: CheckpointParts, run: CheckpointedRun, from?: Continuation): OpenRun {
  const state: Run = {
    ...run,
    parts,
    lineId: from?.line.lineId ?? run.invocationId,
    sequence: from?.line.newest ?? 0,
    // The state of another run may be the difference from a chain of any length, so the first one is stored whole.
    newest: undefined,
    lasting: undefined,
    stored: { saves: 0, bytes: 0 },
    last: Promise.resolve(),
    attempt: 0,
    timer: undefined,
  };
  let attempts = 0;
  return {
    ofAttempt() {
      attempts += 1;
      state.attempt = attempts;
      // The changes of the attempt before were taken back, and the checkpoints after them removed.
      state.newest = state.lasting;
      clearInterval(state.timer);
      return checkpointsOf(state, attempts, ownCopy(state.newest?.restored ?? from?.restored));
    },
    close() {
      state.attempt = 0;
      clearInterval(state.timer);
    },
  };
}

function checkpointsOf(run: Run, attempt: number, restored: RestoredCheckpoint | undefined): RunCheckpoints {
  const isOver = (): boolean => run.attempt !== attempt;
  const save = (given: unknown, note: CheckpointNote = {}): Promise<SavedCheckpoint> => {
    // The tool may write on into its bytes while earlier ones are stored, and the next state is compared with these.
    const kept = given instanceof Uint8Array ? Buffer.from(given) : given;
    const mine = run.last.then(() => (isOver() ? Promise.reject(runIsOver()) : saveNow(run, kept, note)));
    run.last = mine.catch(() => {});
    return mine;
  };
  const onTimer = (state: () => unknown): void => {
    clearInterval(run.timer);
    const intervalMs = run.intervalMs ?? run.parts.settings.intervalMs;
    if (isOver() || intervalMs === 0) return;
    let isSaving = false;
    const take = async (): Promise<void> => {
      const bytes = await bytesOf(state());
      if (run.newest === undefined || !Buffer.from(run.newest.restored.bytes).equals(bytes)) await save(bytes);
    };
    run.timer = setInterval(() => {
      if (isSaving) return;
      isSaving = true;
      take()
        .catch((cause: unknown) => run.parts.log.warn('checkpoint-not-saved', { call: run.invocationId, cause }))
        .finally(() => {
          isSaving = false;
        });
    }, intervalMs).unref();
  };
  return { restored, stateBytesMax: run.parts.settings.stateBytesMax, save, onTimer };
}

/** The tool may write into what it continues from; later attempts get it as it was saved. */
const ownCopy = (restored: RestoredCheckpoint | undefined): RestoredCheckpoint | undefined =>
  restored === undefined ? undefined : { ...restored, bytes: Buffer.from(restored.bytes) };

async function saveNow(run: Run, given: unknown, note: CheckpointNote): Promise<SavedCheckpoint> {
  const { settings, store, listener } = run.parts;
  const state = await bytesOf(given);
  if (state.length > settings.stateBytesMax) throw tooLarge(state.length, settings.stateBytesMax);
  await refuseSecrets(run, state, note);
  // Checkpoints that are kept long stand alone, so that each can be deleted without the others.
  const mayDiffer = typeOf(note) === 'micro' && run.newest !== undefined && run.newest.deltas < settings.deltasMax;
  const parent = mayDiffer ? run.newest : undefined;
  const packed = await packState(state, parent?.restored.bytes);
  const isDelta = packed.form === 'delta' && parent !== undefined;
  const stored = { saves: run.stored.saves + 1, bytes: run.stored.bytes + packed.bytes.length };
  if (stored.saves > settings.savesMax) throw tooMuch('checkpoints.saves_max', settings.savesMax);
  if (stored.bytes > settings.callBytesMax) throw tooMuch('checkpoints.call_bytes_max', settings.callBytesMax);
  const held = await heldState(run.parts, run.owner.tenantId, packed).catch(notSaved);
  const checkpoint: StoredCheckpoint = {
    ...factsOf(run, note),
    size: packed.size,
    sha256: packed.sha256,
    packed: held,
    ...(isDelta ? { parentId: parent.restored.checkpointId } : {}),
  };
  const reporter = listener.reports(run.owner.tenantId) ? listener.instanceId : undefined;
  if (!(await store.put(checkpoint, reporter))) {
    if (!isDelta) throw continuedElsewhere();
    // What it differs from was removed, or has expired, while the tool ran: it is stored whole.
    run.newest = undefined;
    return saveNow(run, state, note);
  }
  run.sequence += 1;
  run.stored = stored;
  listener.saved(checkpoint, state);
  const { checkpointId, type, savedAt, label } = checkpoint;
  const saved = { checkpointId, type, savedAt };
  const restored = { ...saved, toolVersion: run.toolVersion, ...placeOf(note), bytes: state };
  run.newest = { restored, deltas: isDelta ? parent.deltas + 1 : 0 };
  if (checkpoint.afterChanges !== true) run.lasting = run.newest;
  run.onSaved(saved, label);
  return saved;
}

/** A later run of the call gets its secrets anew, so no state needs them. */
async function refuseSecrets({ holdsSecret }: Run, state: Uint8Array, note: CheckpointNote): Promise<void> {
  if (holdsSecret === undefined) return;
  if ((await holdsSecret(state)) || (await holdsSecret(Buffer.from(Object.values(note).join('\0'))))) throw hasSecret();
}

function factsOf(run: Run, note: CheckpointNote): Omit<StoredCheckpoint, 'size' | 'sha256' | 'packed'> {
  const { settings, clock } = run.parts;
  const type = typeOf(note);
  const savedAt = clock.now();
  const label = note.name ?? note.milestone;
  return {
    checkpointId: `ckpt_${randomUUID()}`,
    invocationId: run.invocationId,
    lineId: run.lineId,
    sequence: run.sequence + 1,
    type,
    ...(label === undefined ? {} : { label }),
    owner: run.owner,
    toolId: run.toolId,
    toolVersion: run.toolVersion,
    ...placeOf(note),
    ...(run.hasChanges?.() === true ? { afterChanges: true } : {}),
    schemaVersion: SCHEMA_VERSION,
    savedAt,
    ...endsOf(type, savedAt, settings),
  };
}

/** A milestone goes to the archive after its time, or ends then. */
function endsOf(
  type: SavedCheckpoint['type'],
  savedAt: number,
  { microTtlMs, macroKeptMs, archiveKeptMs }: CheckpointParts['settings'],
): Pick<StoredCheckpoint, 'expiresAt' | 'archiveAt'> {
  if (type === 'named') return {};
  if (type === 'micro') return { expiresAt: savedAt + microTtlMs };
  const archiveAt = savedAt + macroKeptMs;
  return { expiresAt: archiveAt + archiveKeptMs, ...(archiveKeptMs === 0 ? {} : { archiveAt }) };
}

const placeOf = ({ phase, progressPercent }: CheckpointNote): Pick<CheckpointNote, 'phase' | 'progressPercent'> => ({
  ...(phase === undefined ? {} : { phase }),
  ...(progressPercent === undefined ? {} : { progressPercent }),
});

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
      { cause },
    );
  }
}

/** @throws ToolLayerError E3701 for a full or unreachable object store */
function notSaved(thrown: unknown): never {
  if (!(thrown instanceof ToolLayerError) || thrown.code !== 'E3823') throw thrown;
  throw new ToolLayerError('E3701', `The checkpoint was not saved. ${thrown.message}`, { cause: thrown });
}

const runIsOver = (): ToolLayerError =>
  new ToolLayerError('E3805', 'This attempt of the call is over; it saves nothing any more.');

const continuedElsewhere = (): ToolLayerError =>
  new ToolLayerError('E3704', 'Another call has continued the work of this one, so it saves nothing any more. Stop.');

const hasSecret = (): ToolLayerError =>
  new ToolLayerError(
    'E3109',
    'The checkpoint holds the value of a secret of this call, so it is not stored. Leave the secret out: a later run gets it anew.',
  );

const tooMuch = (limit: string, max: number): ToolLayerError =>
  new ToolLayerError(
    'E3102',
    `This call has reached the limit of what it may save: ${limit}, ${max}. Save less often.`,
    {
      details: { limit, max },
    },
  );

const tooLarge = (size: number, max: number): ToolLayerError =>
  new ToolLayerError('E3102', `The state has ${size} bytes; a checkpoint holds at most ${max}.`, {
    details: { limit: 'checkpoints.state_bytes_max', max },
  });
