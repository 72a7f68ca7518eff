import { ownerKey } from '../../../src/domain/invocation/call-owner.ts';
import type {
  ContextStore,
  StoredContext,
  StoredContextCheckpoint,
} from '../../../src/reference-servers/context-store.port.ts';

interface Task {
  readonly owner: string;
  readonly taskId: string;
  /** Oldest first. */
  versions: StoredContext[];
  readonly checkpoints: StoredContextCheckpoint[];
}

const savedAt = ({ versions }: Task): number => versions.at(-1)?.savedAt ?? 0;

/** Removes the oldest tasks without a named checkpoint. */
function forget(tasks: Task[], which: (task: Task) => boolean, limit: number): number {
  const gone = tasks
    .filter((task) => which(task) && task.checkpoints.every(({ type }) => type !== 'named'))
    .sort((a, b) => savedAt(a) - savedAt(b))
    .slice(0, limit);
  for (const task of gone) tasks.splice(tasks.indexOf(task), 1);
  return gone.length;
}

/** Contexts of tasks in memory, for tests of the components above the store. */
export function memoryContextStore(): ContextStore {
  const tasks: Task[] = [];
  const find = (owner: Parameters<typeof ownerKey>[0], taskId: string): Task | undefined =>
    tasks.find((task) => task.taskId === taskId && task.owner === ownerKey(owner));
  return {
    async put(owner, stored, { versionsMax, tasksMax }) {
      let task = find(owner, stored.taskId);
      if ((task?.versions.at(-1)?.version ?? 0) !== stored.version - 1) return 'stale';
      if (task === undefined) {
        const key = ownerKey(owner);
        if (tasks.filter((one) => one.owner === key).length >= tasksMax) return 'full';
        task = { owner: key, taskId: stored.taskId, versions: [], checkpoints: [] };
        tasks.push(task);
      }
      task.versions = [...task.versions, stored].slice(-versionsMax);
      return 'stored';
    },
    newest: async (owner, taskId) => find(owner, taskId)?.versions.at(-1),
    version: async (owner, taskId, version) => find(owner, taskId)?.versions.find((one) => one.version === version),
    versions: async (owner, taskId, limit) =>
      (find(owner, taskId)?.versions ?? [])
        .toReversed()
        .slice(0, limit)
        .map(({ context: _context, ...facts }) => facts),
    async addCheckpoint(owner, facts, { checkpointsMax }) {
      const task = find(owner, facts.taskId);
      const of = task?.versions.find(({ version }) => version === facts.version);
      if (task === undefined || of === undefined) return 'gone';
      if (task.checkpoints.length >= checkpointsMax) return 'full';
      task.checkpoints.push({ ...facts, context: of.context });
      return 'stored';
    },
    checkpoints: async (owner, taskId, limit) =>
      (find(owner, taskId)?.checkpoints ?? [])
        .toReversed()
        .slice(0, limit)
        .map(({ context: _context, ...facts }) => facts),
    checkpoint: async (owner, taskId, checkpointId) =>
      find(owner, taskId)?.checkpoints.find((one) => one.checkpointId === checkpointId),
    forget: async (savedBefore, limit) => forget(tasks, (task) => savedAt(task) < savedBefore, limit),
    forgetOldest: async (owner) => forget(tasks, (task) => task.owner === ownerKey(owner), 1) > 0,
  };
}
