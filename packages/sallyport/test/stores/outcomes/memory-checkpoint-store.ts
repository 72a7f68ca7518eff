import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { CheckpointArchive, NamedObject } from '../../../src/bridges/checkpoint-archive.port.ts';
import type {
  CheckpointFacts,
  CheckpointLine,
  CheckpointStore,
  StoredCheckpoint,
} from '../../../src/bridges/checkpoint-store.port.ts';

const keyOf = (...names: readonly string[]): string => JSON.stringify(names);

/** Checkpoints in memory, for tests of the components above the store. */
export function memoryCheckpointStore(now: () => number = Date.now): CheckpointStore & CheckpointArchive {
  const held: Held = {
    lines: new Map(),
    linesAt: new Map(),
    reporters: new Map(),
    stored: new Map(),
    objects: new Map(),
    now,
  };
  return { ...savingIn(held, now), ...endingIn(held, now), ...archiveIn(held) };
}

interface Held {
  readonly lines: Map<string, CheckpointLine>;
  /** When each line changed last. */
  readonly linesAt: Map<string, number>;
  /** Instances that have to report checkpoints yet. */
  readonly reporters: Map<string, string>;
  readonly stored: Map<string, StoredCheckpoint>;
  /** `removeAfter` is infinite while a checkpoint has the object. */
  readonly objects: Map<string, NamedObject & { readonly removeAfter: number }>;
  readonly now: () => number;
}

const isOver = ({ expiresAt }: CheckpointFacts, now: number): boolean => expiresAt !== undefined && expiresAt <= now;

/** Each change and deletion goes through here: an object is unused once no checkpoint has it. */
function change(held: Held, tenantId: string, checkpointId: string, one: StoredCheckpoint | undefined): boolean {
  const key = keyOf(tenantId, checkpointId);
  const before = objectOf(held.stored.get(key));
  const after = objectOf(one);
  if (before !== after) {
    if (after !== undefined) use(held, tenantId, after);
    if (before !== undefined)
      held.objects.set(keyOf(tenantId, before), { tenantId, name: before, removeAfter: held.now() });
  }
  if (one === undefined) return held.stored.delete(key);
  held.stored.set(key, one);
  return true;
}

const objectOf = (one: StoredCheckpoint | undefined): string | undefined =>
  one?.packed !== undefined && 'object' in one.packed ? one.packed.object.name : undefined;

function use({ objects, now }: Held, tenantId: string, name: string): void {
  const announced = objects.get(keyOf(tenantId, name));
  if (announced === undefined || announced.removeAfter <= now() || announced.removeAfter === Number.POSITIVE_INFINITY)
    throw new ToolLayerError('E3812', 'The object was not announced, or its time is over.');
  objects.set(keyOf(tenantId, name), { tenantId, name, removeAfter: Number.POSITIVE_INFINITY });
}

function archiveIn(held: Held): CheckpointArchive {
  const { stored, objects, now } = held;
  return {
    async announce(object, removeAfter) {
      objects.set(keyOf(object.tenantId, object.name), { ...object, removeAfter });
    },
    due: async (limit, skipped) =>
      [...stored.values()]
        .filter((one) => (one.archiveAt ?? Number.POSITIVE_INFINITY) <= now() && !isOver(one, now()) && one.packed)
        .sort((a, b) => (a.archiveAt ?? 0) - (b.archiveAt ?? 0))
        .slice(skipped, skipped + limit)
        .map(({ packed: _packed, ...facts }) => facts),
    async move(tenantId, checkpointId, packed, times) {
      const found = stored.get(keyOf(tenantId, checkpointId));
      if (found === undefined || isOver(found, now())) return false;
      const { archiveAt: _at, archivedAt: _since, ...kept } = found;
      return change(held, tenantId, checkpointId, { ...kept, ...times, packed });
    },
    unused: async (limit) =>
      [...objects.values()]
        .filter(({ removeAfter }) => removeAfter <= now())
        .sort((a, b) => a.removeAfter - b.removeAfter)
        .slice(0, limit)
        .map(({ tenantId, name }) => ({ tenantId, name })),
    async removed({ tenantId, name }) {
      const key = keyOf(tenantId, name);
      if ((objects.get(key)?.removeAfter ?? Number.POSITIVE_INFINITY) <= now()) objects.delete(key);
    },
  };
}

const ofLine = ({ stored }: Held, tenantId: string, lineId: string): StoredCheckpoint[] =>
  [...stored.values()].filter(({ owner, ...one }) => owner.tenantId === tenantId && one.lineId === lineId);

type Ending =
  | 'forgetLines'
  | 'keepUntil'
  | 'remove'
  | 'lineEnded'
  | 'expire'
  | 'removeAfterChanges'
  | 'unreported'
  | 'reported';

