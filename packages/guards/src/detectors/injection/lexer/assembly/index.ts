// What the compiled lexer offers. It takes no memory while it runs, so what was read from it stays where it is.
import { CLASS_DIGIT, CLASS_LETTER, CLASS_SIMPLE } from '../constants.ts';
import {
  ANCHORS,
  BOUNDS,
  CLASSES,
  CODES,
  classOf,
  codeAt,
  DISPLACEMENTS,
  ENDS,
  FLAGS,
  FOLDED,
  KINDS,
  KNOWN_HASHES,
  MARKS,
  MEMORY_END,
  REPORT,
  ROLES,
  SIGN_KINDS,
  SIGNS,
  SLOTS_OF,
  STARTS,
  setI32,
} from './memory.ts';
import { read } from './read.ts';
import { number, sign } from './signs.ts';
import { begin, report, State } from './state.ts';
import { words } from './words.ts';

export {
  ANCHORS,
  BOUNDS,
  CLASSES,
  CODES,
  DISPLACEMENTS,
  ENDS,
  FLAGS,
  FOLDED,
  KINDS,
  KNOWN_HASHES,
  MARKS,
  MEMORY_END,
  REPORT,
  ROLES,
  read,
  SIGN_KINDS,
  SIGNS,
  SLOTS_OF,
  STARTS,
};

/**
 * Cuts the text that was read last into tokens, in linear time.
 * @param told what is known of it before, as bits of TOLD
 * @returns the number of tokens
 */
export function lex(length: i32, told: i32, plusIsBlank: bool, skipLines: bool): i32 {
  begin(length, told, plusIsBlank, skipLines);
  let at: i32 = 0;
  while (at < length) {
    const code = codeAt(at);
    const kind = classOf(code);
    if (kind === CLASS_LETTER) at = words(at);
    else if (kind <= CLASS_SIMPLE) {
      // A blank or a token, which one cannot be foreseen: a blank is added too, and the next one takes its place.
      const index = State.count;
      store<u8>(KINDS + index, load<u8>(SIGN_KINDS + code));
      setI32(SLOTS_OF, index, code);
      setI32(STARTS, index, at);
      setI32(ENDS, index, ++at);
      State.count = index + kind;
    } else if (kind === CLASS_DIGIT) at = number(at);
    else at = sign(at, code);
  }
  return report();
}
