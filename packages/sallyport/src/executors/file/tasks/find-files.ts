import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { Minimatch } from 'minimatch';
import { GLOB_OPTIONS } from '../confinement/path-policy.ts';
import { forbidden } from '../confinement/refusals.ts';
import { resolvePlace } from '../confinement/resolve-place.ts';
import type { GlobParameters } from '../parameters.ts';
import { jsonBytes } from '../text/line-window.ts';
import type { FileTask } from './file-task.ts';
import { walkTree } from './walk-tree.ts';

const PATHS_DEFAULT = 200;
/** JSON overhead per path, in bytes. */
const PATH_BYTES = 4;

/** The tool `file_glob`. */
export async function findFiles(task: FileTask, parameters: GlobParameters): Promise<Record<string, unknown>> {
  const { pattern, path: requested = '.', limit = PATHS_DEFAULT } = parameters;
  const glob = compileGlob(pattern);
  await using place = await resolvePlace(task, requested);
  checkListed(task, place.path);
  const tree = await walkTree(task, place, requested, {
    depth: Number.POSITIVE_INFINITY,
    enters: ({ relative }) => glob.mayHold(relative),
    deadline: task.clock.monotonic() + task.bounds.searchMs,
  });
  const paths: string[] = [];
  let room = task.outputBytesMax;
  let more = false;
  for await (const { kind, relative, path } of tree.entries) {
    if (kind !== 'file' || !glob.fits(relative) || !task.policy.allowsRead(path)) continue;
    room -= jsonBytes(relative) + PATH_BYTES;
    more = paths.length === limit || room < 0;
    if (more) break;
    paths.push(relative);
  }
  const incomplete = tree.incomplete();
  return { path: place.path, paths, more, ...(incomplete === undefined ? {} : { incomplete }) };
}

/** @throws ToolLayerError E3210 for a folder that may not be shown */
export function checkListed({ policy }: FileTask, path: string): void {
  if (policy.deniesRead(path)) throw forbidden(path, 'is a place that the policy of this layer keeps closed');
}

/** A glob over paths below a folder. */
export interface CompiledGlob {
  fits(relative: string): boolean;
  /** True when something below this folder may match. */
  mayHold(relative: string): boolean;
}

/** @throws ToolLayerError E3509 for a glob that leaves its folder */
export function compileGlob(pattern: string): CompiledGlob {
  if (pattern.startsWith('/') || pattern.split('/').includes('..')) {
    throw new ToolLayerError('E3509', 'A glob stays below its folder: say the folder in path, and no "..".');
  }
  const glob = new Minimatch(pattern.includes('/') ? pattern : `**/${pattern}`, GLOB_OPTIONS);
  return { fits: (relative) => glob.match(relative), mayHold: (relative) => glob.match(relative, true) };
}
