import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const REMOVE_RETRY_MS = 2;
const REMOVE_TRIES_MAX = 500;
const PREFIX = 'sallyport-';
const NAME = /^sallyport-(\d+)-[0-9a-f]{8}-\d+$/;

/** Names for the groups of one driver: the layer's pid, so that leftovers of a dead layer are known, and a random part. */
export function groupNames(): () => string {
  const mark = randomBytes(4).toString('hex');
  let count = 0;
  return () => {
    count += 1;
    return `${PREFIX}${process.pid}-${mark}-${count}`;
  };
}

/** Removes what a layer left that was killed. Groups with processes in them cannot be removed, so nothing is lost. */
export function sweepDeadGroups(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = NAME.exec(name)?.[1];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    try {
      rmdirSync(join(parent, name));
    } catch {
      // Another layer was faster, or something still runs in it.
    }
  }
}

/** Removes group folders. The kernel says EBUSY for some ms after the last process ended. */
export async function removeGroupFolders(folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    for (let tries = 0; tries < REMOVE_TRIES_MAX; tries += 1) {
      try {
        await rmdir(folder);
        break;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EBUSY') break;
        await sleep(REMOVE_RETRY_MS);
      }
    }
  }
}

/** Pids listed in a `cgroup.procs` file; none when the group is gone. */
export function readPids(folder: string): readonly number[] {
  return readText(join(folder, 'cgroup.procs')).split('\n').filter(Boolean).map(Number);
}

/** Text of a group's file; empty when it does not exist, as on kernels without that figure. */
export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** The number after a word in a file of `word number` lines; 0 when absent. */
export function counterIn(text: string, word: string): number {
  const found = text.split('\n').find((line) => line.startsWith(`${word} `));
  return Number(found?.slice(word.length + 1) ?? 0);
}
