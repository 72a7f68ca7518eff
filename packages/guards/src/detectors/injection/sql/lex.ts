// Hot path: runs over every text once.
import {
  AT_ANCHOR_COUNT,
  AT_DOUBLE_QUOTES,
  AT_EXACT,
  AT_HIDDEN_COUNT,
  AT_HIDDEN_DOUBLE_QUOTES,
  AT_HIDDEN_PROSE_PAIRS,
  AT_HIDDEN_QUOTES,
  AT_LINE_COMMENTS,
  AT_PROSE_PAIRS,
  AT_QUOTES,
  AT_TOLD,
  AT_VERSION_COMMENT,
} from '../lexer/constants.ts';
import { cutIntoTokens, REPORT, TOKENS } from '../lexer/lexer.ts';
import type { Reading } from '../text/reading.ts';
import type { Tokens } from './tokens.ts';

const { kinds, flags, slots, starts, ends, anchors, bounds } = TOKENS;
const kept: Tokens = {
  text: '',
  kinds,
  slots,
  starts,
  ends,
  flags,
  anchors,
  anchorCount: 0,
  count: 0,
  prosePairs: 0,
  versionComment: false,
  lineComments: false,
  quotes: 0,
  doubleQuotes: 0,
  hidden: { bounds, count: 0, prosePairs: 0, quotes: 0, doubleQuotes: 0, exact: true },
};

/** Cuts the text that was read last into tokens, in linear time. The result is good until the next call. */
export function lex(reading: Reading, plusIsBlank: boolean, skipLines: boolean): Tokens {
  const { text } = reading;
  const tokens = kept;
  const { hidden } = tokens;
  tokens.text = text;
  tokens.count = cutIntoTokens(text.length, reading.told, plusIsBlank, skipLines);
  reading.told = REPORT[AT_TOLD] as number;
  tokens.anchorCount = REPORT[AT_ANCHOR_COUNT] as number;
  tokens.prosePairs = REPORT[AT_PROSE_PAIRS] as number;
  tokens.quotes = REPORT[AT_QUOTES] as number;
  tokens.doubleQuotes = REPORT[AT_DOUBLE_QUOTES] as number;
  tokens.versionComment = REPORT[AT_VERSION_COMMENT] !== 0;
  tokens.lineComments = REPORT[AT_LINE_COMMENTS] !== 0;
  hidden.count = REPORT[AT_HIDDEN_COUNT] as number;
  hidden.prosePairs = REPORT[AT_HIDDEN_PROSE_PAIRS] as number;
  hidden.quotes = REPORT[AT_HIDDEN_QUOTES] as number;
  hidden.doubleQuotes = REPORT[AT_HIDDEN_DOUBLE_QUOTES] as number;
  hidden.exact = REPORT[AT_EXACT] !== 0;
  return tokens;
}
