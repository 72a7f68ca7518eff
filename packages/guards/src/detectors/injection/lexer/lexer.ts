// Hot path: every text of every call is written into the memory of the compiled lexer once.
import { type CharacterTables, characterTables } from './character-tables.ts';
import { GROUPS, REPORT_NUMBERS, ROOM, SLOTS, TEXT_UNITS_MAX } from './constants.ts';
import { instantiate, numberOf } from './instantiate.ts';
import { LEXER } from './lexer.generated.ts';
import { WORD_TABLE, type WordTable } from './word-table.ts';

/** What `assembly/index.ts` offers beside where things lie in its memory. */
interface Functions {
  /** Looks at the units that were written, and answers with bits of SIGN. */
  read(length: number): number;
  /**
   * Cuts the text that was read last into tokens, in linear time.
   * @param told what is known of it before, as bits of TOLD
   * @param plusIsBlank whether `+` stands for a blank, as in the query of a URL
   * @param skipLines whether comments are left out with what follows them on their line
   * @returns how many tokens there are
   */
  lex(length: number, told: number, plusIsBlank: boolean, skipLines: boolean): number;
}

const exports = instantiate(Buffer.from(LEXER, 'base64'));
const { read, lex } = exports as unknown as Functions;
export const cutIntoTokens: Functions['lex'] = lex;
// The memory does not grow, so that these views stay what they are.
const { buffer } = exports['memory'] as { readonly buffer: ArrayBuffer };
const octets = (name: string, length: number): Uint8Array => new Uint8Array(buffer, numberOf(exports, name), length);
const units = (name: string, length: number): Uint16Array => new Uint16Array(buffer, numberOf(exports, name), length);
const numbers = (name: string, length: number): Int32Array => new Int32Array(buffer, numberOf(exports, name), length);

const ALPHABET = 1 << 16;
/** Tokens of the longest text: each of its units may be one. */
const UNITS = TEXT_UNITS_MAX + ROOM;

/** The text as UTF-16 units; zeros after the last one. */
export const CODES = units('CODES', UNITS);
/** Places that are kept, in order. */
export const MARKS = numbers('MARKS', UNITS);
/** The tokens; see `Tokens`. */
export const TOKENS = {
  kinds: octets('KINDS', UNITS),
  flags: octets('FLAGS', UNITS),
  slots: numbers('SLOTS_OF', UNITS),
  starts: numbers('STARTS', UNITS),
  ends: numbers('ENDS', UNITS),
  anchors: numbers('ANCHORS', UNITS),
  bounds: numbers('BOUNDS', UNITS),
} as const;
/** What else was found, at the places `AT_…`. */
export const REPORT = numbers('REPORT', REPORT_NUMBERS);

const bytes = Buffer.from(buffer, CODES.byteOffset, CODES.byteLength);
/** From this length on, copying at once is faster than unit by unit. */
const COPIED_MIN = 24;

fillTables(characterTables(), WORD_TABLE);

function fillTables(characters: CharacterTables, words: WordTable): void {
  units('SIGNS', ALPHABET).set(characters.signs);
  units('FOLDED', ALPHABET).set(characters.folded);
  octets('CLASSES', ALPHABET).set(characters.classes);
  octets('SIGN_KINDS', ALPHABET).set(characters.signKinds);
  numbers('DISPLACEMENTS', GROUPS).set(words.displacements);
  numbers('KNOWN_HASHES', SLOTS).set(words.hashes);
  numbers('ROLES', SLOTS).set(words.roles);
}

/**
 * Looks at every unit of a text once, in linear time. What is found is good until the next text is read.
 * @param text of `TEXT_UNITS_MAX` units at most
 * @returns bits of SIGN
 */
export function readUnits(text: string): number {
  const { length } = text;
  if (length > TEXT_UNITS_MAX) throw new RangeError(`A text of ${length} units is read in parts.`);
  if (length < COPIED_MIN) for (let at = 0; at < length; at++) CODES[at] = text.charCodeAt(at);
  else bytes.write(text, 0, 'utf16le');
  return read(length);
}
