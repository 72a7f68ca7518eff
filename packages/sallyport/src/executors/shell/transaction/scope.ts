import { Minimatch } from 'minimatch';
import { type RawName, shownName } from '../../folder-handle.ts';

/** Which files below a granted folder are secured. */
export interface Scope {
  /** All of them, so that nobody need ask. */
  readonly everything: boolean;
  /** Whether a path below the folder is, without a slash in front. */
  holds(path: RawName): boolean;
  /** Whether something below that folder may be. */
  mayHoldBelow(path: RawName): boolean;
}

/** Only stars, question marks and brackets; hidden names are names. */
const OPTIONS = { nobrace: true, noext: true, dot: true, nocomment: true, nonegate: true } as const;

/** Prepares globs, each from a granted folder on. */
export function scopeOf(globs: readonly string[]): Scope {
  const everything = globs.includes('**');
  const compiled = globs.map((glob) => new Minimatch(glob, OPTIONS));
  return {
    everything,
    holds: (path) => everything || compiled.some((glob) => glob.match(shownName(path))),
    mayHoldBelow: (path) => everything || compiled.some((glob) => glob.match(shownName(path), true)),
  };
}
