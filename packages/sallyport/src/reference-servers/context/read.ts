import { isoTime } from '@sallyport/std/iso-time';
import type {
  ContextCheckpoint,
  DetectConflictsArguments,
  DetectConflictsResult,
  GetUnifiedContextArguments,
  UnifiedContext,
} from '../../../api/schemas/reference-servers/context.ts';
import type { CallOwner } from '../../domain/invocation/call-owner.ts';
import { isObject } from '../../domain/shape/is-object.ts';
import type { ContextCheckpointFacts, ContextVersionFacts, StoredContext } from '../context-store.port.ts';
import { conflictsBetween } from './changes.ts';
import type { ContextServerParts } from './context-parts.ts';
import { futureVersion, unknownTask, versionGone } from './faults.ts';

/** Most documents of a context that are listed. */
const DOCUMENTS_MAX = 256;

/** @throws ToolLayerError E3702 for a task without a context */
export async function unifiedContext(
  parts: ContextServerParts,
  owner: CallOwner,
  given: GetUnifiedContextArguments,
): Promise<UnifiedContext> {
  const unified = await contextOf(parts, owner, given);
  if (unified.version === 0) throw unknownTask(given.taskId);
  return unified;
}

/** Everything that is known of a task; a version of 0 for one without a context. */
export async function contextOf(
  { store, settings }: ContextServerParts,
  owner: CallOwner,
  { taskId, includeVersionHistory = false }: GetUnifiedContextArguments,
): Promise<UnifiedContext> {
  const [newest, versions, checkpoints] = await Promise.all([
    store.newest(owner, taskId),
    store.versions(owner, taskId, settings.versionsMax),
    store.checkpoints(owner, taskId, settings.checkpointsMax),
  ]);
  return {
    taskId,
    version: newest?.version ?? 0,
    ...(newest === undefined ? {} : { updatedAt: isoTime(newest.savedAt) }),
    immediateContext: { ...newest?.context },
    sessions: sessionsOf(versions),
    documents: documentsOf(newest?.context ?? {}),
    checkpoints: checkpoints.map(shownCheckpoint),
    ...(includeVersionHistory ? { versionHistory: versions.map(shownVersion) } : {}),
  };
}

/** @throws ToolLayerError E3801 for a version that does not exist yet, E3707 for one that is not kept any more */
export async function detectConflicts(
  parts: ContextServerParts,
  owner: CallOwner,
  { taskId, baseVersion, updates }: DetectConflictsArguments,
): Promise<DetectConflictsResult> {
  const newest = await parts.store.newest(owner, taskId);
  const base = await baseOf(parts, owner, taskId, baseVersion, newest);
  const conflicts = [...conflictsBetween(base, newest?.context ?? {}, updates)];
  const currentVersion = newest?.version ?? 0;
  return { taskId, baseVersion, currentVersion, hasConflicts: conflicts.length > 0, conflicts };
}

/** The context that a writer has read. @throws ToolLayerError E3801, E3707 */
export async function baseOf(
  { store }: ContextServerParts,
  owner: CallOwner,
  taskId: string,
  version: number,
  newest: StoredContext | undefined,
): Promise<StoredContext['context']> {
  const current = newest?.version ?? 0;
  if (version > current) throw futureVersion(taskId, version, current);
  if (version === 0) return {};
  const found = version === current ? newest : await store.version(owner, taskId, version);
  if (found === undefined) throw versionGone(taskId, version, current);
  return found.context;
}

/** A kept version. @throws ToolLayerError E3702 for a task without a context; E3801, E3707 */
export async function versionOf(
  { store }: ContextServerParts,
  owner: CallOwner,
  taskId: string,
  version: number,
): Promise<StoredContext> {
  const newest = await store.newest(owner, taskId);
  if (newest === undefined) throw unknownTask(taskId);
  if (version > newest.version) throw futureVersion(taskId, version, newest.version);
  const found = await store.version(owner, taskId, version);
  if (found === undefined) throw versionGone(taskId, version, newest.version);
  return found;
}

/** A checkpoint as the wire shows it. */
export function shownCheckpoint({ type, createdAt, ...facts }: ContextCheckpointFacts): ContextCheckpoint {
  return { ...facts, checkpointType: type, createdAt: isoTime(createdAt) };
}

const shownVersion = ({ version, change, sessionId, savedAt }: ContextVersionFacts) => ({
  version,
  change,
  ...(sessionId === undefined ? {} : { sessionId }),
  savedAt: isoTime(savedAt),
});

/** Sessions in the order of their last change; `versions` are newest first. */
function sessionsOf(versions: readonly ContextVersionFacts[]): UnifiedContext['sessions'] {
  const last = new Map<string, number>();
  for (const { sessionId, savedAt } of versions)
    if (sessionId !== undefined && !last.has(sessionId)) last.set(sessionId, savedAt);
  return [...last].map(([sessionId, savedAt]) => ({ sessionId, lastSavedAt: isoTime(savedAt) }));
}

/** Tools state in `document_versions` what they have read, as a checkpoint of the layer does (003 task 5). */
function documentsOf({ document_versions: stated }: StoredContext['context']): UnifiedContext['documents'] {
  if (!isObject(stated)) return [];
  return Object.entries(stated)
    .flatMap(([documentId, version]) => (typeof version === 'string' ? [{ documentId, version }] : []))
    .slice(0, DOCUMENTS_MAX);
}
