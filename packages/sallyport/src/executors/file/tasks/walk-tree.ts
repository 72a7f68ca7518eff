import type { Dirent } from 'node:fs';
import { type FileHandle, opendir } from 'node:fs/promises';
import { PROBE_FOLDER } from '../../folder-handle.ts';
import { codeOf, fault, shown } from '../confinement/refusals.ts';
import type { Place } from '../confinement/resolve-place.ts';
import { type FileTask, stopWhenAborted } from './file-task.ts';

/** Something below a folder. */
export interface TreeEntry {
  /** Path relative to the start of the walk, without a leading slash. */
  readonly relative: string;
  /** Canonical. */
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  /** The folder that contains it; open until the next entry is requested. */
  readonly folder: FileHandle;
  readonly name: string;
}

export interface Tree {
  readonly entries: AsyncGenerator<TreeEntry>;
  /** Why the walk is incomplete; undefined when complete. Valid at the end. */
  readonly incomplete: () => string | undefined;
}

export interface TreeOptions {
  /** Levels; 1 is the folder itself. */
  readonly depth: number;
  /** False for folders to skip. Default: only denied ones. */
  readonly enters?: (entry: TreeEntry) => boolean;
  /** When to stop, by the task's clock in ms. */
  readonly deadline?: number;
}

interface Walk extends TreeOptions {
  readonly task: FileTask;
  readonly device: bigint;
  seen: number;
  incomplete: string | undefined;
}

/**
 * The content of a folder, each folder before its content, names in the order of their characters. Links are listed and
 * never followed; mounted file systems are listed and not entered; denied entries are not listed.
 * @throws ToolLayerError E3109 when the place is no folder
 */
export async function walkTree(task: FileTask, place: Place, requested: string, options: TreeOptions): Promise<Tree> {
  const { node, stats } = place;
  if (node === undefined || stats === undefined) throw fault(`${shown(requested)} does not exist.`);
  if (!stats.isDirectory()) throw fault(`${shown(requested)} is not a folder.`);
  const walk: Walk = { ...options, task, device: stats.dev, seen: 0, incomplete: undefined };
  const above = place.path === '/' ? '' : place.path;
  return { entries: below(walk, node, above, '', 1), incomplete: () => walk.incomplete };
}

async function* below(
  walk: Walk,
  folder: FileHandle,
  path: string,
  relative: string,
  level: number,
): AsyncGenerator<TreeEntry> {
  for (const entry of await sortedEntries(walk, folder)) {
    stopWhenAborted(walk.task);
    if (isSpent(walk)) return;
    const { name } = entry;
    const treeEntry: TreeEntry = {
      path: `${path}/${name}`,
      relative: `${relative}${name}`,
      kind: kindOf(entry),
      folder,
      name,
    };
    if (walk.task.policy.deniesRead(treeEntry.path)) continue;
    yield treeEntry;
    if (treeEntry.kind !== 'folder' || level >= walk.depth || walk.enters?.(treeEntry) === false) continue;
    if (level >= walk.task.bounds.depthMax) {
      walk.incomplete = `folders more than ${walk.task.bounds.depthMax} levels down were left out`;
      continue;
    }
    await using child = await enter(walk, folder, name);
    if (child !== undefined) yield* below(walk, child, treeEntry.path, `${treeEntry.relative}/`, level + 1);
  }
}

/** The folder of that name; undefined when it no longer is one, may not be opened, or is another file system. */
async function enter(walk: Walk, folder: FileHandle, name: string): Promise<FileHandle | undefined> {
  let child: FileHandle;
  try {
    child = await walk.task.handles.openAt(folder, name, PROBE_FOLDER);
  } catch (thrown) {
    if (codeOf(thrown) === 'EMFILE' || codeOf(thrown) === 'ENFILE') throw thrown;
    return undefined;
  }
  if ((await child.stat({ bigint: true })).dev === walk.device) return child;
  await child.close();
  return undefined;
}

async function sortedEntries(walk: Walk, folder: FileHandle): Promise<readonly Dirent[]> {
  const { bounds, handles } = walk.task;
  const entries: Dirent[] = [];
  try {
    for await (const entry of await opendir(handles.at(folder), { bufferSize: 256 })) {
      stopWhenAborted(walk.task);
      if (entries.length === bounds.folderEntriesMax) {
        walk.incomplete = `a folder has more than ${bounds.folderEntriesMax} entries; the others were left out`;
        break;
      }
      entries.push(entry);
    }
  } catch (thrown) {
    if (codeOf(thrown) !== 'EACCES') throw thrown;
    walk.incomplete = 'a folder may not be opened by the account that the layer runs under';
  }
  return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
}

function isSpent(walk: Walk): boolean {
  const { bounds, clock } = walk.task;
  walk.seen += 1;
  if (walk.seen > bounds.entriesMax) walk.incomplete = `only the first ${bounds.entriesMax} entries were looked at`;
  else if (walk.deadline !== undefined && clock.monotonic() > walk.deadline)
    walk.incomplete = 'the time for one search was up';
  else return false;
  return true;
}

function kindOf(entry: Dirent): TreeEntry['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  return entry.isSymbolicLink() ? 'link' : 'other';
}
