import type { FileHandle } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { MiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { PROBE } from '../../folder-handle.ts';
import { READ } from '../confinement/handles.ts';
import { shown } from '../confinement/refusals.ts';
import { type Place, resolvePlace } from '../confinement/resolve-place.ts';
import type { GrepParameters } from '../parameters.ts';
import { detectEncoding, HEAD_BYTES, textDecoder } from '../text/encoding.ts';
import { compileLinePattern } from '../text/line-pattern.ts';
import { createMatches, type Matches } from '../text/matches.ts';
import { type FileTask, stopWhenAborted } from './file-task.ts';
import { checkListed, compileGlob } from './find-files.ts';
import { openRegular } from './read-file.ts';
import { walkTree } from './walk-tree.ts';

const MATCHES_DEFAULT = 100;

interface Search {
  readonly task: FileTask;
  readonly matches: Matches;
  readonly deadline: number;
  filesSearched: number;
  bytes: number;
  readonly skipped: { binary: number; too_large: number; unreadable: number };
  incomplete: string | undefined;
}

/** The tool `file_grep`. */
export async function searchFiles(task: FileTask, parameters: GrepParameters): Promise<Record<string, unknown>> {
  const search: Search = {
    task,
    matches: matchesOf(task, parameters),
    deadline: task.clock.monotonic() + task.bounds.searchMs,
    filesSearched: 0,
    bytes: 0,
    skipped: { binary: 0, too_large: 0, unreadable: 0 },
    incomplete: undefined,
  };
  const { path: requested = '.' } = parameters;
  await using place = await resolvePlace(task, requested);
  if (place.stats?.isDirectory() === true) await searchTree(search, place, parameters, requested);
  else await searchOne(search, place, requested);
  const { filesSearched, skipped, incomplete, matches } = search;
  return {
    path: place.path,
    matches: matches.found(),
    more: matches.isFull(),
    files_searched: filesSearched,
    skipped,
    ...(incomplete === undefined ? {} : { incomplete }),
  };
}

function matchesOf({ bounds, outputBytesMax }: FileTask, parameters: GrepParameters): Matches {
  const { pattern, fixed_string: isFixed = false, ignore_case: ignoreCase = false } = parameters;
  try {
    return createMatches({
      pattern: compileLinePattern(pattern, isFixed, ignoreCase),
      context: parameters.context ?? 0,
      limit: parameters.limit ?? MATCHES_DEFAULT,
      lineMax: bounds.grepLineMax,
      bytesMax: outputBytesMax,
    });
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown;
    const message = `pattern cannot be used: ${thrown.message}. Use RE2 syntax, or fixed_string: true.`;
    throw new ToolLayerError('E3509', message, { cause: thrown });
  }
}

async function searchOne(search: Search, place: Place, requested: string): Promise<void> {
  search.task.policy.checkRead(place.path);
  await using file = await openRegular(search.task, place, requested);
  await searchOpened(search, file, Number(place.stats?.size ?? 0n), shown(place.name).slice(1, -1));
}

async function searchTree(search: Search, place: Place, { glob }: GrepParameters, requested: string): Promise<void> {
  const { task, matches, deadline } = search;
  checkListed(task, place.path);
  const only = glob === undefined ? undefined : compileGlob(glob);
  const depth = Number.POSITIVE_INFINITY;
  const tree = await walkTree(task, place, requested, {
    depth,
    deadline,
    enters: ({ relative }) => only?.mayHold(relative) ?? true,
  });
  for await (const { kind, relative, path, folder, name } of tree.entries) {
    if (kind !== 'file' || only?.fits(relative) === false || !task.policy.allowsRead(path)) continue;
    await using file = await openFound(search, folder, name);
    if (file === undefined) continue;
    await searchOpened(search, file, (await file.stat()).size, relative);
    if (matches.isFull() || search.incomplete !== undefined) break;
  }
  search.incomplete ??= tree.incomplete();
}

/** The regular file of that name; undefined, and counted, when it no longer is one or may not be read. */
async function openFound({ task, skipped }: Search, folder: FileHandle, name: string): Promise<FileHandle | undefined> {
  try {
    await using probe = await task.handles.openAt(folder, name, PROBE);
    if ((await probe.stat()).isFile()) return await task.handles.reopen(probe, READ);
  } catch {
    // A vanished or unreadable file must not end a search over many.
  }
  skipped.unreadable += 1;
  return undefined;
}

async function searchOpened(search: Search, file: FileHandle, size: number, shownPath: string): Promise<void> {
  const { task, matches, skipped } = search;
  const { bounds } = task;
  stopWhenAborted(task);
  if (size > bounds.grepFileBytesMax) {
    skipped.too_large += 1;
    return;
  }
  const text = await textOf(task, file, size);
  if (text === undefined) {
    skipped.binary += 1;
    return;
  }
  search.filesSearched += 1;
  search.bytes += size;
  for (const _ of matches.search(text, shownPath)) {
    await setImmediate();
    stopWhenAborted(task);
    if (task.clock.monotonic() > search.deadline) search.incomplete = 'the time for one search was up';
    if (search.incomplete !== undefined) return;
  }
  if (search.bytes > bounds.grepBytesMax)
    search.incomplete = `only ${bounds.grepBytesMax} bytes are searched by one call`;
}

/** Undefined for binary files. */
async function textOf(task: FileTask, file: FileHandle, size: number): Promise<string | undefined> {
  const buffer = Buffer.alloc(size);
  let length = 0;
  while (length < size) {
    stopWhenAborted(task);
    const wanted = length === 0 ? Math.min(HEAD_BYTES, size) : Math.min(TEXT_CHUNK_BYTES, size - length);
    const { bytesRead } = await file.read(buffer, length, wanted, length);
    if (bytesRead === 0) break;
    if (length === 0 && detectEncoding(buffer.subarray(0, bytesRead)).encoding === 'binary') return undefined;
    length += bytesRead;
  }
  const bytes = buffer.subarray(0, length);
  const detected = detectEncoding(bytes.subarray(0, HEAD_BYTES));
  return textDecoder(detected)(bytes, true);
}

const TEXT_CHUNK_BYTES = 1 * MiB;
