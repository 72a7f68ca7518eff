import type { Reading } from '../text/reading.ts';
import type { Tokens } from './tokens.ts';

/** One text while it is cut. */
export interface Cut {
  readonly reading: Reading;
  readonly text: string;
  readonly codes: Uint16Array;
  readonly length: number;
  readonly tokens: Tokens;
  readonly plusIsBlank: boolean;
  /** Leaves out comments with what follows them on their line. */
  readonly skipLines: boolean;
  /** Quotes of each sort on this line. */
  single: number;
  double: number;
  /** No comment ends after this index, so that a text of nothing but openings stays linear; -1 when unknown. */
  noClosingFrom: number;
}
