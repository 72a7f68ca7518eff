import { execFile } from 'node:child_process';
import { readFile, readlink } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { codeOf } from '@sallyport/std/error-code';

/** True when a process with this id exists and is no zombie. */
export async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it exists and belongs to another user.
    if (codeOf(error) !== 'EPERM') return false;
  }
  const stat = await statOf(pid);
  return stat === undefined || !['Z', 'X'].includes(stat[0] ?? '');
}

/**
 * Start time of a process, in the platform's unit: together with the process id it identifies one process, even after
 * the id is reused. Undefined when the platform does not provide it.
 */
export async function startOf(pid: number): Promise<string | undefined> {
  // Field 22 of proc_pid_stat(5), counted from field 3 on.
  if (process.platform === 'linux') return (await statOf(pid))?.[19];
  return (await ps(pid, 'lstart='))?.trim();
}

/** True when the process is a PostgreSQL server of this data folder. */
export async function isServerOf(pid: number, clusterFolder: string): Promise<boolean> {
  if (process.platform === 'linux') {
    // A server's working directory is its data folder.
    return (await readlink(`/proc/${pid}/cwd`).catch(() => '')) === clusterFolder;
  }
  return (await ps(pid, 'command='))?.includes(clusterFolder) ?? false;
}

/** Waits until the process is gone; false when it still exists after `timeoutMs`. */
export async function hasEnded(pid: number, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (await isAlive(pid)) {
    if (performance.now() > deadline) return false;
    await sleep(5);
  }
  return true;
}

/** State and the fields after it; the fields before contain the program's name, which may be any text. */
async function statOf(pid: number): Promise<readonly string[] | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
}

async function ps(pid: number, column: string): Promise<string | undefined> {
  const answer = await promisify(execFile)('ps', ['-p', String(pid), '-o', column]).catch(() => undefined);
  return answer?.stdout;
}
