import { sha256 } from '@sallyport/std/sha256';
import { coerce } from 'semver';

/**
 * Longest tool id that an import makes. Providers of language models take function names of 64 characters, and clients put a
 * prefix of their own before an id: `mcp__sallyport__` has 16.
 */
export const TOOL_ID_CHARS_MAX = 48;
/** Longest id of functions, which programs name themselves, and of ids that earlier releases made. */
const PLAIN_ID_CHARS_MAX = 64;
const HASH_CHARS = 8;
/** Least room for the readable part of a name beside its hash. */
const READABLE_CHARS_MIN = 2;

/** True when a tool is registered under an id: it keeps that id, even when a new one would be shorter. */
export type IsRegistered = (toolId: string) => boolean;

/**
 * The tool id for a foreign name, the same at every import: letters, digits, dash and underscore (a dot is allowed in a
 * tool id but not in the function names of most models). Two names may map to one id: the importer refuses the second.
 * @param source prefix before two underscores; none when undefined
 */
export function toolIdOf(source: string | undefined, name: string, isRegistered?: IsRegistered): string {
  const own = plainName(name) || `tool_${sha256(name).slice(0, HASH_CHARS)}`;
  if (source === undefined) return shortened(own, PLAIN_ID_CHARS_MAX);
  return importedId(source, own, shortened(`${source}__${own}`, PLAIN_ID_CHARS_MAX), isRegistered);
}

/** The id for a plain name of a source; an id made by an earlier release is kept when it is short or registered. */
export function importedId(
  source: string,
  own: string,
  former: string,
  isRegistered: IsRegistered = () => false,
): string {
  if (former.length <= TOOL_ID_CHARS_MAX || isRegistered(former)) return former;
  const whole = `${source}__${own}`;
  const room = TOOL_ID_CHARS_MAX - source.length - 2;
  if (room > HASH_CHARS + READABLE_CHARS_MIN) return shortened(whole, TOOL_ID_CHARS_MAX);
  // The source identifies the owner of the tool, so it is not shortened.
  return whole.length <= TOOL_ID_CHARS_MAX ? whole : `${source}__${sha256(whole).slice(0, Math.min(room, HASH_CHARS))}`;
}

/** A text reduced to characters allowed in a tool id; may be empty. */
export function plainName(text: string): string {
  const plain = text.replaceAll(/[^A-Za-z0-9_-]+/g, '_').replaceAll(/_{2,}/g, '_');
  // From the first letter or digit to the last one; an expression for the end alone would try each dash before it.
  return /[A-Za-z0-9](?:.*[A-Za-z0-9])?/.exec(plain)?.[0] ?? '';
}

/** An id within the length limit; a hash stands for the part cut off. */
export function shortened(id: string, charsMax: number): string {
  if (id.length <= charsMax) return id;
  return `${id.slice(0, charsMax - HASH_CHARS - 1)}_${sha256(id).slice(0, HASH_CHARS)}`;
}

/**
 * A foreign version as a SemVer release: missing parts are 0, a date counts as year, month, day; 1.0.0 when it says
 * nothing.
 */
export function releaseOf(version: string): string {
  const date = /^(\d{4})-(\d{1,2})-(\d{1,2})/.exec(version);
  if (date !== null) return `${Number(date[1])}.${Number(date[2])}.${Number(date[3])}`;
  return coerce(version.slice(0, 256))?.version ?? '1.0.0';
}

/** Cuts a text to a number of characters, never within one. */
export function cutText(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
