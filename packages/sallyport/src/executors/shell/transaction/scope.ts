import { Minimatch } from 'minimatch';
import { type RawName, shownName } from '../../folder-handle.ts';

/** The files below a granted folder that are secured. */
export interface Scope {
  /** True when all files are, so that checks can be skipped. */
  readonly everything: boolean;
  /** True when a path below the folder, without leading slash, is secured. */
  holds(path: RawName): boolean;
  /** True when something below that folder may be secured. */
  mayHoldBelow(path: RawName): boolean;
}

/** Only stars, question marks and brackets; hidden files match like others. */
const OPTIONS = { nobrace: true, noext: true, dot: true, nocomment: true, nonegate: true } as const;

/** Prepares globs, each relative to a granted folder. */
export function scopeOf(globs: readonly string[]): Scope {
  const everything = globs.includes('**');
  const compiled = globs.map((glob) => new Minimatch(glob, OPTIONS));
  return {
    everything,
    holds: (path) => everything || compiled.some((glob) => glob.match(shownName(path))),
    mayHoldBelow: (path) => everything || compiled.some((glob) => glob.match(shownName(path), true)),
  };
}
