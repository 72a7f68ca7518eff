// Hot path: every character of every text written or shown is read once here, so that most texts need no second pass.
import { KiB } from '@sallyport/std/bytes';
import { DENSE_RUN_MIN, densePieces } from './dense-pieces.ts';

/** Signs that occur in a text, as bits. */
export const SIGN = {
  colon: 1 << 0,
  dot: 1 << 1,
  at: 1 << 2,
  equals: 1 << 3,
  /** Either way. */
  slash: 1 << 4,
  dash: 1 << 5,
  blank: 1 << 6,
  digit: 1 << 7,
  capital: 1 << 8,
  small: 1 << 9,
  /** Additional bit: the position is recorded among the marks. */
  mark: 1 << 10,
  /** Characters of secrets with a recognisable form. */
  inRun: 1 << 11,
  /** Beyond ASCII. */
  foreign: 1 << 12,
  /** `<`. */
  angle: 1 << 13,
  /** `(`, `[`, `{` or `%`: what people and forms put in place of a sign. */
  hiding: 1 << 14,
  /** A piece that may contain a secret with a recognisable form. */
  dense: 1 << 15,
  /** Four digits together, with a few other characters but no letters between. */
  digits4: 1 << 16,
  digits7: 1 << 17,
  digits9: 1 << 18,
  digits12: 1 << 19,
} as const;

/** A text as numbers, with the signs found in it. Valid until the next text is read. */
export interface Reading {
  /** UTF-16 units; a zero after the last one. */
  readonly codes: Uint16Array;
  readonly length: number;
  /** Bits of {@link SIGN}. */
  readonly signs: number;
  /** Places of `:`, `=` and `@`, in order. */
  readonly marks: Int32Array;
  readonly markCount: number;
  /** Alternately start and end of each dense piece. */
  readonly dense: readonly number[];
}

/**
 * Size of the reused buffers; longer texts get buffers of their own. The last text stays in them until overwritten;
 * only this file's readings access it.
 */
const KEPT_UNITS_MAX = 64 * KiB;
/** From this length on, copying in bulk is faster than unit by unit. */
const COPIED_MIN = 24;
const NONE: readonly number[] = [];
/** Most characters, other than letters, between two digits of one number. */
const BETWEEN_DIGITS_MAX = 4;
const IN_RUN_AT = Math.log2(SIGN.inRun);
const LETTER = SIGN.capital | SIGN.small;
const NOTED = SIGN.mark | SIGN.digit;

/** By UTF-16 unit, so that the loop needs no decisions. */
const SIGNS = new Uint16Array(1 << 16);
const SHOWN_BY: readonly (readonly [bits: number, characters: string])[] = [
  [SIGN.colon | SIGN.mark, ':'],
  [SIGN.dot, '.'],
  [SIGN.at | SIGN.mark, '@'],
  [SIGN.equals | SIGN.mark, '='],
  [SIGN.slash, '/\\'],
  [SIGN.blank, ' '],
  [SIGN.angle, '<'],
  [SIGN.hiding, '([{%'],
  [SIGN.dash | SIGN.inRun, '-'],
  [SIGN.inRun, '_'],
  [SIGN.digit | SIGN.inRun, '0123456789'],
  [SIGN.capital | SIGN.inRun, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'],
  [SIGN.small | SIGN.inRun, 'abcdefghijklmnopqrstuvwxyz'],
];
for (const [bits, characters] of SHOWN_BY) for (const each of characters) SIGNS[each.charCodeAt(0)] = bits;
// A character beyond ASCII may be in a run where the ASCII character with the same last bits may; at worst a rule
// searches in vain.
for (let code = 128; code < SIGNS.length; code++) SIGNS[code] = SIGN.foreign | ((SIGNS[code & 127] ?? 0) & SIGN.inRun);

interface Buffers {
  readonly bytes: Buffer;
  readonly codes: Uint16Array;
  readonly marks: Int32Array;
}

const kept = createBuffers(KEPT_UNITS_MAX);

function createBuffers(units: number): Buffers {
  const codes = new Uint16Array(units + 1);
  return { bytes: Buffer.from(codes.buffer), codes, marks: new Int32Array(units) };
}

/** Reads a text, in linear time. */
export function readText(text: string): Reading {
  const { length } = text;
  const { bytes, codes, marks } = length <= KEPT_UNITS_MAX ? kept : createBuffers(length);
  if (length < COPIED_MIN) for (let at = 0; at < length; at++) codes[at] = text.charCodeAt(at);
  else bytes.write(text, 0, 'utf16le');
  codes[length] = 0;
  let signs = 0;
  let markCount = 0;
  let digitsMax = 0;
  let digits = 0;
  let lastDigit = -1;
  /** Length of the current run. */
  let run = 0;
  let runs: number[] | undefined;
  for (let at = 0; at < length; at++) {
    const bits = SIGNS[codes[at] as number] as number;
    signs |= bits;
    // Without a branch, which would be mispredicted once per word.
    run = (run + 1) & -((bits >> IN_RUN_AT) & 1);
    if (run === DENSE_RUN_MIN) {
      runs ??= [];
      runs.push(at);
    }
    if ((bits & NOTED) === 0) continue;
    if ((bits & SIGN.digit) === 0) marks[markCount++] = at;
    else {
      digits = isJoined(codes, lastDigit, at) ? digits + 1 : 1;
      if (digits > digitsMax) digitsMax = digits;
      lastDigit = at;
    }
  }
  const isWordsOnly = (signs & (SIGN.digit | SIGN.capital)) === 0;
  const dense = runs === undefined || isWordsOnly ? NONE : densePieces(codes, length, runs);
  signs |= digitSigns(digitsMax) | (dense.length > 0 ? SIGN.dense : 0);
  return { codes, length, signs, marks, markCount, dense };
}

/** True when two digits belong to one number. */
function isJoined(codes: Uint16Array, before: number, at: number): boolean {
  if (at - before > BETWEEN_DIGITS_MAX + 1) return false;
  for (let between = before + 1; between < at; between++) {
    if (((SIGNS[codes[between] as number] as number) & LETTER) !== 0) return false;
  }
  return true;
}

function digitSigns(count: number): number {
  let signs = 0;
  if (count >= 4) signs |= SIGN.digits4;
  if (count >= 7) signs |= SIGN.digits7;
  if (count >= 9) signs |= SIGN.digits9;
  if (count >= 12) signs |= SIGN.digits12;
  return signs;
}

/**
 * Visits the positions of one of the marks.
 * @param visit returns the position up to which nothing else needs to be searched
 */
export function eachMark({ codes, marks, markCount }: Reading, mark: string, visit: (at: number) => number): void {
  const code = mark.charCodeAt(0);
  let until = 0;
  for (let i = 0; i < markCount; i++) {
    const at = marks[i] as number;
    if (at >= until && codes[at] === code) until = visit(at);
  }
}
