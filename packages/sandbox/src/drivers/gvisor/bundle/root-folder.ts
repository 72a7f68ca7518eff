import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  rmdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { MARKED_FOLDER } from '../../../linux/crash/clear-leftovers.ts';
import { ownMark } from '../../../linux/crash/layer-mark.ts';
import { madeUpFiles, SHOWN_ETC } from '../../../linux/made-up-files.ts';

/** Roots that are links into /usr on merged systems and folders on older ones. */
const ROOTS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
const MOUNT_POINTS = ['dev', 'proc', 'run', 'sys', 'tmp', 'usr'];
const ZONE = '/etc/localtime';
/** Others may traverse it, and see only what they know by name. */
const PASSABLE = 0o711;

let shared: string | undefined;

/**
 * The folder for all files of this process's drivers, created when missing. A killed layer leaves it for the next one,
 * which recognises it by the mark in its name (`clearLeftovers`).
 */
export function driverFolder(): string {
  if (shared !== undefined && existsSync(shared)) return shared;
  const folder = mkdtempSync(join(tmpdir(), `${MARKED_FOLDER}${ownMark()}-`));
  chmodSync(folder, PASSABLE);
  shared = folder;
  return folder;
}

/** Removes the folder when it is empty. Synchronous, so that nobody can be about to put something there. */
export function leaveDriverFolder(): void {
  try {
    if (shared !== undefined) rmdirSync(shared);
  } catch {
    // Other sandboxes run.
  }
}

/** Host paths that every tool sees, read-only. Determined once: a host does not merge its /usr while we run. */
export function shownPaths(): readonly string[] {
  const folders = ROOTS.filter((path) => existsSync(path) && !isLink(path));
  const etc = [...SHOWN_ETC, ...(isLink(ZONE) ? [] : [ZONE])].filter((path) => existsSync(path));
  return ['/usr', ...folders, ...etc];
}

/**
 * Makes the root file system of one sandbox: links, generated files, and a place for each mount, since runsc may not
 * make them.
 * @param uid uid that the tool sees as its own
 * @param binds host paths bound over it
 */
export function makeRoot(
  root: string,
  uid: number,
  binds: readonly { readonly target: string; readonly isFolder: boolean }[],
): void {
  mkdirSync(root, { mode: 0o755 });
  for (const name of MOUNT_POINTS) mkdirSync(join(root, name));
  for (const path of [...ROOTS, ZONE].filter(isLink)) makeIn(root, path, (at) => symlinkSync(readlinkSync(path), at));
  for (const [path, text] of Object.entries(madeUpFiles(uid))) makeIn(root, path, (at) => writeFileSync(at, text));
  for (const { target, isFolder } of binds) {
    // A path within another mount has its place there.
    const isPlaced = binds.some((other) => target.startsWith(`${other.target}/`)) || existsSync(join(root, target));
    if (isPlaced) continue;
    if (isFolder) mkdirSync(join(root, target), { recursive: true });
    else makeIn(root, target, (at) => writeFileSync(at, ''));
  }
}

function makeIn(root: string, path: string, make: (at: string) => void): void {
  const at = join(root, path);
  mkdirSync(dirname(at), { recursive: true });
  make(at);
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}
