import { execFile } from 'node:child_process';
import { readFile, readlink } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { codeOf } from '@sallyport/std/error-code';

/** Whether a process of this id exists and is more than a zombie. */
export async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it exists and belongs to someone else.
    if (codeOf(error) !== 'EPERM') return false;
  }
  const stat = await statOf(pid);
  return stat === undefined || !['Z', 'X'].includes(stat[0] ?? '');
}

/**
 * When a process started, in whatever unit the platform has: together with the process id it names one process, also
 * after the id was given to another one. Undefined when the platform does not say.
 */
export async function startOf(pid: number): Promise<string | undefined> {
  // Field 22 of proc_pid_stat(5), counted from field 3 on.
  if (process.platform === 'linux') return (await statOf(pid))?.[19];
  return (await ps(pid, 'lstart='))?.trim();
}

/** Whether the process is a PostgreSQL server of this data folder. */
export async function isServerOf(pid: number, clusterFolder: string): Promise<boolean> {
  if (!(await isAlive(pid))) return false;
  if (process.platform === 'linux') {
    // A server's working directory is its data folder.
    return (await readlink(`/proc/${pid}/cwd`).catch(() => '')) === clusterFolder;
  }
  return (await ps(pid, 'command='))?.includes(clusterFolder) ?? false;
}

/** Waits until the process is gone; false when it is not after `timeoutMs`. */
export async function hasEnded(pid: number, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (await isAlive(pid)) {
    if (performance.now() > deadline) return false;
    await sleep(5);
  }
  return true;
}

/** State and the fields after it; the fields before hold the program's name, which may hold anything. */
async function statOf(pid: number): Promise<readonly string[] | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
}

async function ps(pid: number, column: string): Promise<string | undefined> {
  const answer = await promisify(execFile)('ps', ['-p', String(pid), '-o', column]).catch(() => undefined);
  return answer?.stdout;
}
