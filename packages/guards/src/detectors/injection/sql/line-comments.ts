import type { Cut } from './cut.ts';
import { KIND, type Tokens } from './tokens.ts';
import { kindsAt } from './words.ts';

/** The token that comes next is a comment. */
export function noteComment({ count, prosePairs, quotes, doubleQuotes, hidden }: Tokens): void {
  if (hidden.open >= 0) return;
  hidden.open = count;
  hidden.prosePairsBefore = prosePairs;
  hidden.quotesBefore = quotes;
  hidden.doubleQuotesBefore = doubleQuotes;
}

/** At the end of a line with a comment. */
export function hide({ count, prosePairs, quotes, doubleQuotes, hidden }: Tokens): void {
  hidden.bounds[hidden.count++] = hidden.open;
  hidden.bounds[hidden.count++] = count;
  hidden.prosePairs += prosePairs - hidden.prosePairsBefore;
  hidden.quotes += quotes - hidden.quotesBefore;
  hidden.doubleQuotes += doubleQuotes - hidden.doubleQuotesBefore;
  hidden.open = -1;
}

/** Something that is no word of prose stands before the comment on its line: it may hide what a rule should see. */
export function isBehindValue({ codes, tokens }: Cut, at: number): boolean {
  const last = tokens.count - 1;
  if (last < 0) return false;
  for (let from = tokens.ends[last] ?? 0; from < at; from++) if (codes[from] === 10) return false;
  return tokens.kinds[last] !== KIND.word || kindsAt(tokens.slots[last] ?? -1) !== 0;
}
