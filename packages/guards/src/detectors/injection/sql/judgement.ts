import type { Report } from '../finding.ts';
import type { Tokens } from './tokens.ts';

/** State that the SQL rules share for one text. */
export interface Judgement {
  readonly tokens: Tokens;
  readonly strict: boolean;
  /** True when the text is a whole statement, as for a database tool; contents of statements are then no evidence. */
  readonly statement: boolean;
  /** Of the tokens. */
  readonly prosePairs: number;
  /** Takes a match, in indices of tokens, the last one included. */
  readonly report: Report;
}
