// Hot path: one look at every character of every text, so that most need no second.
import { KiB } from '../../../std/bytes.ts';
import { ALL_TOLD } from './told-words.ts';

/** Place of the bit that tells a mark. */
const MARK_PLACE = 12;

/** What signs stand in a text, as bits. */
export const SIGN = {
  quote: 1 << 0,
  less: 1 << 1,
  equals: 1 << 2,
  open: 1 << 3,
  /** `;`, `|`, `&`, `$`, a backtick, a line feed. */
  shell: 1 << 4,
  /** A percent sign or a backslash, which may begin an escape. */
  escape: 1 << 5,
  colon: 1 << 6,
  slash: 1 << 7,
  plus: 1 << 8,
  blank: 1 << 9,
  bracket: 1 << 10,
  other: 1 << 11,
  /** Beside another bit: the place is kept among the marks. */
  mark: 1 << MARK_PLACE,
  /** A full-width letter: here it is a letter like others, for others it ends a word. */
  wide: 1 << 13,
} as const;

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

const SIGNS: readonly (readonly [bits: number, characters: string])[] = [
  [SIGN.quote, '\'"`'],
  [SIGN.less | SIGN.mark, '<'],
  [SIGN.equals | SIGN.mark, '='],
  [SIGN.open | SIGN.mark, '('],
  [SIGN.shell | SIGN.mark, ';|&$`\n'],
  [SIGN.shell | SIGN.mark | SIGN.blank, '\r'],
  [SIGN.escape, '%'],
  [SIGN.escape | SIGN.mark, '\\'],
  [SIGN.colon, ':'],
  [SIGN.slash, '/'],
  [SIGN.plus, '+'],
  [SIGN.blank, ' \t\n\v\f'],
  [SIGN.bracket, '[{'],
  [SIGN.other, '#*-@>)!^,~?]}'],
];
/** For every UTF-16 unit, so that the loop has nothing to decide. */
const BITS = new Uint16Array(1 << 16).fill(SIGN.other, 128).fill(SIGN.other | SIGN.wide, 0xff21, 0xff5b);
for (const [bits, characters] of SIGNS) {
  for (const each of characters) BITS[each.charCodeAt(0)] = (BITS[each.charCodeAt(0)] ?? 0) | bits;
}

/** Longest text that is read at once, in UTF-16 units. */
export const TEXT_UNITS_MAX = 64 * KiB;
/** Zeros after the text, for rules that look ahead. */
const ROOM = 16;
/** From this length on, copying at once is faster than unit by unit. */
const COPIED_MIN = 24;

const codes = new Uint16Array(TEXT_UNITS_MAX + ROOM);
const bytes = Buffer.from(codes.buffer);
const marks = new Int32Array(TEXT_UNITS_MAX + ROOM);

/** Reads a text, in linear time. */
export function readText(text: string): Reading {
  const { length } = text;
  if (length < COPIED_MIN) for (let at = 0; at < length; at++) codes[at] = text.charCodeAt(at);
  else bytes.write(text, 0, 'utf16le');
  // A loop: `fill` costs more than it does for so few.
  for (let at = length; at < length + ROOM; at++) codes[at] = 0;
  let signs = 0;
  let markCount = 0;
  for (let at = 0; at < length; at++) {
    const bits = BITS[codes[at] as number] as number;
    signs |= bits;
    // Without a branch: where marks stand cannot be foreseen, and a wrong guess costs more than a few characters.
    marks[markCount] = at;
    markCount += (bits & SIGN.mark) >>> MARK_PLACE;
  }
  return { text, codes, signs, told: (signs & SIGN.wide) === 0 ? 0 : ALL_TOLD, marks, markCount };
}
