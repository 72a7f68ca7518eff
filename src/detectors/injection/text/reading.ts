// Hot path: one look at every character of every text, so that most need no second.
import { KiB } from '../../../std/bytes.ts';
import { ALL_TOLD } from './told-words.ts';

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
  mark: 1 << 12,
  /** A dollar sign, or what is beyond ASCII: some take it for a part of a word, others do not. */
  joint: 1 << 13,
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
  [SIGN.joint, '$'],
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
const BITS = new Uint16Array(1 << 16).fill(SIGN.other | SIGN.joint, 128);
for (const [bits, characters] of SIGNS) {
  for (const each of characters) BITS[each.charCodeAt(0)] = (BITS[each.charCodeAt(0)] ?? 0) | bits;
}

/** Units that the kept buffers hold; longer texts get buffers of their own. */
const KEPT_UNITS_MAX = 64 * KiB;
/** Zeros after the text, for rules that look ahead. */
const ROOM = 16;
/** From this length on, copying at once is faster than unit by unit. */
const COPIED_MIN = 24;

const kept = createBuffers(KEPT_UNITS_MAX);

interface Buffers {
  readonly bytes: Buffer;
  readonly codes: Uint16Array;
  readonly marks: Int32Array;
}

function createBuffers(units: number): Buffers {
  const codes = new Uint16Array(units + ROOM);
  return { bytes: Buffer.from(codes.buffer), codes, marks: new Int32Array(units) };
}

/** Reads a text, in linear time. */
export function readText(text: string): Reading {
  const { length } = text;
  const { bytes, codes, marks } = length <= KEPT_UNITS_MAX ? kept : createBuffers(length);
  if (length < COPIED_MIN) for (let at = 0; at < length; at++) codes[at] = text.charCodeAt(at);
  else bytes.write(text, 0, 'utf16le');
  // A loop: `fill` costs more than it does for so few.
  for (let at = length; at < length + ROOM; at++) codes[at] = 0;
  let signs = 0;
  let markCount = 0;
  for (let at = 0; at < length; at++) {
    const bits = BITS[codes[at] as number] as number;
    signs |= bits;
    if ((bits & SIGN.mark) !== 0) marks[markCount++] = at;
  }
  return { text, codes, signs, told: (signs & SIGN.joint) === 0 ? 0 : ALL_TOLD, marks, markCount };
}
