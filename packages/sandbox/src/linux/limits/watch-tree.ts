import { readdirSync } from 'node:fs';
import type { SandboxExit, SandboxLimits } from '../../driver.port.ts';
import { readText } from './group-folder.ts';
import { heldElsewhereMb } from './held-elsewhere.ts';

/** How often the tree is looked at. What lives shorter is not seen. */
const SAMPLE_MS = 50;
/** Clock ticks of /proc/PID/stat: 100 a second on every Linux we run on. */
const TICK_MS = 10;
const KIB_PER_MIB = 1024;

/** A watch over all processes of a sandbox, for machines without control groups. Figures are lower bounds. */
export interface TreeWatch {
  readonly cpuMs: number;
  readonly memoryPeakMb: number;
  readonly violation: SandboxExit['violation'];
  /** Whether the sandbox was seen with all the processes that it may have. */
  readonly full: boolean;
  stop(): void;
}

/**
 * Samples the tree below `root` and calls `end` once when it uses more memory or processes than it may.
 * @param isUsed whether the tree has used processor time already that does not count
 */
export function watchTree(root: number, limits: SandboxLimits, end: () => void, isUsed: boolean): TreeWatch {
  const usedMs = isUsed ? sum(treeOf(root), cpuMsOf) : 0;
  const watch: {
    cpuMs: number;
    memoryPeakMb: number;
    violation: SandboxExit['violation'];
    full: boolean;
    stop(): void;
  } = {
    cpuMs: 0,
    memoryPeakMb: 0,
    violation: undefined,
    full: false,
    stop: () => clearInterval(timer),
  };
  const sample = (): void => {
    const pids = treeOf(root);
    const memoryMb = sum(pids, ownMemoryMb) + heldElsewhereMb(root, limits);
    watch.memoryPeakMb = Math.max(watch.memoryPeakMb, memoryMb);
    watch.cpuMs = Math.max(watch.cpuMs, sum(pids, cpuMsOf) - usedMs);
    // The root is bubblewrap's own first process.
    const count = pids.length - 1;
    watch.full ||= count >= limits.processesMax;
    if (watch.violation !== undefined) return;
    // Too many processes are the cause where both limits are passed.
    if (count > limits.processesMax) watch.violation = 'processes';
    else if (memoryMb > limits.memoryMb) watch.violation = 'memory';
    if (watch.violation !== undefined) end();
  };
  const timer = setInterval(sample, SAMPLE_MS);
  return watch;
}

/** Pids of the direct children of a process. Children hang at the thread that started them. */
export function childrenOf(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readText(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

function treeOf(root: number): readonly number[] {
  const found = [root];
  for (let at = 0; at < found.length; at += 1) found.push(...childrenOf(found[at] ?? 0));
  return found;
}

/** Anonymous and shared memory, without the pages of programs and libraries. */
function ownMemoryMb(pid: number): number {
  const status = readText(`/proc/${pid}/status`);
  const kib = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
  return (kib('RssAnon') + kib('RssShmem')) / KIB_PER_MIB;
}

function cpuMsOf(pid: number): number {
  const stat = readText(`/proc/${pid}/stat`);
  // Fields from the third on, after the name, which may hold blanks: utime, stime, cutime and cstime are 14 to 17.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return sum(fields.slice(11, 15), Number) * TICK_MS;
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
