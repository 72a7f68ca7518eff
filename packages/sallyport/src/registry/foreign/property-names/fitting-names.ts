import { sha256 } from '@sallyport/std/sha256';

/** Property names that providers of language models accept. */
const FITS = /^[a-zA-Z0-9_.-]{1,64}$/;
const NAME_CHARS_MAX = 64;
const HASH_CHARS = 8;

/** True when providers accept this property name. */
export const isFitting = (name: string): boolean => FITS.test(name);

/**
 * A fitting name for each unfitting one: its readable part, plus a hash when that is empty, cut, or in use. The same
 * set of names gives the same result in any order.
 * @param taken names in use
 */
export function fittingNames(originals: Iterable<string>, taken: ReadonlySet<string>): ReadonlyMap<string, string> {
  const readable = new Map([...new Set(originals)].map((original) => [original, readableName(original)]));
  const counts = new Map<string, number>();
  for (const name of readable.values()) counts.set(name, (counts.get(name) ?? 0) + 1);
  const given = new Set(taken);
  const names = new Map<string, string>();
  for (const [original, name] of [...readable].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const isClear = counts.get(name) === 1 && name !== '' && name.length <= NAME_CHARS_MAX;
    let fitting = isClear ? name : hashed(name, original);
    for (let tried = 1; given.has(fitting); tried += 1) fitting = hashed(name, original.repeat(tried));
    given.add(fitting);
    names.set(original, fitting);
  }
  return names;
}

/** A text reduced to characters allowed in names; `filter[name]` becomes `filter_name`, accents are dropped. */
function readableName(original: string): string {
  return original
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .replaceAll(/[^a-zA-Z0-9_.-]+/g, '_')
    .replaceAll(/^_+|_+$/g, '');
}

function hashed(name: string, hashedText: string): string {
  const start = (name || 'property').slice(0, NAME_CHARS_MAX - HASH_CHARS - 1);
  return `${start}_${sha256(hashedText).slice(0, HASH_CHARS)}`;
}
