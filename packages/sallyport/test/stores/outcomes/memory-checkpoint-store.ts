import type {
  CheckpointFacts,
  CheckpointLine,
  CheckpointStore,
  StoredCheckpoint,
} from '../../../src/bridges/checkpoint-store.port.ts';

const keyOf = (...names: readonly string[]): string => JSON.stringify(names);

/** Checkpoints in memory, for tests of the components above the store. */
export function memoryCheckpointStore(now: () => number = Date.now): CheckpointStore {
  const held = { lines: new Map<string, CheckpointLine>(), stored: new Map<string, StoredCheckpoint>() };
  return { ...savingIn(held, now), ...endingIn(held, now) };
}

interface Held {
  readonly lines: Map<string, CheckpointLine>;
  readonly stored: Map<string, StoredCheckpoint>;
}

const isOver = ({ expiresAt }: CheckpointFacts, now: number): boolean => expiresAt !== undefined && expiresAt <= now;
const change = ({ stored }: Held, tenantId: string, one: StoredCheckpoint): void =>
  void stored.set(keyOf(tenantId, one.checkpointId), one);
const ofLine = ({ stored }: Held, tenantId: string, lineId: string): StoredCheckpoint[] =>
  [...stored.values()].filter(({ owner, ...one }) => owner.tenantId === tenantId && one.lineId === lineId);

type Ending = 'keepUntil' | 'remove' | 'lineEnded' | 'expire';

function savingIn(held: Held, now: () => number): Omit<CheckpointStore, Ending> {
  const { lines, stored } = held;
  return {
    async put(checkpoint) {
      const { lineId, invocationId, sequence, owner } = checkpoint;
      const key = keyOf(owner.tenantId, lineId);
      const line = lines.get(key);
      const follows =
        line === undefined ? sequence === 1 : line.holder === invocationId && sequence === line.newest + 1;
      if (!follows) return false;
      lines.set(key, { lineId, holder: invocationId, newest: sequence });
      change(held, owner.tenantId, checkpoint);
      return true;
    },
    find: async (tenantId, checkpointId) => stored.get(keyOf(tenantId, checkpointId)),
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
      return true;
    },
  };
}

function endingIn(held: Held, now: () => number): Pick<CheckpointStore, Ending> {
  const { stored } = held;
  return {
    async keepUntil(tenantId, checkpointId, expiresAt) {
      const one = stored.get(keyOf(tenantId, checkpointId));
      if (one?.expiresAt !== undefined) change(held, tenantId, { ...one, expiresAt });
    },
    async remove(tenantId, checkpointId) {
      const gone = (id: string): boolean => {
        for (const child of stored.values())
          if (child.owner.tenantId === tenantId && child.parentId === id) gone(child.checkpointId);
        return stored.delete(keyOf(tenantId, id));
      };
      return gone(checkpointId);
    },
    async lineEnded(tenantId, lineId, expiresAt) {
      for (const one of ofLine(held, tenantId, lineId)) {
        if (expiresAt === undefined && one.type === 'micro') stored.delete(keyOf(tenantId, one.checkpointId));
        if (expiresAt !== undefined && one.type === 'macro')
          change(held, tenantId, { ...one, expiresAt: Math.min(one.expiresAt ?? expiresAt, expiresAt) });
      }
    },
    async expire(forgetMs, limit) {
      let changed = 0;
      for (const [key, one] of [...stored].slice(0, limit)) {
        const { expiresAt = Number.POSITIVE_INFINITY } = one;
        if (expiresAt <= now() - forgetMs) stored.delete(key);
        else if (expiresAt <= now() && one.packed !== undefined) stored.set(key, { ...one, packed: undefined });
        else continue;
        changed += 1;
      }
      return changed;
    },
  };
}
