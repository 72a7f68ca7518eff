import type { Report } from '../finding.ts';
import type { Tokens } from './tokens.ts';

/** What the rules for SQL share while one text is judged. */
export interface Judgement {
  readonly tokens: Tokens;
  readonly strict: boolean;
  /** The text is a whole statement, as one gives it to a database tool; what statements hold is then no evidence. */
  readonly statement: boolean;
  /** Of the tokens. */
  readonly prosePairs: number;
  /** Takes what was recognised, in indices of tokens, the last one included. */
  readonly report: Report;
}
