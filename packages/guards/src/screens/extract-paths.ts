import { MiB } from '@sallyport/std/bytes';
import { pointerTo } from '@sallyport/std/json/json-pointer';
import { pathTokens } from './path/path-tokens.ts';

/** A path found among values. */
export interface FoundPath {
  readonly path: string;
  /** True when it means the same in every folder: `/x`, `~/x`, `C:\x`, `\\server\x`. */
  readonly absolute: boolean;
  /** JSON Pointer to the value, or to the member whose name it is. */
  readonly at: string;
}

/** Most paths reported per value; further ones are left out. */
const PATHS_MAX = 1_000;
/** Depth below which nothing is looked at. */
const DEPTH_MAX = 64;
/** Most text searched, in UTF-16 units over all strings. */
const TEXT_CHARS_MAX = 4 * MiB;

/** Names of members that hold a path, whatever its form. */
const PATH_MEMBER =
  /^(?:(?:\w{1,32}[_-])?(?:path|paths|file|files|filename|filepath|dir|dirs|directory|folder|cwd|pathname)|(?:\w{0,32}[a-z])?(?:Path|Paths|File|Files|Dir|Directory|Folder)|(?:file|path)_?(?:name|path)s?|fileName|filePath)$/;
const URL_LIKE = /^[a-z][a-z0-9+.-]{1,31}:|^\/\/|^www\./i;

/**
 * The paths in the arguments of a call, absolute and relative (MOD-09, seeds 002 "extract_paths"): words with a
 * separator, anywhere in a text, and the values of members named after paths. URLs are not paths; a `file:` URL counts
 * as its path. Each path is reported once per place, in the order of the values.
 * @param value as parsed from JSON
 */
export function extractPaths(value: unknown): readonly FoundPath[] {
  const found: FoundPath[] = [];
  const known = new Set<string>();
  let charsLeft = TEXT_CHARS_MAX;
  const add = (path: string, absolute: boolean, at: string): void => {
    const key = `${at}\n${path}`;
    if (found.length >= PATHS_MAX || known.has(key)) return;
    known.add(key);
    found.push({ path, absolute, at });
  };
  const read = (text: string, at: string, member: string): void => {
    charsLeft -= text.length;
    if (charsLeft < 0) return;
    const whole = PATH_MEMBER.test(member) ? wholePath(text) : undefined;
    if (whole !== undefined) add(whole.path, whole.absolute, at);
    else for (const { path, absolute } of pathTokens(text)) add(path, absolute, at);
  };
  const walk = (each: unknown, at: string, member: string, depth: number): void => {
    if (found.length >= PATHS_MAX || charsLeft < 0 || depth > DEPTH_MAX) return;
    if (typeof each === 'string') read(each, at, member);
    else if (Array.isArray(each))
      for (const [index, item] of each.entries()) walk(item, pointerTo(at, index), member, depth + 1);
    else if (typeof each === 'object' && each !== null) {
      for (const [name, item] of Object.entries(each)) {
        const place = pointerTo(at, name);
        read(name, place, '');
        walk(item, place, name, depth + 1);
      }
    }
  };
  walk(value, '', '', 0);
  return found;
}

/** The value of a member named after a path; undefined when it is a URL, or more than a path. */
function wholePath(text: string): { readonly path: string; readonly absolute: boolean } | undefined {
  const path = text.trim();
  if (path === '' || path.length > 4096 || /[\n\r]/.test(path) || URL_LIKE.test(path.replace(/^[A-Za-z]:[\\/]/, ''))) {
    return undefined;
  }
  return { path, absolute: /^(?:\/|~|[A-Za-z]:[\\/]|\\\\)/.test(path) };
}
