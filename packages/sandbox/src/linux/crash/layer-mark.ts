import { readFileSync, readlinkSync } from 'node:fs';

/** What a mark looks like, for expressions that look for one. */
export const MARK_PATTERN = '\\d+-\\d+-\\d+';

const UNKNOWN = '0';

/**
 * Identifies this process among all that ever ran on the machine: pid namespace, pid, and start in clock ticks since
 * boot. Everything that a layer makes outside itself carries its mark, so that another one can find out whether it is still
 * needed.
 */
export function ownMark(): string {
  return [ownNamespace(), process.pid, startOf(process.pid) ?? 0].join('-');
}

/**
 * True when the process with this mark is certainly gone. Processes in other pid namespaces are unknown from here:
 * their leftovers are theirs.
 */
export function isDead(mark: string): boolean {
  const [namespace, pid, start] = mark.split('-');
  return namespace !== UNKNOWN && namespace === ownNamespace() && startOf(Number(pid)) !== start;
}

/** When a process began, in clock ticks since boot; undefined when it is gone or only waits to be reaped. */
export function startOf(pid: number): string | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // Fields from the third on, after the name, which may hold blanks: state is 3, the start 22.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' || state === 'X' ? undefined : fields[18];
}

function ownNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? UNKNOWN;
  } catch {
    return UNKNOWN;
  }
}
