import { lstat } from 'node:fs/promises';
import { resolvePlace } from '../confinement/resolve-place.ts';
import type { ListParameters } from '../parameters.ts';
import { jsonBytes } from '../text/line-window.ts';
import type { FileTask } from './file-task.ts';
import { checkListed } from './find-files.ts';
import { type TreeEntry, walkTree } from './walk-tree.ts';

const ENTRIES_DEFAULT = 200;
/** JSON overhead per entry, in bytes. */
const ENTRY_BYTES = 64;

/** The tool `file_list`. */
export async function listFolder(task: FileTask, parameters: ListParameters): Promise<Record<string, unknown>> {
  const { path: requested = '.', depth = 1, offset = 0, limit = ENTRIES_DEFAULT } = parameters;
  await using place = await resolvePlace(task, requested);
  checkListed(task, place.path);
  const tree = await walkTree(task, place, requested, { depth });
  const entries: Record<string, unknown>[] = [];
  let room = task.outputBytesMax;
  let at = 0;
  let more = false;
  for await (const entry of tree.entries) {
    if (entry.kind === 'file' && !task.policy.allowsRead(entry.path)) continue;
    at += 1;
    if (at <= offset) continue;
    room -= jsonBytes(entry.relative) + ENTRY_BYTES;
    more = entries.length === limit || room < 0;
    if (more) break;
    entries.push(await described(task, entry));
  }
  const incomplete = tree.incomplete();
  return {
    path: place.path,
    entries,
    more,
    ...(more ? { next_offset: offset + entries.length } : {}),
    ...(incomplete === undefined ? {} : { incomplete }),
  };
}

async function described(
  { handles }: FileTask,
  { relative, kind, folder, name }: TreeEntry,
): Promise<Record<string, unknown>> {
  if (kind !== 'file') return { path: relative, kind };
  // Stat of the name itself, not of a link's target; a vanished file has no size.
  const stats = await lstat(handles.at(folder, name)).catch(() => undefined);
  return { path: relative, kind, ...(stats === undefined ? {} : { bytes: stats.size }) };
}
