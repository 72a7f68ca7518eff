import {
  APOSTROPHE,
  ARITHMETIC,
  CLASS_LETTER,
  COMMENT,
  COMPARISON,
  LOGIC,
  NUMBER,
  ODD,
  OPEN_COMMENT,
  OTHER,
  QUOTE,
} from '../constants.ts';
import { BOUNDS, classOf, codeAt, FLAGS, isDigit, SIGN_KINDS, setI32 } from './memory.ts';
import { anchor, isBehindValue, push, State } from './state.ts';
import { continues, variable } from './words.ts';

const LINE_FEED: i32 = 10;
const BANG: i32 = 33;
const DOUBLE: i32 = 34;
const HASH: i32 = 35;
const AMPERSAND: i32 = 38;
const SINGLE: i32 = 39;
const STAR: i32 = 42;
const PLUS: i32 = 43;
const MINUS: i32 = 45;
const POINT: i32 = 46;
const SLASH: i32 = 47;
const LESS: i32 = 60;
const EQUALS: i32 = 61;
const GREATER: i32 = 62;
const AT_SIGN: i32 = 64;
const BACKSLASH: i32 = 92;
const BACKTICK: i32 = 96;
const BAR: i32 = 124;

/** Digits with a fraction and an exponent, or hexadecimal; a keyword may follow without a blank. */
export function number(start: i32): i32 {
  let at = start + 1;
  const second = codeAt(at) | 32;
  if (codeAt(start) === 48 && (second === 120 || second === 98)) {
    at++;
    while (isHexDigit(codeAt(at))) at++;
    return push(NUMBER, -1, start, at);
  }
  at = afterDigits(at);
  if (codeAt(at) === POINT) at = afterDigits(at + 1);
  if ((codeAt(at) | 32) === 101 && isDigit(codeAt(at + 1))) at = afterDigits(at + 1);
  const suffix = codeAt(at) | 32;
  // Oracle reads the D of 1DUNION as part of the number.
  if ((suffix === 100 || suffix === 102) && (codeAt(at + 1) | 32) === 117) at++;
  return push(NUMBER, -1, start, at);
}

function afterDigits(from: i32): i32 {
  let at = from;
  while (isDigit(codeAt(at))) at++;
  return at;
}

function isHexDigit(code: i32): bool {
  return isDigit(code) || ((code | 32) >= 97 && (code | 32) <= 102);
}

/** What stands around it decides what it is. */
export function sign(at: i32, code: i32): i32 {
  const second = codeAt(at + 1);
  if (code > 127) return foreign(at, code);
  switch (code) {
    case LINE_FEED:
      return lineEnd(at);
    case DOUBLE:
    case SINGLE:
    case BACKTICK:
      return quote(at, code);
    case STAR:
      return star(at, second);
    case SLASH:
      return second === STAR ? block(at) : push(ARITHMETIC, code, at, at + 1);
    case HASH:
      return comment(at, code);
    case MINUS:
      return second === code ? comment(at, code) : push(ARITHMETIC, code, at, at + 1);
    case AMPERSAND:
    case BAR:
      return junction(at, code, second);
    case BANG:
    case LESS:
    case EQUALS:
    case GREATER:
      return comparison(at, code, second);
    case AT_SIGN:
      return variable(at);
    case BACKSLASH:
      // A backslash before a quote does not keep it from closing a text in most databases.
      return second === SINGLE || second === DOUBLE ? at + 1 : push(OTHER, code, at, at + 1);
    default:
      if (code === PLUS && State.plusIsBlank) return at + 1;
      return push(load<u8>(SIGN_KINDS + code), code, at, at + 1);
  }
}

/** Hardly any text goes on in the next line, so that a quote too many spoils one line only. */
function lineEnd(at: i32): i32 {
  State.single = State.double = 0;
  if (State.open >= 0) hide();
  return at + 1;
}

