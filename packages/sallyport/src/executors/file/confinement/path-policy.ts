import { realpathSync } from 'node:fs';
import { Minimatch } from 'minimatch';
import type { FileSettings } from '../settings.ts';
import { forbidden } from './refusals.ts';

/** Only stars, question marks and brackets; these match in time linear in the path. Hidden names are names. */
export const GLOB_OPTIONS = { nobrace: true, noext: true, dot: true, nocomment: true, nonegate: true } as const;

/** The deny and allow globs, over canonical paths. */
export interface PathPolicy {
  /** Whether nothing of the path may be shown. */
  deniesRead(path: string): boolean;
  /** @throws ToolLayerError E3210 */
  checkRead(path: string): void;
  /** Whether the allow globs let this file be read; asked of files that `deniesRead` lets pass. */
  allowsRead(path: string): boolean;
  /** Writing needs the right to read too. @throws ToolLayerError E3210 */
  checkWrite(path: string): void;
}

/**
 * Prepares the globs. Deny is asked before allow (seeds 002).
 * @param closed absolute folders of which nothing is ever shown, whatever the settings say
 */
export function createPathPolicy(settings: FileSettings, closed: readonly string[] = []): PathPolicy {
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

/** Whether a path is one of the folders or below, by the text of these and by where their links lead at this moment. */
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

/** A denied content denies its folder too, and a denied folder its content. */
function withFolder(glob: string): string[] {
  return glob.endsWith('/**') ? [glob, glob.slice(0, -3)] : [glob, `${glob}/**`];
}

/** A glob that begins with neither "/" nor "**" fits anywhere. */
function matcher(globs: readonly string[]): (path: string) => boolean {
  const compiled = globs.map(
    (glob) => new Minimatch(glob.startsWith('/') || glob.startsWith('**/') ? glob : `**/${glob}`, GLOB_OPTIONS),
  );
  return (path) => compiled.some((each) => each.match(path));
}
