// Hot path: runs over every text once.
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
  // In the order of `report` in `assembly/state.ts`; one by one, for a list costs more than it says.
  reading.told = REPORT[1] as number;
  tokens.anchorCount = REPORT[2] as number;
  tokens.prosePairs = REPORT[3] as number;
  tokens.quotes = REPORT[4] as number;
  tokens.doubleQuotes = REPORT[5] as number;
  tokens.versionComment = REPORT[6] !== 0;
  tokens.lineComments = REPORT[7] !== 0;
  hidden.count = REPORT[8] as number;
  hidden.prosePairs = REPORT[9] as number;
  hidden.quotes = REPORT[10] as number;
  hidden.doubleQuotes = REPORT[11] as number;
  hidden.exact = REPORT[12] !== 0;
  return tokens;
}
