import type { Cut } from './cut.ts';
import { KIND, type Tokens } from './tokens.ts';
import { kindsAt } from './words.ts';

/** The next token is a comment. */
export function noteComment({ count, prosePairs, quotes, doubleQuotes, hidden }: Tokens): void {
  if (hidden.open >= 0) return;
  hidden.open = count;
  hidden.prosePairsBefore = prosePairs;
  hidden.quotesBefore = quotes;
  hidden.doubleQuotesBefore = doubleQuotes;
}

/** Called at the end of a line with a comment. */
export function hide({ count, prosePairs, quotes, doubleQuotes, hidden }: Tokens): void {
  hidden.bounds[hidden.count++] = hidden.open;
  hidden.bounds[hidden.count++] = count;
  hidden.prosePairs += prosePairs - hidden.prosePairsBefore;
  hidden.quotes += quotes - hidden.quotesBefore;
  hidden.doubleQuotes += doubleQuotes - hidden.doubleQuotesBefore;
  hidden.open = -1;
}

/** True when something other than prose precedes the comment on its line: it may hide text that a rule should see. */
export function isAfterValue({ codes, tokens }: Cut, at: number): boolean {
  const last = tokens.count - 1;
  if (last < 0) return false;
  for (let from = tokens.ends[last] ?? 0; from < at; from++) if (codes[from] === 10) return false;
  return tokens.kinds[last] !== KIND.word || kindsAt(tokens.slots[last] ?? -1) !== 0;
}
