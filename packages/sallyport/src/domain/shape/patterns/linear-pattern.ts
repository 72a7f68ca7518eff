import { RE2JS } from 're2js';
import { translatePattern } from './translate-pattern.ts';

/** A pattern that answers in time linear in the text. */
export interface LinearPattern {
  test(text: string): boolean;
  /** Work for one character in the worst case, in schema values visited. */
  readonly stepsPerCharacter: number;
}

/** Length of a pattern, in UTF-16 units. */
const PATTERN_LENGTH_MAX = 4096;
/** Characters that the native engine reads, and instructions that RE2 looks at, in the time of visiting one value. */
const NATIVE_CHARACTERS_PER_STEP = 16;
const INSTRUCTIONS_PER_STEP = 32;
/** Atoms of a pattern for RE2, repetitions written out; each costs time for every character in the worst case. */
const ATOMS_MAX = 3000;

/**
 * Compiles an ECMA-262 pattern for a linear-time engine (VAL-05).
 *
 * A pattern that cannot backtrack (a row of single-character atoms of which at most one repeats variably, held at the
 * start) goes to the native engine, which is ten times faster; everything else to RE2.
 * @throws SyntaxError saying what in the pattern cannot be had: look-around, back-references, bad syntax, size
 */
export function compileLinearPattern(pattern: string): LinearPattern {
  if (pattern.length > PATTERN_LENGTH_MAX)
    throw new SyntaxError(`the pattern is longer than ${PATTERN_LENGTH_MAX} characters`);
  const native = nativePattern(pattern);
  const { re2, cannotBacktrack, atoms } = translatePattern(pattern, native.unicode);
  if (cannotBacktrack) {
    native.test('');
    return { test: (text) => native.test(text), stepsPerCharacter: 1 / NATIVE_CHARACTERS_PER_STEP };
  }
  if (atoms > ATOMS_MAX) throw new SyntaxError('the pattern is too large; use smaller repeat counts');
  const compiled = RE2JS.compile(re2);
  return { test: (text) => compiled.test(text), stepsPerCharacter: compiled.programSize() / INSTRUCTIONS_PER_STEP };
}

/** JSON Schema asks for the `u` flag; patterns that are only valid without it are common in the wild. */
function nativePattern(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return new RegExp(pattern);
  }
}
