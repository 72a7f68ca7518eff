import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MARKED_FOLDER } from '../../packages/sandbox/src/linux/crash/clear-leftovers.ts';
import { ownMark } from '../../packages/sandbox/src/linux/crash/layer-mark.ts';
import { ownFolders } from '../../packages/sandbox/src/linux/limits/find-control-groups.ts';

/** What sandboxes of this process could leave on the host, by kind. Other programs use the same machine. */
export interface HostState {
  readonly processes: readonly string[];
  readonly mounts: readonly string[];
  readonly controlGroups: readonly string[];
  readonly sockets: readonly string[];
  readonly temporaryFiles: readonly string[];
  readonly sharedMemory: readonly string[];
  readonly descriptors: readonly string[];
}

/** How long processes and folders that are being removed may still be there. */
const PATIENCE_MS = 15_000;

/**
 * Looks at the host now.
 * @param isOther whether a process was not made by a sandbox; if given, sockets and pipes of this process are not
 * counted
 */
export function hostState(isOther?: (pid: string) => boolean): HostState {
  const mark = ownMark();
  return {
    processes: readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && isOurs(pid, mark) && isOther?.(pid) !== true),
    mounts: lines('/proc/self/mountinfo'),
    controlGroups: groupFolders().flatMap((folder) => entries(folder).filter((name) => name.includes(mark))),
    sockets: lines('/proc/net/unix').filter((line) => line.includes(mark)),
    temporaryFiles: entries(tmpdir())
      .filter((name) => name.startsWith(`${MARKED_FOLDER}${mark}`))
      .flatMap((name) => [name, ...entries(join(tmpdir(), name))]),
    sharedMemory: lines('/proc/sysvipc/shm')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , , maker = '']) => !isPostgres(maker))
      .map((words) => words.slice(0, 2).join(' ')),
    descriptors: entries('/proc/self/fd')
      .map(descriptorKind)
      // Sockets and pipes of other parts of this process come and go.
      .filter((kind) => kind !== '' && (isOther === undefined || !/^(?:socket|pipe|anon_inode):/.test(kind))),
  };
}

/**
 * Whether a process belongs to PostgreSQL: databases of tests have their own processes, and shared memory for the whole
 * machine.
 */
export function isPostgres(pid: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('postgres');
  } catch {
    return false;
  }
}

/** What is on the host and was not there before, after time to end; empty when nothing was left. */
export async function leftSince(before: HostState, isOther?: (pid: string) => boolean): Promise<readonly string[]> {
  const giveUpAt = Date.now() + PATIENCE_MS;
  for (;;) {
    const left = added(before, hostState(isOther));
    if (left.length === 0 || Date.now() > giveUpAt) return left;
    await sleep(50);
  }
}

function added(before: HostState, now: HostState): readonly string[] {
  return (Object.keys(before) as (keyof HostState)[]).flatMap((kind) => {
    const known = [...before[kind]];
    return now[kind].flatMap((item) => {
      const at = known.indexOf(item);
      if (at < 0) return [`${kind}: ${item}`];
      known.splice(at, 1);
      return [];
    });
  });
}

/** Whether a process is a descendant of this process, or names this layer on its command line. Zombies do not count. */
function isOurs(pid: string, mark: string): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    if (/^State:\s+[ZX]/m.test(status)) return false;
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark) || isBelow(status);
  } catch {
    return false;
  }
}

function isBelow(status: string): boolean {
  const parent = Number(/^PPid:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  if (parent === process.pid) return true;
  return parent > 1 && isBelow(readFileSync(`/proc/${parent}/status`, 'utf8'));
}

function groupFolders(): readonly string[] {
  const places = {
    mounts: lines('/proc/self/mountinfo').join('\n'),
    memberships: lines('/proc/self/cgroup').join('\n'),
  };
  return [...new Set(ownFolders(places).values())];
}

/** The target of a file descriptor without its numbers, which differ each time for pipes and sockets. */
function descriptorKind(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`).replace(/\d+/g, '#');
  } catch {
    // The descriptor that was open while the folder was listed.
    return '';
  }
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function lines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}
