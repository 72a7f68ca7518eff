// Called for every path among the arguments of a call. Reads no disk: the code that opens the file resolves symbolic
// links and checks the result again.
import { posix } from 'node:path';
import { formRefusal } from './path/path-form.ts';
import { type PathPattern, pathPattern } from './path/path-globs.ts';
import { HARMLESS_PATHS, PROCESS_DOORS, SENSITIVE_PATHS, SPECIAL_FOLDERS } from './path/sensitive-paths.ts';

export { SENSITIVE_PATHS };

/** Paths that may be accessed below the roots. Deny wins over allow. */
export interface PathPolicy {
  /** Where relative paths start, absolute. Default: the first root. */
  readonly base?: string;
  /** Patterns with `*` and `**`; a matching path is refused. Default `SENSITIVE_PATHS`; `[]` denies nothing. */
  readonly deny?: readonly string[];
  /** When not empty, a path must match one of them. Default empty. */
  readonly allow?: readonly string[];
}

/** Result of checking a path. */
export interface PathVerdict {
  readonly allowed: boolean;
  /** Absolute, without `.`, `..` and doubled slashes. Open this, not the text. Empty when the text is no path. */
  readonly normal: string;
  /** A sentence; present only when not allowed. */
  readonly why?: string;
}

/**
 * Checks that a path lies in one of the allowed folders and is not a place of secrets, by its text alone (EXE-04, seeds
 * 002). Encoded dots, lookalikes of slashes, backslashes, drives, `~` and control characters are refused, not
 * interpreted.
 * @param allowedRoots absolute folders; none allows nothing
 */
export function checkPath(
  path: string,
  allowedRoots: readonly string[],
  policy: PathPolicy = DEFAULT_POLICY,
): PathVerdict {
  const misshapen = formRefusal(path);
  if (misshapen !== undefined) return refused('', `The path ${misshapen}.`);
  const base = policy.base ?? allowedRoots[0];
  const roots = allowedRoots.filter((root) => root.startsWith('/')).map(withoutEnd);
  if (base === undefined || !base.startsWith('/') || roots.length === 0) {
    return refused('', 'No absolute folder is allowed, so nothing in one is.');
  }
  const normal = withoutEnd(path.startsWith('/') ? path : `${base}/${path}`);
  const root = roots.find((each) => isBelow(normal, each));
  if (root === undefined) return refused(normal, `${normal} is outside of the allowed folders.`);
  return placeRefusal(normal, roots, policy) ?? { allowed: true, normal };
}

const DEFAULT_POLICY: PathPolicy = {};

function placeRefusal(normal: string, roots: readonly string[], policy: PathPolicy): PathVerdict | undefined {
  const segments = segmentsOf(normal);
  if (fits(segments, PROCESS_DOORS)) return refused(normal, `${normal} leads into a running process.`);
  const special = SPECIAL_FOLDERS.find((folder) => isBelow(normal, folder));
  if (special !== undefined && !roots.some((root) => isBelow(root, special) && isBelow(normal, root))) {
    return refused(normal, `${normal} is below ${special}, where no ordinary files are.`);
  }
  const { deny = SENSITIVE_PATHS, allow = [] } = policy;
  const isHarmless = deny === SENSITIVE_PATHS && fits(segments, HARMLESS_PATHS);
  if (!isHarmless && fits(segments, deny)) return refused(normal, `${normal} may hold secrets, or runs later.`);
  if (allow.length === 0 || fits(segments, allow)) return undefined;
  return refused(normal, `${normal} is not among the allowed files.`);
}

/** Lists are few and long-lived, so each is parsed once; the result is garbage-collected with the list. */
const READ = new WeakMap<readonly string[], readonly PathPattern[]>();

function fits(segments: readonly string[], globs: readonly string[]): boolean {
  let patterns = READ.get(globs);
  if (patterns === undefined) {
    patterns = globs.map(pathPattern);
    READ.set(globs, patterns);
  }
  return patterns.some((pattern) => pattern(segments));
}

/** In lower case; without the trailing dots and spaces that some systems ignore. */
function segmentsOf(normal: string): readonly string[] {
  const parts = normal.toLowerCase().split('/').slice(1);
  return parts.map((part) => (/[. ]$/.test(part) ? part.replace(/[. ]{1,255}$/, '') : part));
}

const isBelow = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);

function withoutEnd(path: string): string {
  const normal = posix.normalize(path).replace(/^\/\//, '/');
  return normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal;
}

const refused = (normal: string, why: string): PathVerdict => ({ allowed: false, normal, why });
