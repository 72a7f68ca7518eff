import { randomBytes } from 'node:crypto';
import { chmod, type FileHandle, lstat, rename, rmdir, unlink } from 'node:fs/promises';
import { at, codeOf, namesIn, openFolder, type RawName } from '../../folder-handle.ts';
import { TRANSACTION_BOUNDS } from '../settings.ts';
import type { Scope } from './scope.ts';
import { below, type Place } from './snapshot.ts';
import type { Moves } from './unless-stalled.ts';

/** Suffix of temporary files; a sweep may remove them. */
export const TEMPORARY_END = '.sallyport-tmp';

/** A name that is not in use. */
export const temporaryName = (): RawName => `.${randomBytes(9).toString('base64url')}${TEMPORARY_END}`;

/**
 * Removes the tree at a name, never through a link, as far as it is in scope. Folders nested deeper than handles can be
 * open are moved up first.
 */
export async function removeTree(
  of: { readonly scope: Scope; readonly moves: Moves },
  folder: FileHandle,
  name: RawName,
  place: Place,
): Promise<void> {
  const { scope, moves } = of;
  const stats = await lstat(at(folder, name)).catch(absent);
  if (stats === undefined) return;
  if (!stats.isDirectory()) {
    moves();
    if (scope.holds(place.path)) await unlink(at(folder, name));
    return;
  }
  const moved: RawName[] = [];
  await removeFolder({ ...of, top: folder, moved, levels: 0 }, folder, name, place);
  // Each was moved up from below, and may hold others to be moved.
  for (let next = moved.pop(); next !== undefined; next = moved.pop())
    await removeFolder({ ...of, top: folder, moved, levels: 0 }, folder, next, place);
}

interface Removal {
  readonly scope: Scope;
  readonly moves: Moves;
  /** Where too deeply nested folders are moved. */
  readonly top: FileHandle;
  readonly moved: RawName[];
  readonly levels: number;
}

async function removeFolder(removal: Removal, folder: FileHandle, name: RawName, place: Place): Promise<void> {
  const { scope, moves, top, moved, levels } = removal;
  moves();
  if (levels === TRANSACTION_BOUNDS.removalLevels && scope.everything) {
    const temporary = temporaryName();
    await rename(at(folder, name), at(top, temporary));
    moved.push(temporary);
    return;
  }
  {
    await using inner = await openFolder(folder, name);
    moves();
    // A tool may have removed the rights on its own folder.
    await chmod(at(inner), 0o700);
    for (const each of await namesIn(inner)) {
      const innerPlace = below(place, each);
      const stats = await lstat(at(inner, each)).catch(absent);
      moves();
      if (stats?.isDirectory() === true)
        await removeFolder({ ...removal, levels: levels + 1 }, inner, each, innerPlace);
      else if (stats !== undefined && scope.holds(innerPlace.path)) await unlink(at(inner, each));
    }
  }
  moves();
  // Content out of scope stays, and so does the folder.
  await rmdir(at(folder, name)).catch((thrown: unknown) => {
    if (scope.everything || codeOf(thrown) !== 'ENOTEMPTY') throw thrown;
  });
}

function absent(thrown: unknown): undefined {
  if (codeOf(thrown) !== 'ENOENT') throw thrown;
}
