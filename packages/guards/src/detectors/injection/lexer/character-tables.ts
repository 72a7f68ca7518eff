import { KIND } from '../sql/tokens.ts';
import { SIGN } from '../text/signs.ts';
import { CLASS_BLANK, CLASS_DIGIT, CLASS_LETTER, CLASS_SIGN, CLASS_SIMPLE } from './constants.ts';

/** Properties of every UTF-16 unit for the lexer. */
interface CharacterTables {
  /** Bits of SIGN. */
  readonly signs: Uint16Array;
  /** The unit in lower case when words are made of it, 0 for the rest. */
  readonly folded: Uint16Array;
  /** `CLASS_…` of the unit. */
  readonly classes: Uint8Array;
  /** Kind of the token that the unit makes by itself. */
  readonly signKinds: Uint8Array;
}

const UNITS = 1 << 16;
/** Last of ASCII. */
const ASCII = 127;
const LINE_FEED = 10;
const UNDERSCORE = 95;

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
const SIMPLE: ReadonlySet<string> = new Set('(),;.%^~[]{}?:$');
const KINDS_OF_SIGNS: Readonly<Record<string, number>> = {
  '(': KIND.open,
  ')': KIND.close,
  ',': KIND.comma,
  ';': KIND.semicolon,
  '+': KIND.arithmetic,
  '%': KIND.arithmetic,
  '^': KIND.arithmetic,
  '~': KIND.arithmetic,
  '.': KIND.dot,
};

/** The tables by which the lexer classifies characters. */
export const CHARACTERS: CharacterTables = characterTables();

function characterTables(): CharacterTables {
  const tables: CharacterTables = {
    signs: new Uint16Array(UNITS).fill(SIGN.other, ASCII + 1),
    folded: new Uint16Array(UNITS),
    classes: new Uint8Array(UNITS),
    signKinds: new Uint8Array(UNITS).fill(KIND.other, 0, ASCII + 1),
  };
  const { signs, folded, classes, signKinds } = tables;
  for (const [bits, characters] of SIGNS) {
    for (const each of characters) signs[each.charCodeAt(0)] = (signs[each.charCodeAt(0)] ?? 0) | bits;
  }
  for (let code = 0; code < UNITS; code++) {
    classes[code] = classOf(code);
    if (code > ASCII) signKinds[code] = foreignKindOf(code);
    if (classes[code] !== CLASS_LETTER && classes[code] !== CLASS_DIGIT) continue;
    folded[code] = foldCode(code);
    if (code > ASCII) signs[code] = (signs[code] ?? 0) | SIGN.foreign;
  }
  for (const [character, kind] of Object.entries(KINDS_OF_SIGNS)) signKinds[character.charCodeAt(0)] = kind;
  return tables;
}

function classOf(code: number): number {
  if (code > ASCII) return isForeignSign(code) ? CLASS_SIGN : CLASS_LETTER;
  if (code <= 32) return code === LINE_FEED ? CLASS_SIGN : CLASS_BLANK;
  if (code >= 48 && code <= 57) return CLASS_DIGIT;
  if (SIMPLE.has(String.fromCharCode(code))) return CLASS_SIMPLE;
  return code === UNDERSCORE || ((code | 32) >= 97 && (code | 32) <= 122) ? CLASS_LETTER : CLASS_SIGN;
}

/** Typographic quotes and dashes act like plain ones after normalisation; no other such sign is a token. */
function foreignKindOf(code: number): number {
  if (isCurlyQuote(code)) return KIND.quote;
  return code === 0x2013 || code === 0x2014 ? KIND.comment : KIND.end;
}

function isForeignSign(code: number): boolean {
  return (code >= 0x2000 && code < 0x2070) || code === 0xa0 || code === 0x3000 || code === 0xfeff || isCurlyQuote(code);
}

function isCurlyQuote(code: number): boolean {
  return (code >= 0x2018 && code <= 0x201f) || code === 0xb4 || code === 0xff07;
}

/** Lower case of a Latin letter; full-width letters become plain ones. */
function foldCode(code: number): number {
  if (code >= 65 && code <= 90) return code + 32;
  if (code >= 0xff21 && code <= 0xff3a) return code - 0xff21 + 97;
  return code >= 0xff41 && code <= 0xff5a ? code - 0xff41 + 97 : code;
}
