import { CHARACTERS } from '../lexer/character-tables.ts';
import { CLASS_BLANK, CLASS_DIGIT, CLASS_LETTER, CLASS_SIMPLE, ROOM, TEXT_UNITS_MAX } from '../lexer/constants.ts';
import { CONTINUING } from '../lexer/sql-words.ts';
import { FACTS_PLACE, HASH_FACTOR, ROLE_ANCHOR, ROLE_KNOWN, roleAt, slotOf } from '../lexer/word-table.ts';
import type { Reading } from '../text/reading.ts';
import { ALL_FACTS } from '../text/word-facts.ts';
import type { Cut } from './cut.ts';
import { hide, isAfterValue, noteComment } from './line-comments.ts';
import { closeTokens, FLAG, KIND, type Tokens } from './tokens.ts';

// A constant of this file is folded into the loops; an imported one is looked up each time.
const FACTOR = HASH_FACTOR;
const CLASS = CHARACTERS.classes;
const KINDS = CHARACTERS.signKinds;
/** Last of ASCII. */
const ASCII = 127;
const DOLLAR = 36;
/** A dollar sign is, like a character beyond ASCII, part of a word here but ends it in other dialects. */
const FOLD = CHARACTERS.folded.with(DOLLAR, ASCII + 1);

/** Tokens of the longest text. */
const TOKENS_MAX = TEXT_UNITS_MAX + ROOM;
// Constant buffers of this file: the compiler then knows their fixed addresses.
const kinds = new Uint8Array(TOKENS_MAX);
const slots = new Int32Array(TOKENS_MAX);
const starts = new Int32Array(TOKENS_MAX);
const ends = new Int32Array(TOKENS_MAX);
const flags = new Uint8Array(TOKENS_MAX);
const anchors = new Int32Array(TOKENS_MAX);
const kept: Tokens = {
  text: '',
  kinds,
  slots,
  starts,
  ends,
  flags,
  anchors,
  anchorCount: 0,
  count: 0,
  prosePairs: 0,
  versionComment: false,
  lineComments: false,
  quotes: 0,
  doubleQuotes: 0,
  hidden: {
    bounds: new Int32Array(TOKENS_MAX),
    count: 0,
    prosePairs: 0,
    quotes: 0,
    doubleQuotes: 0,
    open: -1,
    prosePairsBefore: 0,
    quotesBefore: 0,
    doubleQuotesBefore: 0,
    exact: true,
  },
};

/** Cuts the last read text into tokens, in linear time. The result is valid until the next call. */
export function lex(reading: Reading, plusIsBlank: boolean, skipLines: boolean): Tokens {
  const { text, codes } = reading;
  const { length } = text;
  const tokens = emptyTokens(text);
  const cut: Cut = {
    reading,
    text,
    codes,
    length,
    tokens,
    plusIsBlank,
    skipLines,
    single: 0,
    double: 0,
    noClosingFrom: -1,
  };
  let at = 0;
  while (at < length) {
    const code = codes[at] as number;
    const kind = CLASS[code];
    if (kind === CLASS_BLANK) at++;
    else if (kind === CLASS_LETTER) at = words(cut, at);
    else if (kind === CLASS_DIGIT) at = number(cut, at);
    else if (kind === CLASS_SIMPLE) at = push(cut, KINDS[code] as number, code, at, at + 1);
    else at = sign(cut, at, code);
  }
  closeTokens(tokens, length);
  return tokens;
}

function emptyTokens(text: string): Tokens {
  const tokens = kept;
  tokens.text = text;
  tokens.count = tokens.anchorCount = tokens.prosePairs = tokens.quotes = tokens.doubleQuotes = 0;
  tokens.versionComment = tokens.lineComments = false;
  const { hidden } = tokens;
  hidden.open = -1;
  hidden.exact = true;
  // Most texts leave nothing here.
  if (hidden.count > 0) hidden.count = hidden.prosePairs = hidden.quotes = hidden.doubleQuotes = 0;
  return tokens;
}

function push({ tokens }: Cut, kind: number, slot: number, start: number, end: number): number {
  const { count } = tokens;
  kinds[count] = kind;
  slots[count] = slot;
  starts[count] = start;
  ends[count] = end;
  tokens.count = count + 1;
  return end;
}

function anchor({ tokens }: Cut): void {
  anchors[tokens.anchorCount++] = tokens.count - 1;
}

