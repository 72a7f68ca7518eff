import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { createHandles } from './confinement/handles.ts';
import { createPathPolicy } from './confinement/path-policy.ts';
import { osFault, shown } from './confinement/refusals.ts';
import { resolvePlace } from './confinement/resolve-place.ts';
import { rootsOf } from './confinement/roots.ts';
import type { FileExecutorParts } from './file-executor.ts';
import { openRegular } from './tasks/read-file.ts';

/** A file that was read whole. */
export interface ConfinedFile {
  /** Absolute, without links. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/**
 * Reads whole files of some folders for other parts of the layer, confined as tools of kind `file` are.
 * @param folders absolute; a relative path begins at the first
 */
export function createConfinedReader(
  folders: readonly string[],
  { settings, closed }: Pick<FileExecutorParts, 'settings' | 'closed'>,
) {
  const handles = createHandles();
  const policy = createPathPolicy(settings, closed);
  const roots = rootsOf(folders.map((path) => ({ path, mode: 'ro' })));
  /**
   * @throws ToolLayerError E3102 a file with more than `bytesMax` bytes, E3105 a path outside the folders, E3109 no such
   *   file, E3210 a file that the settings keep closed, E3901 where /proc is missing, and the signal's reason
   */
  return async (path: string, bytesMax: number, signal: AbortSignal): Promise<ConfinedFile> => {
    try {
      await using place = await resolvePlace({ handles, roots, signal }, path);
      policy.checkRead(place.path);
      await using file = await openRegular({ handles }, place, path);
      // One byte more than may be read, since a file may grow meanwhile.
      const room = Buffer.alloc(Math.min(Number(place.stats?.size ?? 0n), bytesMax) + 1);
      let length = 0;
      for (let read = -1; read !== 0 && length < room.length; length += read)
        read = (await file.read(room, length, room.length - length, length)).bytesRead;
      if (length > bytesMax) throw tooLarge(path, bytesMax);
      return { path: place.path, bytes: room.subarray(0, length) };
    } catch (thrown) {
      throw osFault(thrown, path);
    }
  };
}

const tooLarge = (path: string, bytesMax: number): ToolLayerError =>
  new ToolLayerError('E3102', `${shown(path)} is longer than ${bytesMax} bytes.`);
