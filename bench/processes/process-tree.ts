import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** CPU time of processes, in µs. */
export interface CpuTime {
  /** Of the process itself. */
  readonly own: number;
  /** Of the process and all that it started, directly or not. */
  readonly tree: number;
}

/** A process and all that it started, directly or not, the process first. Empty when it is gone. */
export function processTree(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    const parent = /^\d+$/.test(name) ? statOf(Number(name))?.[1] : undefined;
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  if (!parents.has(pid)) return [];
  const tree = [pid];
  // The list grows while it is walked, until nobody has more children.
  for (const member of tree) for (const [child, parent] of parents) if (parent === member) tree.push(child);
  return tree;
}

/**
 * CPU time so far, from /proc/PID/stat; steps of 10 ms on most machines.
 * @param tree what `processTree` answered
 */
export function cpuTime(tree: readonly number[]): CpuTime {
  const times = tree.map(cpuOf);
  return { own: times[0] ?? 0, tree: times.reduce((sum, time) => sum + time, 0) };
}

/** Memory of processes, in MB. */
export interface Memory {
  /** Resident memory added up; what several processes share counts several times. */
  readonly rss: number;
  /** Shares counted once; undefined where the system does not let us see it. */
  readonly pss: number | undefined;
}

/** Memory of a process and all that it started. */
export function memoryOf(pid: number): Memory {
  const members = processTree(pid);
  const pss = members.map((member) => fieldOf(`/proc/${member}/smaps_rollup`, 'Pss'));
  return {
    rss: sum(members.map((member) => fieldOf(`/proc/${member}/status`, 'VmRSS') ?? 0)),
    pss: pss.some((value) => value === undefined) ? undefined : sum(pss.map((value) => value ?? 0)),
  };
}

/** A field of a process file in MB; undefined when the file may not be read. */
function fieldOf(file: string, field: string): number | undefined {
  const text = textOf(file);
  const kilobytes = text === undefined ? undefined : new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1];
  return kilobytes === undefined ? undefined : (Number(kilobytes) * BYTES_PER_KILOBYTE) / BYTES_PER_MEGABYTE;
}

const BYTES_PER_KILOBYTE = 1024;
const BYTES_PER_MEGABYTE = 1e6;

function cpuOf(pid: number): number {
  // Fields 14 and 15 of proc_pid_stat(5), counted from field 3 on.
  const stat = statOf(pid);
  return ((Number(stat?.[11] ?? 0) + Number(stat?.[12] ?? 0)) / ticksPerSecond()) * 1e6;
}

let ticks: number | undefined;

function ticksPerSecond(): number {
  ticks ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  return ticks;
}

/** State and the fields after it; the fields before hold the program's name, which may hold anything. */
function statOf(pid: number): readonly string[] | undefined {
  const text = textOf(`/proc/${pid}/stat`);
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** Undefined when the process has ended meanwhile, or belongs to somebody else. */
function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
