// Hot path: one look at every character of every text, so that most need no second.
import { AT_MARK_COUNT } from '../lexer/constants.ts';
import { CODES, MARKS, REPORT, readUnits } from '../lexer/lexer.ts';
import { SIGN } from './signs.ts';
import { ALL_TOLD } from './told-words.ts';

/** A text as numbers, with what was seen in it. Good until the next text is read. */
export interface Reading {
  readonly text: string;
  /** UTF-16 units; zeros after the last one. */
  readonly codes: Uint16Array;
  /** Bits of SIGN. */
  readonly signs: number;
  /** Bits of TOLD, once the text was cut into words; more than stand in it where that is not sure. */
  told: number;
  /** Places of `<`, `=`, `(`, shell signs and backslashes, in order. */
  readonly marks: Int32Array;
  readonly markCount: number;
}

/** Reads a text, in linear time. */
export function readText(text: string): Reading {
  const signs = readUnits(text);
  const told = (signs & SIGN.foreign) === 0 ? 0 : ALL_TOLD;
  return { text, codes: CODES, signs, told, marks: MARKS, markCount: REPORT[AT_MARK_COUNT] as number };
}
