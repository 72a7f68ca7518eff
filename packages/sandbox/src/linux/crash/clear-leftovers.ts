import { readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ControlGroups } from '../limits/control-group.ts';
import { signal } from '../signal.ts';
import { isDead, MARK_PATTERN, startOf } from './layer-mark.ts';

/** Variable that identifies a sandbox's layer on its command line; the tool never gets it. */
export const MARK_VARIABLE = 'SALLYPORT_LAYER';
/** Beginning of the names of temporary folders; the mark of the layer follows. */
export const MARKED_FOLDER = 'sallyport-sandbox-';

/** Of bubblewrap, and of gVisor, which keeps its state in a marked folder. */
const MARKS_IN_COMMAND_LINE = [
  new RegExp(`\\0${MARK_VARIABLE}\\0(${MARK_PATTERN})\\0`),
  new RegExp(`\\0--root=[^\\0]*/${MARKED_FOLDER}(${MARK_PATTERN})-`),
];
const MARK_IN_FOLDER = new RegExp(`^${MARKED_FOLDER}(${MARK_PATTERN})-`);

/**
 * Removes leftovers of layers that are certainly gone, and nothing of a live layer: sandboxes, then their control
 * groups, and temporary folders. Sandboxes are left only when a layer and its crash watch were killed together while
 * one was being made. Never rejects: leftovers that cannot be removed stay for the next layer.
 */
export async function clearLeftovers(groups: ControlGroups | undefined, temporary = tmpdir()): Promise<void> {
  await endSandboxes();
  await Promise.all([groups?.removeDead(), removeFolders(temporary)]);
}

async function endSandboxes(): Promise<void> {
  const entries = await readdir('/proc').catch(() => []);
  for (const pid of entries.filter((entry) => /^\d+$/.test(entry)).map(Number)) {
    const start = startOf(pid);
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    const mark = MARKS_IN_COMMAND_LINE.map((pattern) => pattern.exec(line)?.[1]).find((found) => found !== undefined);
    // The pid may have been reused since.
    if (mark !== undefined && isDead(mark) && startOf(pid) === start) signal(pid, 'SIGKILL');
  }
}

async function removeFolders(temporary: string): Promise<void> {
  const names = await readdir(temporary).catch(() => []);
  const dead = names.filter((name) => {
    const mark = MARK_IN_FOLDER.exec(name)?.[1];
    return mark !== undefined && isDead(mark);
  });
  await Promise.all(dead.map((name) => rm(join(temporary, name), { recursive: true, force: true }).catch(() => {})));
}
