// Hot path: every character of every text is read once here, so that most texts need no second pass.
import { CHARACTERS } from '../lexer/character-tables.ts';
import { MARK_PLACE, ROOM, TEXT_UNITS_MAX } from '../lexer/constants.ts';
import { SIGN } from './signs.ts';
import { ALL_FACTS } from './word-facts.ts';

/** A text as numbers, with the signs found in it. Valid until the next text is read. */
export interface Reading {
  readonly text: string;
  /** UTF-16 units; zeros after the last one. */
  readonly codes: Uint16Array;
  /** Bits of SIGN. */
  readonly signs: number;
  /** Bits of FACT, once the text was cut into words; more bits than words found when uncertain. */
  facts: number;
  /** Places of `<`, `=`, `(`, shell signs and backslashes, in order. */
  readonly marks: Int32Array;
  readonly markCount: number;
}

/** From this length on, copying in bulk is faster than unit by unit. */
const COPIED_MIN = 24;

const SIGNS = CHARACTERS.signs;
const codes = new Uint16Array(TEXT_UNITS_MAX + ROOM);
const bytes = Buffer.from(codes.buffer);
const marks = new Int32Array(TEXT_UNITS_MAX + ROOM);

/**
 * Reads a text, in linear time.
 * @param text of `TEXT_UNITS_MAX` units at most
 */
export function readText(text: string): Reading {
  const { length } = text;
  if (length > TEXT_UNITS_MAX) throw new RangeError(`A text of ${length} units is read in parts.`);
  if (length < COPIED_MIN) for (let at = 0; at < length; at++) codes[at] = text.charCodeAt(at);
  else bytes.write(text, 0, 'utf16le');
  // A loop: `fill` costs more for so few.
  for (let at = length; at < length + ROOM; at++) codes[at] = 0;
  let signs = 0;
  let markCount = 0;
  for (let at = 0; at < length; at++) {
    const bits = SIGNS[codes[at] as number] as number;
    signs |= bits;
    // Without a branch: positions of marks are unpredictable, and a misprediction costs more than a few characters.
    marks[markCount] = at;
    markCount += (bits & SIGN.mark) >>> MARK_PLACE;
  }
  const facts = (signs & SIGN.foreign) === 0 ? 0 : ALL_FACTS;
  return { text, codes, signs, facts, marks, markCount };
}
