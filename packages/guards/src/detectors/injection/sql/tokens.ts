import { ROOM } from '../lexer/constants.ts';
import { kindsAt } from './words.ts';

/** Kinds of tokens. Quotes are tokens of their own, because an injection opens and closes them at will. */
export const KIND = {
  end: 0,
  word: 1,
  number: 2,
  quote: 3,
  open: 4,
  close: 5,
  comma: 6,
  semicolon: 7,
  comparison: 8,
  arithmetic: 9,
  logic: 10,
  comment: 11,
  openComment: 12,
  variable: 13,
  dot: 14,
  other: 15,
} as const;

/** What is known of a quote. */
export const FLAG = {
  /** A quote that may close a string opened before the text: an even number of its kind precedes it. */
  odd: 1,
  /** A quote between two letters. */
  apostrophe: 2,
} as const;

/** The tokens of one text, followed by `end`. */
export interface Tokens {
  text: string;
  readonly kinds: Uint8Array;
  /** Slot in the table of words, or the character of a one-character token; -1 for an unknown word. */
  readonly slots: Int32Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  /** Bits of FLAG; only of quotes. */
  readonly flags: Uint8Array;
  /** Indices of the tokens that rules begin at. */
  readonly anchors: Int32Array;
  anchorCount: number;
  count: number;
  /** Pairs of adjacent words that SQL does not know: frequent in prose, rare in injections. */
  prosePairs: number;
  /** True when the text contains a MySQL version comment. */
  versionComment: boolean;
  /** A comment after a value on its line is followed by another line. */
  lineComments: boolean;
  /** Number of quotes of each kind, without apostrophes within words. */
  quotes: number;
  doubleQuotes: number;
  /** Tokens that comments to the end of a line would hide, if they are comments. */
  readonly hidden: Hidden;
}

/** Tokens from the first comment of a line to the end of that line, for each line except the last. */
interface Hidden {
  /** Alternately, index of the first of them and index after the last one. */
  readonly bounds: Int32Array;
  count: number;
  /** As in Tokens, for hidden tokens. */
  prosePairs: number;
  quotes: number;
  doubleQuotes: number;
  /** Token index of the first comment in the current line, and the counters before it; -1 for none. */
  open: number;
  prosePairsBefore: number;
  quotesBefore: number;
  doubleQuotesBefore: number;
  /** True when no comment spans lines: one that began in hidden tokens would hide more, or less. */
  exact: boolean;
}

/** Marks the end, beyond which rules may look. */
export function closeTokens(tokens: Tokens, length: number): void {
  const { count } = tokens;
  const { kinds } = tokens;
  // A loop: `fill` costs more for so few.
  for (let at = count; at < count + ROOM; at++) kinds[at] = KIND.end;
  tokens.starts[count] = tokens.ends[count] = length;
}

/** Kinds of the word at an index; 0 for an unknown word and for what is none. */
export function wordKinds({ kinds, slots }: Tokens, index: number): number {
  return kinds[index] === KIND.word ? kindsAt(slots[index] ?? -1) : 0;
}

/** True when a blank or a comment precedes a token. */
export function isApart({ starts, ends }: Tokens, index: number): boolean {
  return index > 0 && starts[index] !== ends[index - 1];
}

/** True for a quote that may close a string opened before the text. */
export function isOddQuote({ kinds, flags }: Tokens, index: number): boolean {
  return kinds[index] === KIND.quote && ((flags[index] ?? 0) & FLAG.odd) !== 0;
}