/** The line ends, and a comment stands in it. */
function hide(): void {
  setI32(BOUNDS, State.hiddenCount++, State.open);
  setI32(BOUNDS, State.hiddenCount++, State.count);
  State.hiddenProsePairs += State.prosePairs - State.prosePairsBefore;
  State.hiddenQuotes += State.quotes - State.quotesBefore;
  State.hiddenDoubleQuotes += State.doubleQuotes - State.doubleQuotesBefore;
  State.open = -1;
}

function junction(at: i32, code: i32, second: i32): i32 {
  if (second !== code) return push(ARITHMETIC, code, at, at + 1);
  push(LOGIC, code, at, at + 2);
  anchor();
  return at + 2;
}

/** A product, or the end of a version comment, whose content was read as text. */
function star(at: i32, second: i32): i32 {
  return second === SLASH && State.versionComment ? at + 2 : push(ARITHMETIC, STAR, at, at + 1);
}

/** A comment that goes over lines. */
function block(at: i32): i32 {
  State.exact = false;
  if (codeAt(at + 2) === BANG) {
    State.versionComment = true;
    return afterDigits(at + 3);
  }
  // Nobody reads the words in it one by one.
  State.told = -1;
  if (State.noClosingFrom < 0) {
    for (let end = at + 2; end < State.length; end++) {
      if (codeAt(end) === STAR && codeAt(end + 1) === SLASH) return end + 2;
    }
    State.noClosingFrom = at;
  }
  return push(OPEN_COMMENT, -1, at, at + 2);
}

/** A comment up to the end of its line. */
function comment(at: i32, code: i32): i32 {
  let end = at + 1;
  while (codeAt(end) === code) end++;
  if (State.skipLines) {
    for (let line = end; line < State.length; line++) if (codeAt(line) === LINE_FEED) return line;
  } else if (!State.lineComments) State.lineComments = isBehindValue(at);
  if (State.open < 0) {
    State.open = State.count;
    State.prosePairsBefore = State.prosePairs;
    State.quotesBefore = State.quotes;
    State.doubleQuotesBefore = State.doubleQuotes;
  }
  return push(COMMENT, code, at, end);
}

/** Typographic quotes and dashes do what plain ones do once somebody normalises them. */
function foreign(at: i32, code: i32): i32 {
  const kind = load<u8>(SIGN_KINDS + code);
  if (kind === QUOTE) return quote(at, code >= 0x201c && code < 0x2020 ? DOUBLE : SINGLE);
  return kind === COMMENT ? push(COMMENT, MINUS, at, at + 1) : at + 1;
}

function quote(at: i32, code: i32): i32 {
  const index = State.count;
  push(QUOTE, code, at, at + 1);
  store<u8>(FLAGS + index, 0);
  // It may close a text all the same, but most of them belong to a word.
  if (code === SINGLE && at > 0 && classOf(codeAt(at - 1)) === CLASS_LETTER && isApostrophe(at + 1)) {
    store<u8>(FLAGS + index, APOSTROPHE as u8);
    return at + 1;
  }
  if (code === DOUBLE) State.doubleQuotes++;
  else if (code === SINGLE) State.quotes++;
  const before = code === DOUBLE ? State.double++ : code === SINGLE ? State.single++ : 1;
  if ((before & 1) === 0) {
    store<u8>(FLAGS + index, ODD as u8);
    anchor();
  }
  return at + 1;
}

/** A letter follows, and no word with which a splice goes on: `d'or` may, and then decides what comes after it. */
function isApostrophe(next: i32): bool {
  return classOf(codeAt(next)) === CLASS_LETTER && !continues(next);
}

/** `==`, `=>` and `!x` are of other languages. */
function comparison(at: i32, code: i32, second: i32): i32 {
  let end = at + 1;
  while (end < at + 3 && codeAt(end) >= LESS && codeAt(end) <= GREATER) end++;
  if (code === BANG && second !== EQUALS) return push(ARITHMETIC, code, at, at + 1);
  const isForeign = (code === EQUALS || code === BANG) && end - at > (code === EQUALS ? 1 : 2);
  return push(isForeign ? OTHER : COMPARISON, code, at, end);
}
