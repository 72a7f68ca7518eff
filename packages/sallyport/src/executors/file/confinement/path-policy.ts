import { realpathSync } from 'node:fs';
import { Minimatch } from 'minimatch';
import type { FileSettings } from '../settings.ts';
import { forbidden } from './refusals.ts';

/** Only stars, question marks and brackets: these match in time linear in the path. Hidden files match like others. */
export const GLOB_OPTIONS = { nobrace: true, noext: true, dot: true, nocomment: true, nonegate: true } as const;

/** The deny and allow globs, applied to canonical paths. */
export interface PathPolicy {
  /** True when nothing of the path may be shown. */
  deniesRead(path: string): boolean;
  /** @throws ToolLayerError E3210 */
  checkRead(path: string): void;
  /** True when the allow globs permit reading this file; asked only when `deniesRead` is false. */
  allowsRead(path: string): boolean;
  /** Writing requires the right to read. @throws ToolLayerError E3210 */
  checkWrite(path: string): void;
}

/**
 * Prepares the globs. Deny wins over allow (seeds 002).
 * @param closed absolute folders of which nothing is ever shown, whatever the settings say
 */
export function createPathPolicy(settings: FileSettings, closed: readonly string[]): PathPolicy {
  const { denyRead, allowRead, denyWrite, allowWrite } = settings;
  const isDenied = matcher(denyRead.flatMap(withFolder));
  const isClosed = within(closed);
  const deniesRead = (path: string): boolean => isClosed(path) || isDenied(path);
  const deniesWrite = matcher(denyWrite.flatMap(withFolder));
  const reads = allowRead.length === 0 ? (): boolean => true : matcher(allowRead);
  const writes = allowWrite.length === 0 ? (): boolean => true : matcher(allowWrite);
  const checkRead = (path: string): void => {
    if (deniesRead(path)) throw forbidden(path, 'is a file that the policy of this layer keeps closed');
    if (!reads(path)) throw forbidden(path, 'is none of the files that the policy of this layer opens');
  };
  return {
    deniesRead,
    checkRead,
    allowsRead: reads,
    checkWrite: (path) => {
      checkRead(path);
      if (deniesWrite(path)) throw forbidden(path, 'is a file that the policy of this layer keeps from being written');
      if (!writes(path)) throw forbidden(path, 'is none of the files that the policy of this layer lets be written');
    },
  };
}

/** Tests whether a path is in one of the folders, both by text and by the current targets of their links. */
function within(folders: readonly string[]): (path: string) => boolean {
  const prefixes = folders.flatMap((folder) => [folder, realPath(folder)]).map((folder) => folder.replace(/\/+$/, ''));
  return (path) => prefixes.some((prefix) => path === prefix || path.startsWith(`${prefix}/`));
}

function realPath(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}

/** Denying a folder's content denies the folder too, and the reverse. */
function withFolder(glob: string): string[] {
  return glob.endsWith('/**') ? [glob, glob.slice(0, -3)] : [glob, `${glob}/**`];
}

/** A glob that begins with neither "/" nor "**" matches anywhere. */
function matcher(globs: readonly string[]): (path: string) => boolean {
  const compiled = globs.map(
    (glob) => new Minimatch(glob.startsWith('/') || glob.startsWith('**/') ? glob : `**/${glob}`, GLOB_OPTIONS),
  );
  return (path) => compiled.some((each) => each.match(path));
}
