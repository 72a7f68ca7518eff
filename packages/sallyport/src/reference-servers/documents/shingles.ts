import type { Shingles } from '../document-store.port.ts';

/** Words of one shingle. */
const WORDS = 4;
/** Hashes of a sample at most: enough to see an overlap of some percent. */
const SAMPLE_MAX = 1_024;
/** Characters of a text that are compared. */
const CHARS_MAX = 4_000_000;

/** The words of a text as they are compared: without case, marks and accents. */
export function comparedWords(text: string): readonly string[] {
  return (
    text
      .slice(0, CHARS_MAX)
      .normalize('NFKD')
      .toLowerCase()
      .replace(/\p{M}/gu, '')
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

/** A sample of all sequences of words, small enough to be kept and compared. */
export function shinglesOf(text: string): Shingles {
  const words = comparedWords(text);
  let hashes = new Set<number>();
  const last = Math.max(0, words.length - WORDS);
  for (let at = 0; at <= last && words.length > 0; at += 1) hashes.add(hashOf(words.slice(at, at + WORDS).join(' ')));
  let step = 1;
  while (hashes.size > SAMPLE_MAX) {
    step *= 4;
    hashes = new Set([...hashes].filter((hash) => hash % step === 0));
  }
  return { step, hashes: [...hashes] };
}

/** How much of each of two texts is in the other, 0 to 1. */
export interface SharedShare {
  /** Of the first text. */
  readonly ofFirst: number;
  readonly ofSecond: number;
}

/** Compares two samples. Those of texts of different length are brought to the coarser step. */
export function sharedShare(first: Shingles, second: Shingles): SharedShare {
  const step = Math.max(first.step, second.step);
  const coarse = ({ hashes }: Shingles): readonly number[] => hashes.filter((hash) => hash % step === 0);
  const [one, other] = [coarse(first), new Set(coarse(second))];
  const shared = one.filter((hash) => other.has(hash)).length;
  return { ofFirst: shared / Math.max(1, one.length), ofSecond: shared / Math.max(1, other.size) };
}

/** The first passage of a text that another text has too, with all its words in this order; empty for none. */
export function firstShared(text: string, passages: readonly string[]): string {
  const words = ` ${comparedWords(text).join(' ')} `;
  for (const passage of passages) {
    const own = comparedWords(passage);
    for (let at = 0; at + SHOWN_WORDS <= own.length; at += 1) {
      if (words.includes(` ${own.slice(at, at + SHOWN_WORDS).join(' ')} `)) return passage;
    }
  }
  return '';
}

/** Words in a row that make a passage shared. */
const SHOWN_WORDS = 8;

/** FNV-1a with a last mix, as a signed integer of 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 12)) | 0;
}
