import { BLANK, isPlain, withBlanks } from './hidden-characters.ts';

/** A text as a model reads it: lower case, one spelling per letter, nothing hidden. */
export interface Reading {
  readonly text: string;
  /** Maps a position in `text` to the original, in UTF-16 units. */
  readonly original: (at: number) => number;
}

/** Lookalikes of Latin letters, used by texts that want to be read but not found (Unicode TR 39). */
const LOOKALIKES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{
      а: 'a',
      в: 'b',
      е: 'e',
      ё: 'e',
      һ: 'h',
      і: 'i',
      ї: 'i',
      ј: 'j',
      к: 'k',
      м: 'm',
      н: 'h',
      о: 'o',
      р: 'p',
      с: 'c',
    },
    ...{ ѕ: 's', т: 't', у: 'y', х: 'x', ԁ: 'd', ɡ: 'g', ո: 'n', ս: 'u', ѵ: 'v', ԝ: 'w', ʟ: 'l', ı: 'i' },
    ...{ α: 'a', ε: 'e', ι: 'i', κ: 'k', ν: 'v', ο: 'o', ρ: 'p', τ: 't', υ: 'u', χ: 'x' },
  }),
);
/** Punctuation that stands for ASCII ones. */
const PUNCTUATION: ReadonlyMap<string, string> = new Map(
  Object.entries({ '‘': "'", '’': "'", '“': '"', '”': '"', '‐': '-', '‑': '-', '–': '-', '—': '-', [BLANK]: '' }),
);
/** Letters of other alphabets count as lookalikes only in a word that also has Latin letters. */
const OTHER_ALPHABET = /[\u0370-\u052f\u0560-\u058f]/;
const WORD = /[^\s]+/g;
/** Marks that stand over, under and through letters; those of other scripts are parts of their words. */
const MARK = /^[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]$/;
/** Spellings that are remembered; there are not many letters. */
const SPELLINGS_MAX = 8_192;
const SPELLINGS = new Map<string, string>();

/** Makes the reading of a text. Linear; fast for ASCII. */
export function readingOf(text: string): Reading {
  if (isPlain(text)) return { text: text.toLowerCase(), original: (at) => at };
  if (/^\p{ASCII}*$/u.test(text)) return { text: withoutControls(text).toLowerCase(), original: (at) => at };
  let read = '';
  /** Start of each run of ASCII and each other character: in the reading, and in the original. */
  const places: number[] = [];
  const originals: number[] = [];
  for (const { 0: run, index } of withBlanks(text).matchAll(/\p{ASCII}+|\P{ASCII}/gu)) {
    places.push(read.length);
    originals.push(index);
    read += run.charCodeAt(0) < 128 ? withoutControls(run).toLowerCase() : spelt(run);
  }
  const original = (place: number): number => {
    const at = lastAtMost(places, place);
    const next = originals[at + 1] ?? text.length;
    return Math.min(next, (originals[at] ?? 0) + place - (places[at] ?? 0));
  };
  return { text: withLatinLookalikes(read), original };
}

const withoutControls = (text: string): string => text.replace(/[\p{Cc}--[\t\n\r]]/gv, ' ');

/** Index of the last ascending number not above a bound. */
function lastAtMost(ascending: readonly number[], bound: number): number {
  let low = 0;
  let high = ascending.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((ascending[middle] ?? 0) <= bound) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The spelling of one character, without marks. */
function spelt(char: string): string {
  const known = SPELLINGS.get(char);
  if (known !== undefined) return known;
  const base = char.normalize('NFKD').replace(/\p{M}|\p{Cc}/gu, '');
  const mark = MARK.test(char) ? '' : undefined;
  const plain =
    mark ?? PUNCTUATION.get(char) ?? (/^\p{ASCII}+$/u.test(base) ? base : char.normalize('NFKC')).toLowerCase();
  if (SPELLINGS.size < SPELLINGS_MAX) SPELLINGS.set(char, plain);
  return plain;
}

function withLatinLookalikes(text: string): string {
  if (!OTHER_ALPHABET.test(text)) return text;
  return text.replace(WORD, (word) => {
    if (!OTHER_ALPHABET.test(word) || !/[a-z]/.test(word)) return word;
    return word.replace(/\P{ASCII}/gu, (char) => LOOKALIKES.get(char) ?? char);
  });
}
