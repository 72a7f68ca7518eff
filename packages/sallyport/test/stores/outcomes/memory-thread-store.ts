import {
  type StoredThreadState,
  type StoredValue,
  THREAD_ROW_BYTES,
  type ThreadPlace,
  type ThreadStore,
  type ThreadWrite,
} from '../../../src/bridges/thread-store.port.ts';
import { ownerKey } from '../../../src/domain/invocation/call-owner.ts';

interface Thread {
  readonly owner: string;
  readonly threadId: string;
  readonly states: Map<string, Omit<StoredThreadState, 'values'>>;
  readonly values: Map<string, StoredValue>;
  readonly writes: Map<string, ThreadWrite>;
  changedAt: number;
}

const keyOf = (...names: readonly (string | number)[]): string => JSON.stringify(names);
const placeKey = ({ namespace, checkpointId }: ThreadPlace): string => keyOf(namespace, checkpointId);

/** Threads in memory, for tests of the components above the store. */
export function memoryThreadStore(now: () => number = Date.now): ThreadStore {
  const threads = new Map<string, Thread>();
  const changed = (owner: string, threadId: string): Thread => {
    const empty = { owner, threadId, states: new Map(), values: new Map(), writes: new Map() };
    const thread = { ...(threads.get(keyOf(owner, threadId)) ?? empty), changedAt: now() };
    threads.set(keyOf(owner, threadId), thread);
    return thread;
  };
  const ofOwner = (owner: string): readonly Thread[] => [...threads.values()].filter((one) => one.owner === owner);
  return {
    async put(owner, { values, ...record }) {
      const there = threads.get(keyOf(ownerKey(owner), record.threadId))?.values;
      const isThere = ([channel, version]: [string, string]): boolean =>
        values.some((one) => one.channel === channel && one.version === version) ||
        there?.has(keyOf(record.namespace, channel, version)) === true;
      if (record.parentId !== undefined && !Object.entries(record.versions).every(isThere)) return false;
      const thread = changed(ownerKey(owner), record.threadId);
      thread.states.set(placeKey(record), record);
      for (const value of values) {
        const key = keyOf(record.namespace, value.channel, value.version);
        if (!thread.values.has(key)) thread.values.set(key, value);
      }
      return true;
    },
    async write(owner, place, writes) {
      if (writes.length === 0) return;
      const thread = changed(ownerKey(owner), place.threadId);
      for (const write of writes) {
        const key = keyOf(placeKey(place), write.taskId, write.index);
        if (write.index < 0 || !thread.writes.has(key)) thread.writes.set(key, write);
      }
    },
    async list(owner, { threadId, namespace, checkpointId, before, after, limit }) {
      const states = ofOwner(ownerKey(owner)).flatMap((thread) =>
        [...thread.states.values()].map((one) => ({ thread, one })),
      );
      const wanted = states.filter(
        ({ one }) =>
          one.threadId === (threadId ?? one.threadId) &&
          one.namespace === (namespace ?? one.namespace) &&
          one.checkpointId === (checkpointId ?? one.checkpointId) &&
          (before === undefined || one.checkpointId < before) &&
          (after === undefined || inOrder(after, one) < 0),
      );
      return wanted
        .toSorted((a, b) => inOrder(a.one, b.one))
        .slice(0, limit)
        .map(({ thread, one }) => ({ ...one, values: valuesOf(thread, one), writes: writesOf(thread, one) }));
    },
    async used(owner, threadId) {
      const all = ofOwner(ownerKey(owner));
      const others = all.filter((one) => one.threadId !== threadId).length;
      return { others, bytes: all.reduce((sum, thread) => sum + bytesOf(thread), 0) };
    },
    remove: async (owner, threadId) => void threads.delete(keyOf(ownerKey(owner), threadId)),
    async forget(changedBefore, limit) {
      const old = [...threads].filter(([, { changedAt }]) => changedAt < changedBefore);
      const gone = old.sort(([, a], [, b]) => a.changedAt - b.changedAt).slice(0, limit);
      for (const [key] of gone) threads.delete(key);
      return gone.length;
    },
  };
}

/** Newest first, then by thread and namespace. */
function inOrder(a: ThreadPlace, b: ThreadPlace): number {
  if (a.checkpointId !== b.checkpointId) return a.checkpointId < b.checkpointId ? 1 : -1;
  if (a.threadId !== b.threadId) return a.threadId < b.threadId ? -1 : 1;
  if (a.namespace === b.namespace) return 0;
  return a.namespace < b.namespace ? -1 : 1;
}

const valuesOf = (
  { values }: Thread,
  { namespace, versions }: Omit<StoredThreadState, 'values'>,
): readonly StoredValue[] =>
  Object.entries(versions).flatMap(([channel, version]) => values.get(keyOf(namespace, channel, version)) ?? []);

const writesOf = ({ writes }: Thread, place: ThreadPlace): readonly ThreadWrite[] =>
  [...writes]
    .filter(([key]) => key.startsWith(`[${JSON.stringify(placeKey(place))},`))
    .map(([, write]) => write)
    .sort(
      (a, b) =>
        (a.taskPath === b.taskPath ? 0 : a.taskPath < b.taskPath ? -1 : 1) ||
        (a.taskId === b.taskId ? a.index - b.index : a.taskId < b.taskId ? -1 : 1),
    );

function bytesOf({ states, values, writes }: Thread): number {
  const sizes = [
    ...[...states.values()].map(({ state, metadata }) => state.bytes.length + metadata.bytes.length),
    ...[...values.values()].map(({ packed }) => ('object' in packed ? packed.object.size : packed.bytes.length)),
    ...[...writes.values()].map(({ value }) => value.bytes.length),
  ];
  return sizes.reduce((sum, size) => sum + size + THREAD_ROW_BYTES, 0);
}
