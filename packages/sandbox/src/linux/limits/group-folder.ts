import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDead, MARK_PATTERN, ownMark } from '../crash/layer-mark.ts';

const REMOVE_RETRY_MS = 2;
const REMOVE_TRIES_MAX = 500;
const PREFIX = 'sallyport-';
const NAME = new RegExp(`^${PREFIX}(${MARK_PATTERN})-[0-9a-f]{8}-\\d+$`);

/** Names for the groups of one driver: the layer's mark, so that leftovers of a dead layer are known, and a random part. */
export function groupNames(): () => string {
  const prefix = `${PREFIX}${ownMark()}-${randomBytes(4).toString('hex')}`;
  let count = 0;
  return () => {
    count += 1;
    return `${prefix}-${count}`;
  };
}

/** Removes the groups of layers that are gone. Groups with processes in them cannot be removed, so nothing is lost. */
export async function removeDeadGroups(parents: readonly string[]): Promise<void> {
  const removals = parents.map(async (parent) => {
    const names = await readdir(parent).catch(() => []);
    const dead = names.filter((name) => {
      const mark = NAME.exec(name)?.[1];
      return mark !== undefined && isDead(mark);
    });
    await Promise.all(dead.map((name) => removeGroupFolders([join(parent, name)])));
  });
  await Promise.all(removals);
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
