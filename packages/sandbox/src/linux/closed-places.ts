import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { SandboxSpec } from '../driver.port.ts';
import { type Mount, resolveMounts } from './mounts.ts';

/** Something in a mount that the sandbox sees as empty. */
export interface Cover {
  /** Real path of a file or folder that exists. */
  readonly path: string;
  /** `device:inode`. */
  readonly identity: string;
  readonly isFolder: boolean;
}

/** The part of the host that one sandbox sees. */
export interface View {
  readonly mounts: readonly Mount[];
  readonly covers: readonly Cover[];
}

/**
 * Checks the mounts of a spec against the layer's private places.
 * @param closed absolute paths, existing or not: data folder, files of settings, policies and the like
 * @throws E3105 for a mount that cannot be made, or lies at or below a closed place, or would let a tool create a
 *   missing one
 */
export function viewOf({ mounts: wanted, own = [] }: SandboxSpec, closed: readonly string[]): View {
  const granted = resolveMounts(wanted);
  const places = granted.length === 0 ? [] : outermost(closed.flatMap((path) => [path, realPlace(path)]));
  for (const { path } of granted) {
    if (places.some((place) => path === place || path.startsWith(`${place}/`))) {
      throw refused(path, 'belongs to the layer itself');
    }
  }
  const within = places.filter((place) => granted.some(({ path }) => isInside(place, path)));
  const covers = within.flatMap((place) => coverFor(place, granted));
  const ownMounts = resolveMounts(own.map((path) => ({ path, mode: 'ro' }))).map((mount) => ({
    ...mount,
    isOwn: true,
  }));
  return { mounts: [...granted, ...ownMounts], covers };
}

/** Drops places within another one: covering a folder covers its present and future content. */
function outermost(places: readonly string[]): readonly string[] {
  return [...new Set(places)].filter((path) => !places.some((other) => isInside(path, other)));
}

function coverFor(path: string, granted: readonly Mount[]): readonly Cover[] {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  // A link's target is a place of its own.
  if (stats?.isSymbolicLink() === true) return [];
  if (stats !== undefined) return [{ path, identity: `${stats.dev}:${stats.ino}`, isFolder: stats.isDirectory() }];
  const nearest = granted.findLast((mount) => isInside(path, mount.path));
  if (nearest?.mode !== 'rw') return [];
  throw refused(
    nearest.path,
    `would let a tool make ${path}, which the layer reads. Make it yourself, or grant another folder`,
  );
}

/** Real path of what exists; of what does not, the real path of its folder and its name. */
function realPlace(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : join(realPlace(folder), basename(path));
  }
}

function isInside(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}

function refused(path: string, why: string): ToolLayerError {
  return new ToolLayerError('E3105', `The sandbox cannot see ${path}: it ${why}.`, { details: { path } });
}