/** A word and the following ones, separated only by blanks: most texts are little else. */
function words({ reading, codes, tokens }: Cut, from: number): number {
  let { count } = tokens;
  let prose = 0;
  let plain = 0;
  let at = from;
  do {
    const start = at;
    let hash = 0;
    let seen = 0;
    let folded = FOLD[codes[at] as number] as number;
    while (folded !== 0) {
      hash = (Math.imul(hash, FACTOR) + folded) | 0;
      seen |= folded;
      folded = FOLD[codes[++at] as number] as number;
    }
    // Other readers may see a known word in a part of it.
    if (seen > ASCII) reading.facts = ALL_FACTS;
    let slot = slotOf(hash);
    const role = slot < 0 ? 0 : roleAt(slot);
    reading.facts |= role >> FACTS_PLACE;
    if ((role & ROLE_KNOWN) !== 0) {
      if ((role & ROLE_ANCHOR) !== 0) anchors[tokens.anchorCount++] = count;
      plain = 0;
    } else {
      slot = -1;
      plain++;
    }
    // Without branches, which would be unpredictable.
    prose += isBelow(1, plain);
    starts[count] = start;
    count -= isBelow(PLAIN_MAX, plain);
    kinds[count] = KIND.word;
    slots[count] = slot;
    ends[count++] = at;
    at += isBelow((codes[at] as number) ^ BLANK, 1);
  } while (CLASS[codes[at] as number] === CLASS_LETTER);
  tokens.count = count;
  tokens.prosePairs += prose;
  return at;
}

/** 1 when the first is below the second, else 0; both are small. */
function isBelow(one: number, other: number): number {
  return (one - other) >>> 31;
}

const BLANK = 32;
/** Words that SQL does not know, in a row; the last token takes in those after them, for no rule looks further. */
const PLAIN_MAX = 2;

/** Digits with a fraction and an exponent, or hexadecimal; a keyword may follow without a blank. */
function number(cut: Cut, start: number): number {
  const { codes } = cut;
  let at = start + 1;
  const second = (codes[at] ?? 0) | 32;
  if (codes[start] === 48 && (second === 120 || second === 98)) {
    at++;
    while (isHexDigit(codes[at] ?? 0)) at++;
    return push(cut, KIND.number, -1, start, at);
  }
  at = afterDigits(codes, at);
  if (codes[at] === 46) at = afterDigits(codes, at + 1);
  if (((codes[at] ?? 0) | 32) === 101 && isDigit(codes[at + 1] ?? 0)) at = afterDigits(codes, at + 1);
  const suffix = (codes[at] ?? 0) | 32;
  // Oracle reads the D of 1DUNION as part of the number.
  if ((suffix === 100 || suffix === 102) && ((codes[at + 1] ?? 0) | 32) === 117) at++;
  return push(cut, KIND.number, -1, start, at);
}

function afterDigits(codes: Uint16Array, from: number): number {
  let at = from;
  while (isDigit(codes[at] ?? 0)) at++;
  return at;
}

function sign(cut: Cut, at: number, code: number): number {
  const { codes, plusIsBlank } = cut;
  const second = codes[at + 1] ?? 0;
  if (code >= 128) return foreign(cut, at, code);
  switch (code) {
    case 10:
      return lineEnd(cut, at);
    case 34:
    case 39:
    case 96:
      return quote(cut, at, code);
    case 47:
    case 42:
      return slash(cut, at, code, second);
    case 35:
      return comment(cut, at, code);
    case 45:
      return second === code ? comment(cut, at, code) : push(cut, KIND.arithmetic, code, at, at + 1);
    case 38:
    case 124:
      return junction(cut, at, code, second);
    case 33:
    case 60:
    case 61:
    case 62:
      return comparison(cut, at, code, second);
    case 64:
      return variable(cut, at);
    case 92:
      // In most databases a backslash does not keep a quote from closing a string.
      return second === 39 || second === 34 ? at + 1 : push(cut, KIND.other, code, at, at + 1);
    default:
      return code === 43 && plusIsBlank ? at + 1 : push(cut, KINDS[code] ?? KIND.other, code, at, at + 1);
  }
}

/** A string ends with its line, since multi-line strings are rare: a surplus quote spoils one line only. */
function lineEnd(cut: Cut, at: number): number {
  cut.single = cut.double = 0;
  if (cut.tokens.hidden.open >= 0) hide(cut.tokens);
  return at + 1;
}

function junction(cut: Cut, at: number, code: number, second: number): number {
  if (second !== code) return push(cut, KIND.arithmetic, code, at, at + 1);
  push(cut, KIND.logic, code, at, at + 2);
  anchor(cut);
  return at + 2;
}

