import { ROOM } from '../lexer/constants.ts';
import { kindsAt } from './words.ts';

/** Kinds of tokens. Quotes are tokens of their own, for a splice opens and closes them at will. */
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
  /** A quote that may close a text which was open before ours began: an even number of its sort came before. */
  odd: 1,
  /** A quote between two letters. */
  apostrophe: 2,
} as const;

/** The tokens of one text. Past the last one stands `end`. */
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
  /** Pairs of neighbouring words that SQL does not know: prose has many, a splice hardly any. */
  prosePairs: number;
  /** Whether a MySQL version comment stands in the text. */
  versionComment: boolean;
  /** A comment behind a value on its line is followed by another line. */
  lineComments: boolean;
  /** How many quotes of each sort came, apostrophes within words aside. */
  quotes: number;
  doubleQuotes: number;
  /** What comments to the end of a line would hide, were they taken for some. */
  readonly hidden: Hidden;
}

/** The tokens from the first comment of a line up to the end of that line, for each line that is not the last one. */
interface Hidden {
  /** Index of the first of them and index after the last one, in turn. */
  readonly bounds: Int32Array;
  count: number;
  /** Of those that are hidden, as for all tokens. */
  prosePairs: number;
  quotes: number;
  doubleQuotes: number;
  /** The first comment of the line that is cut, as the index of its token, and what came before it; -1 for none. */
  open: number;
  prosePairsBefore: number;
  quotesBefore: number;
  doubleQuotesBefore: number;
  /** No comment goes over lines: one that began in what is hidden would hide more, or less. */
  exact: boolean;
}

/** Marks the end, past which rules may look. */
export function closeTokens(tokens: Tokens, length: number): void {
  const { count } = tokens;
  const { kinds } = tokens;
  // A loop: `fill` costs more than it does for so few.
  for (let at = count; at < count + ROOM; at++) kinds[at] = KIND.end;
  tokens.starts[count] = tokens.ends[count] = length;
}

/** Kinds of the word at an index; 0 for an unknown word and for what is none. */
export function wordKinds({ kinds, slots }: Tokens, index: number): number {
  return kinds[index] === KIND.word ? kindsAt(slots[index] ?? -1) : 0;
}

/** Whether a blank or a comment stands before a token. */
export function isApart({ starts, ends }: Tokens, index: number): boolean {
  return index > 0 && starts[index] !== ends[index - 1];
}

/** Whether the token is a quote that may close a text which was open before ours began. */
export function isOddQuote({ kinds, flags }: Tokens, index: number): boolean {
  return kinds[index] === KIND.quote && ((flags[index] ?? 0) & FLAG.odd) !== 0;
}