function savingIn(held: Held, now: () => number): Omit<CheckpointStore, Ending> {
  const { lines, stored } = held;
  return {
    async put(checkpoint, reporter) {
      const { lineId, invocationId, sequence, owner } = checkpoint;
      const key = keyOf(owner.tenantId, lineId);
      const line = lines.get(key);
      const follows =
        line === undefined ? sequence === 1 : line.holder === invocationId && sequence === line.newest + 1;
      const { parentId } = checkpoint;
      const hasParent = parentId === undefined || stored.get(keyOf(owner.tenantId, parentId))?.packed !== undefined;
      if (!follows || !hasParent) return false;
      change(held, owner.tenantId, checkpoint.checkpointId, checkpoint);
      if (reporter !== undefined) held.reporters.set(keyOf(owner.tenantId, checkpoint.checkpointId), reporter);
      lines.set(key, { lineId, holder: invocationId, newest: sequence });
      held.linesAt.set(key, now());
      return true;
    },
    find: async (tenantId, checkpointId) => stored.get(keyOf(tenantId, checkpointId)),
    async ancestors(tenantId, checkpointId, limit) {
      const chain: StoredCheckpoint[] = [];
      const parentOf = (id: string | undefined): StoredCheckpoint | undefined =>
        id === undefined ? undefined : stored.get(keyOf(tenantId, id));
      let next = parentOf(parentOf(checkpointId)?.parentId);
      for (; next !== undefined && chain.length < limit; next = parentOf(next.parentId)) chain.push(next);
      return chain;
    },
    line: async (tenantId, lineId) => lines.get(keyOf(tenantId, lineId)),
    async lineOf(tenantId, invocationId) {
      const holding = [...lines].find(
        ([key, { holder, lineId }]) => holder === invocationId && key === keyOf(tenantId, lineId),
      );
      if (holding !== undefined) return holding[1];
      const saved = [...stored.values()].find(
        (one) => one.owner.tenantId === tenantId && one.invocationId === invocationId,
      );
      return saved === undefined ? undefined : lines.get(keyOf(tenantId, saved.lineId));
    },
    list: async (tenantId, lineId, limit, before = Number.POSITIVE_INFINITY) =>
      ofLine(held, tenantId, lineId)
        .filter((one) => one.sequence < before && one.packed !== undefined && !isOver(one, now()))
        .sort((a, b) => b.sequence - a.sequence)
        .slice(0, limit)
        .map(({ packed: _packed, ...facts }) => facts),
    async take(tenantId, lineId, from, to) {
      const key = keyOf(tenantId, lineId);
      const line = lines.get(key);
      if (line?.holder !== from) return false;
      lines.set(key, { ...line, holder: to });
      held.linesAt.set(key, now());
      return true;
    },
  };
}

function endingIn(held: Held, now: () => number): Pick<CheckpointStore, Ending> {
  const { stored } = held;
  return {
    async keepUntil(tenantId, checkpointId, expiresAt) {
      const one = stored.get(keyOf(tenantId, checkpointId));
      if (one?.expiresAt !== undefined) change(held, tenantId, checkpointId, { ...one, expiresAt });
    },
    async remove(tenantId, checkpointId) {
      const gone = (id: string): boolean => {
        for (const child of stored.values())
          if (child.owner.tenantId === tenantId && child.parentId === id) gone(child.checkpointId);
        return change(held, tenantId, id, undefined);
      };
      return gone(checkpointId);
    },
    async unreported(reporter, limit) {
      const left = [...stored].filter(([key]) => held.reporters.get(key) === reporter).map(([, one]) => one);
      const first = left.sort((a, b) => a.savedAt - b.savedAt).slice(0, limit);
      return first.map(({ packed: _packed, ...facts }) => facts);
    },
    async reported(tenantId, lineId, sequence) {
      for (const one of ofLine(held, tenantId, lineId))
        if (one.sequence <= sequence) held.reporters.delete(keyOf(tenantId, one.checkpointId));
    },
    async removeAfterChanges(tenantId, invocationId) {
      for (const one of [...stored.values()])
        if (one.owner.tenantId === tenantId && one.invocationId === invocationId && one.afterChanges === true)
          change(held, tenantId, one.checkpointId, undefined);
    },
    async lineEnded(tenantId, lineId, expiresAt) {
      for (const one of ofLine(held, tenantId, lineId)) {
        if (expiresAt === undefined && one.type === 'micro') change(held, tenantId, one.checkpointId, undefined);
        if (expiresAt !== undefined && one.type === 'macro' && one.archivedAt === undefined) {
          const { archiveAt: _at, ...kept } = one;
          const sooner = Math.min(one.expiresAt ?? expiresAt, expiresAt);
          change(held, tenantId, one.checkpointId, { ...kept, expiresAt: sooner });
        }
      }
    },
    async forgetLines(unchangedMs, limit) {
      const kept = new Set([...stored.values()].map(({ owner, lineId }) => keyOf(owner.tenantId, lineId)));
      const old = [...held.linesAt].filter(([key, at]) => at < now() - unchangedMs && !kept.has(key)).slice(0, limit);
      for (const [key] of old) held.linesAt.delete(key) && held.lines.delete(key);
      return old.length;
    },
    async expire(forgetMs, limit) {
      let changed = 0;
      for (const one of [...stored.values()]) {
        if (changed >= limit) break;
        const { expiresAt = Number.POSITIVE_INFINITY, checkpointId, packed } = one;
        const { tenantId } = one.owner;
        const isParent = [...stored.values()].some(
          (child) => child.owner.tenantId === tenantId && child.parentId === checkpointId && child.packed !== undefined,
        );
        if (expiresAt <= now() && packed !== undefined && !isParent)
          change(held, tenantId, checkpointId, { ...one, packed: undefined });
        else if (expiresAt <= now() - forgetMs && packed === undefined) change(held, tenantId, checkpointId, undefined);
        else continue;
        changed += 1;
      }
      return changed;
    },
  };
}
