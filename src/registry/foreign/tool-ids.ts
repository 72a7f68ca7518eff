import { coerce } from 'semver';
import { sha256 } from '../../std/sha256.ts';

/** Longest tool id that is made: the providers of language models take no longer function names. */
export const TOOL_ID_CHARS_MAX = 64;
const HASH_CHARS = 8;

/**
 * The tool id for a foreign name, the same at every import: letters, digits, dash and underscore (a dot is allowed in a
 * tool id but not in the function names of most models). Two names may map to one id: who imports refuses the second.
 * @param source prefix before two underscores; none when undefined
 */
export function toolIdOf(source: string | undefined, name: string): string {
  const own = plainName(name) || `tool_${sha256(name).slice(0, HASH_CHARS)}`;
  return shortened(source === undefined ? own : `${source}__${own}`);
}

/** A text without what a tool id cannot hold; empty when nothing is left. */
export function plainName(text: string): string {
  return text
    .replaceAll(/[^A-Za-z0-9_-]+/g, '_')
    .replaceAll(/_{2,}/g, '_')
    .replaceAll(/^[_-]+|[_-]+$/g, '');
}

/** An id that is not too long; what was cut off is told by a hash. */
export function shortened(id: string): string {
  if (id.length <= TOOL_ID_CHARS_MAX) return id;
  return `${id.slice(0, TOOL_ID_CHARS_MAX - HASH_CHARS - 1)}_${sha256(id).slice(0, HASH_CHARS)}`;
}

/** A foreign version as a release in SemVer: what is missing is 0, a date counts as year, month, day; 1.0.0 when it says nothing. */
export function releaseOf(version: string): string {
  const date = /^(\d{4})-(\d{1,2})-(\d{1,2})/.exec(version);
  if (date !== null) return `${Number(date[1])}.${Number(date[2])}.${Number(date[3])}`;
  return coerce(version.slice(0, 256))?.version ?? '1.0.0';
}

/** At most so many characters, never half of one. */
export function cutText(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