/** Division, a product, or a comment. */
function slash(cut: Cut, at: number, code: number, second: number): number {
  const { codes, tokens, text } = cut;
  if (code === 42) {
    // The end of a version comment, whose content was read as text.
    const closes = second === 47 && tokens.versionComment;
    return closes ? at + 2 : push(cut, KIND.arithmetic, code, at, at + 1);
  }
  if (second !== 42) return push(cut, KIND.arithmetic, code, at, at + 1);
  tokens.hidden.exact = false;
  if (codes[at + 2] === 33) {
    tokens.versionComment = true;
    return afterDigits(codes, at + 3);
  }
  // The words in it are not read one by one.
  cut.reading.facts = ALL_FACTS;
  const end = cut.noClosingFrom >= 0 ? -1 : text.indexOf('*/', at + 2);
  if (end >= 0) return end + 2;
  cut.noClosingFrom = at;
  return push(cut, KIND.openComment, -1, at, at + 2);
}

function comment(cut: Cut, at: number, code: number): number {
  const { codes, tokens, text, skipLines } = cut;
  let end = at + 1;
  while (codes[end] === code) end++;
  if (skipLines) {
    const line = text.indexOf('\n', end);
    if (line >= 0) return line;
  } else tokens.lineComments ||= isAfterValue(cut, at);
  noteComment(tokens);
  return push(cut, KIND.comment, code, at, end);
}

/** Typographic quotes and dashes do what plain ones do once somebody normalises them. */
function foreign(cut: Cut, at: number, code: number): number {
  const kind = KINDS[code];
  if (kind === KIND.quote) return quote(cut, at, code >= 0x201c && code < 0x2020 ? 34 : 39);
  return kind === KIND.comment ? push(cut, KIND.comment, 45, at, at + 1) : at + 1;
}

function quote(cut: Cut, at: number, code: number): number {
  const { codes, tokens } = cut;
  const { count } = tokens;
  push(cut, KIND.quote, code, at, at + 1);
  flags[count] = 0;
  // It may close a string all the same, but most belong to a word.
  if (code === 39 && at > 0 && isLetter(codes[at - 1] ?? 0) && isApostrophe(cut, at + 1)) {
    flags[count] = FLAG.apostrophe;
    return at + 1;
  }
  if (code === 34) tokens.doubleQuotes++;
  else if (code === 39) tokens.quotes++;
  const before = code === 34 ? cut.double++ : code === 39 ? cut.single++ : 1;
  if (before % 2 === 0) {
    flags[count] = FLAG.odd;
    anchor(cut);
  }
  return at + 1;
}

/**
 * True for an apostrophe: a letter follows it, and no word that continues an injection. `d'or` may be either; its
 * continuation decides.
 */
function isApostrophe({ codes, text }: Cut, next: number): boolean {
  if (!isLetter(codes[next] ?? 0)) return false;
  CONTINUES.lastIndex = next;
  return !CONTINUES.test(text);
}

const CONTINUES = new RegExp(`(?:${CONTINUING.replaceAll(' ', '|')})\\b`, 'iy');

/** `==`, `=>` and `!x` are of other languages. */
function comparison(cut: Cut, at: number, code: number, second: number): number {
  const { codes } = cut;
  let end = at + 1;
  while (end < at + 3 && isComparison(codes[end] ?? 0)) end++;
  if (code === 33 && second !== 61) return push(cut, KIND.arithmetic, code, at, at + 1);
  const isForeign = (code === 61 || code === 33) && end - at > (code === 61 ? 1 : 2);
  return push(cut, isForeign ? KIND.other : KIND.comparison, code, at, end);
}

/** `@name`. Only here the sign is part of the name, so the bare name determines the word's meaning. */
function variable(cut: Cut, start: number): number {
  const { codes, reading } = cut;
  const twice = codes[start + 1] === 64;
  const name = start + (twice ? 2 : 1);
  let at = name;
  let hash = 0;
  let seen = 0;
  for (let folded = FOLD[codes[at] as number] as number; folded !== 0; folded = FOLD[codes[++at] as number] as number) {
    hash = (Math.imul(hash, FACTOR) + folded) | 0;
    seen |= folded;
  }
  const slot = slotOf(hash);
  if (slot >= 0) reading.facts |= roleAt(slot) >> FACTS_PLACE;
  if (seen > ASCII) reading.facts = ALL_FACTS;
  return push(cut, KIND.variable, twice ? 64 : -1, start, at);
}

function isComparison(code: number): boolean {
  return code >= 60 && code <= 62;
}

function isLetter(code: number): boolean {
  return CLASS[code] === CLASS_LETTER;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isHexDigit(code: number): boolean {
  return isDigit(code) || (code >= 97 && code <= 102) || (code >= 65 && code <= 70);
}
