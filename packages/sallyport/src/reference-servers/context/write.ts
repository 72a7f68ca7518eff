import { randomUUID } from 'node:crypto';
import { isoTime } from '@sallyport/std/iso-time';
import type {
  ContextCheckpoint,
  CreateCheckpointArguments,
  RollbackToArguments,
  RollbackToResult,
  SaveContextSnapshotArguments,
  SaveContextSnapshotResult,
} from '../../../api/schemas/reference-servers/context.ts';
import type { CallOwner } from '../../domain/invocation/call-owner.ts';
import type { ContextChange, StoredContext } from '../context-store.port.ts';
import { conflictsBetween, updated } from './changes.ts';
import type { ContextServerParts } from './context-parts.ts';
import {
  conflict,
  tooLarge,
  tooManyCheckpoints,
  tooManyTasks,
  tooManyWriters,
  unknownCheckpoint,
  unknownTask,
} from './faults.ts';
import { baseOf, shownCheckpoint, versionOf } from './read.ts';

/** How often a change is put on top of what others saved in the meantime. */
const TRIES = 10;

type Saving = Pick<SaveContextSnapshotArguments, 'taskId' | 'updates' | 'baseVersion' | 'sessionId'>;

/**
 * Saves updates on top of the newest version.
 * @throws ToolLayerError E3704 when another writer has changed the same members since `baseVersion`; E3102, E3707, E3801
 */
export async function save(
  parts: ContextServerParts,
  owner: CallOwner,
  { taskId, updates, baseVersion, sessionId }: Saving,
  change: ContextChange = 'saved',
): Promise<SaveContextSnapshotResult> {
  const stored = await write(parts, owner, { taskId, change, sessionId }, async (newest) => {
    const current = newest?.context ?? {};
    if (baseVersion !== undefined) {
      const base = await baseOf(parts, owner, taskId, baseVersion, newest);
      const fields = conflictsBetween(base, current, updates).map(({ field }) => field);
      if (fields.length > 0) throw conflict(taskId, baseVersion, newest?.version ?? 0, fields);
    }
    return updated(current, updates);
  });
  return { taskId, version: stored.version, savedAt: isoTime(stored.savedAt) };
}

/**
 * Saves an earlier context as a new version, so that the later contexts stay and can be rolled back to as well.
 * @throws ToolLayerError E3702 for an unknown task or checkpoint, E3704 when the context is newer than `baseVersion`
 */
export async function rollBack(
  parts: ContextServerParts,
  owner: CallOwner,
  { taskId, target, baseVersion, sessionId }: RollbackToArguments,
): Promise<RollbackToResult> {
  const found =
    target.type === 'checkpoint'
      ? await parts.store.checkpoint(owner, taskId, target.checkpointId)
      : await versionOf(parts, owner, taskId, target.version);
  if (found === undefined) throw unknownCheckpoint(taskId);
  const stored = await write(parts, owner, { taskId, change: 'rolled_back', sessionId }, async (newest) => {
    const current = newest?.version ?? 0;
    if (baseVersion !== undefined && baseVersion !== current) {
      const base = await baseOf(parts, owner, taskId, baseVersion, newest);
      const changed = conflictsBetween(base, newest?.context ?? {}).map(({ field }) => field);
      throw conflict(taskId, baseVersion, current, changed);
    }
    return found.context;
  });
  return { taskId, version: stored.version, restoredVersion: found.version, immediateContext: { ...found.context } };
}

/** @throws ToolLayerError E3702 for a task without a context, E3102 */
export async function createCheckpoint(
  { store, clock, settings }: ContextServerParts,
  owner: CallOwner,
  { taskId, label, checkpointType = 'named', description }: CreateCheckpointArguments,
): Promise<ContextCheckpoint> {
  for (let tried = 0; tried < TRIES; tried += 1) {
    const newest = await store.newest(owner, taskId);
    if (newest === undefined) throw unknownTask(taskId);
    const checkpoint = {
      checkpointId: `ctx_${randomUUID()}`,
      taskId,
      version: newest.version,
      label,
      type: checkpointType,
      ...(description === undefined ? {} : { description }),
      createdAt: clock.now(),
    };
    const end = await store.addCheckpoint(owner, checkpoint, settings);
    if (end === 'full') throw tooManyCheckpoints(settings.checkpointsMax);
    if (end === 'stored') return shownCheckpoint(checkpoint);
  }
  throw tooManyWriters(taskId);
}

/**
 * Stores what `make` gives for the newest version, again when another writer was faster. A new task takes the place of
 * the owner's oldest one, when there are as many as there may be.
 */
async function write(
  { store, clock, settings }: ContextServerParts,
  owner: CallOwner,
  { taskId, change, sessionId }: { taskId: string; change: ContextChange; sessionId: string | undefined },
  make: (newest: StoredContext | undefined) => Promise<StoredContext['context']>,
): Promise<StoredContext> {
  for (let tried = 0; tried < TRIES; tried += 1) {
    const newest = await store.newest(owner, taskId);
    const context = await make(newest);
    const bytes = Buffer.byteLength(JSON.stringify(context));
    if (bytes > settings.contextBytesMax) throw tooLarge(bytes, settings.contextBytesMax);
    const next: StoredContext = {
      taskId,
      version: (newest?.version ?? 0) + 1,
      change,
      ...(sessionId === undefined ? {} : { sessionId }),
      savedAt: clock.now(),
      context,
    };
    const end = await store.put(owner, next, settings);
    if (end === 'stored') return next;
    if (end === 'full' && !(await store.forgetOldest(owner))) throw tooManyTasks(settings.tasksMax);
  }
  throw tooManyWriters(taskId);
}
