import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Log } from '../telemetry/log.ts';
import type { CheckpointArchive } from './checkpoint-archive.port.ts';
import type { CheckpointFacts, CheckpointStore } from './checkpoint-store.port.ts';
import type { ObjectStore } from './object-store.port.ts';
import { readObject, writeObject } from './state/state-objects.ts';

/** Removal and archiving of checkpoints after their time (STA-06). Several instances may do it at once. */
export interface Retention {
  /**
   * Drops what has expired, and removes objects that belong to no checkpoint any more.
   * @param isStopped ends it early
   * @throws E3812, E3823
   */
  expire(isStopped: () => boolean): Promise<void>;
  /**
   * Removes what is known of work of which no checkpoint is left.
   * @param isStopped ends it early
   * @throws E3812
   */
  forgetWork(isStopped: () => boolean): Promise<void>;
  /**
   * Moves the states of milestones whose time has come to the archive, one after the other. One that cannot be read stays where
   * it is. After an error nothing is lost: what was not moved is in the database.
   * @param mayContinue called before each one
   * @throws E3812, E3823
   */
  archive(mayContinue: () => Promise<boolean>): Promise<void>;
}

/** Dependencies of the retention. */
export interface RetentionParts {
  readonly store: Pick<CheckpointStore, 'expire' | 'find' | 'forgetLines'>;
  readonly archive: CheckpointArchive;
  readonly objects: ObjectStore;
  readonly clock: Clock;
  readonly log: Log;
}

/** Rows of one statement: a state may take some MiB. */
const STATES_AT_ONCE = 64;
/** How long an expired checkpoint is still known as such, in ms. */
const EXPIRED_KNOWN_MS = 7 * 86_400_000;
/** Rows of one statement: each is short. */
const LINES_AT_ONCE = 1_000;
/** How long work without a checkpoint is known, in ms; no call runs for longer. */
const WORK_KNOWN_MS = 7 * 86_400_000;
/** Statements of one turn; the next turn continues from there. */
const STATEMENTS_MAX = 200;

/** Creates the retention over a store and its objects. */
export function createRetention(parts: RetentionParts): Retention {
  return {
    async expire(isStopped) {
      for (let statements = 0; statements < STATEMENTS_MAX && !isStopped(); statements += 1) {
        if ((await parts.store.expire(EXPIRED_KNOWN_MS, STATES_AT_ONCE)) < STATES_AT_ONCE) break;
      }
      await removeUnused(parts, isStopped);
    },
    async forgetWork(isStopped) {
      for (let statements = 0; statements < STATEMENTS_MAX && !isStopped(); statements += 1) {
        if ((await parts.store.forgetLines(WORK_KNOWN_MS, LINES_AT_ONCE)) < LINES_AT_ONCE) return;
      }
    },
    archive: (mayContinue) => archiveDue(parts, mayContinue),
  };
}

async function removeUnused({ archive, objects }: RetentionParts, isStopped: () => boolean): Promise<void> {
  for (let statements = 0; statements < STATEMENTS_MAX; statements += 1) {
    const unused = await archive.unused(STATES_AT_ONCE);
    for (const object of unused) {
      if (isStopped()) return;
      await objects.remove(object.name);
      await archive.removed(object);
    }
    if (unused.length < STATES_AT_ONCE) return;
  }
}

async function archiveDue(parts: RetentionParts, mayContinue: () => Promise<boolean>): Promise<void> {
  let moved = 0;
  let unreadable = 0;
  for (;;) {
    const due = await parts.archive.due(STATES_AT_ONCE, unreadable);
    for (const facts of due) {
      if (!(await mayContinue())) return;
      if (await archiveOne(parts, facts)) moved += 1;
      else unreadable += 1;
    }
    if (due.length < STATES_AT_ONCE) break;
  }
  if (moved + unreadable > 0) parts.log.info('checkpoints-archived', { moved, unreadable });
}

/** @returns false when its state cannot be read; it is tried again on the next day */
async function archiveOne(parts: RetentionParts, { checkpointId, owner }: CheckpointFacts): Promise<boolean> {
  const { tenantId } = owner;
  try {
    const stored = await parts.store.find(tenantId, checkpointId);
    // It was removed, or has expired, in the meantime.
    if (stored?.packed === undefined) return true;
    const packed = await readObject(parts.objects, checkpointId, stored.packed);
    const archived = await writeObject(parts, tenantId, packed, 'archived');
    await parts.archive.move(tenantId, checkpointId, archived, { archivedAt: parts.clock.now() });
    return true;
  } catch (thrown) {
    if (!(thrown instanceof ToolLayerError) || !UNREADABLE.has(thrown.code)) throw thrown;
    parts.log.warn('checkpoint-not-archived', { checkpoint: checkpointId, code: thrown.code });
    return false;
  }
}

/** Codes of a state that is damaged, or in an archive already. */
const UNREADABLE: ReadonlySet<string> = new Set(['E3703', 'E3708']);
