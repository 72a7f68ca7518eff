// Where things lie in the memory of the lexer, in bytes.
import { GROUPS, REPORT_NUMBERS, ROOM, SLOTS, TEXT_UNITS_MAX } from '../constants.ts';

/** Tokens of the longest text: each of its units may be one. */
const UNITS: i32 = TEXT_UNITS_MAX + ROOM;
/** Units of UTF-16. */
const ALPHABET: i32 = 1 << 16;

/** What was found, as 32-bit numbers; see `report`. */
export const REPORT: i32 = 16;

export const CODES: i32 = REPORT + 4 * REPORT_NUMBERS;
export const KINDS: i32 = CODES + 2 * UNITS;
export const FLAGS: i32 = KINDS + UNITS;
export const SLOTS_OF: i32 = FLAGS + UNITS;
export const STARTS: i32 = SLOTS_OF + 4 * UNITS;
export const ENDS: i32 = STARTS + 4 * UNITS;
export const ANCHORS: i32 = ENDS + 4 * UNITS;
export const BOUNDS: i32 = ANCHORS + 4 * UNITS;
export const MARKS: i32 = BOUNDS + 4 * UNITS;
/** Where a run of units that words and numbers are made of begins, and where it ends, in turn. */
export const RUNS: i32 = MARKS + 4 * UNITS;
/** Beside the end of a run its hash. */
export const HASHES: i32 = RUNS + 4 * UNITS;

/** Tables by unit. */
export const SIGNS: i32 = HASHES + 4 * UNITS;
export const FOLDED: i32 = SIGNS + 2 * ALPHABET;
export const CLASSES: i32 = FOLDED + 2 * ALPHABET;
export const SIGN_KINDS: i32 = CLASSES + ALPHABET;

/** The table of words. */
export const DISPLACEMENTS: i32 = SIGN_KINDS + ALPHABET;
export const KNOWN_HASHES: i32 = DISPLACEMENTS + 4 * GROUPS;
export const ROLES: i32 = KNOWN_HASHES + 4 * SLOTS;
export const MEMORY_END: i32 = ROLES + 4 * SLOTS;

/** The unit at a place of the text; 0 right behind it. */
export function codeAt(at: i32): i32 {
  return load<u16>(CODES + (at << 1));
}

export function classOf(code: i32): i32 {
  return load<u8>(CLASSES + code);
}

/** In lower case when words are made of it, 0 for the rest. */
export function foldOf(code: i32): i32 {
  return load<u16>(FOLDED + (code << 1));
}

export function i32At(list: i32, index: i32): i32 {
  return load<i32>(list + (index << 2));
}

export function setI32(list: i32, index: i32, value: i32): void {
  store<i32>(list + (index << 2), value);
}

/** 1 when the one is below the other, else 0; both are small. */
export function isBelow(one: i32, other: i32): i32 {
  return (one - other) >>> 31;
}

export function isDigit(code: i32): bool {
  return code >= 48 && code <= 57;
}
