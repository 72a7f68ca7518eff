import { SCRIPT_SCHEMES } from './names.ts';

/** Characters of a value that are read to determine its scheme. */
const SCHEME_READ_MAX = 512;
/** Longest name of a character reference. */
const REFERENCE_LENGTH_MAX = 10;

const NAMED: Readonly<Record<string, string>> = {
  tab: '\t',
  newline: '\n',
  colon: ':',
  lpar: '(',
  rpar: ')',
  sol: '/',
  semi: ';',
  comma: ',',
  quot: '"',
  apos: "'",
  amp: '&',
  lt: '<',
  gt: '>',
  equals: '=',
};

/**
 * True when the value that begins here executes when followed, as a browser reads it: references decoded, blanks and
 * control characters removed, case-insensitive.
 */
export function hasScriptScheme(text: string, from: number): boolean {
  let scheme = '';
  const end = Math.min(text.length, from + SCHEME_READ_MAX);
  let at = from;
  while (at < end && isPassedOver(text.charCodeAt(at), true)) at++;
  // Most values are excluded by their first letter.
  if (at < end && !mayBegin(text.charCodeAt(at))) return false;
  while (at < end) {
    const code = text.charCodeAt(at);
    if (isPassedOver(code, scheme === '')) {
      at++;
      continue;
    }
    const [character, next] = code === 38 ? readReference(text, at) : [text.charAt(at), at + 1];
    at = next;
    if (character.charCodeAt(0) <= 32) continue;
    scheme += character.toLowerCase();
    const known = SCRIPT_SCHEMES.find((each) => each.startsWith(scheme) || scheme.startsWith(each));
    if (known === undefined) return false;
    if (scheme.length >= known.length) return true;
  }
  return false;
}

/** First letters of the schemes in both cases, and the `&` of a reference. */
const BEGINS = new Uint8Array(128);
for (const scheme of SCRIPT_SCHEMES) {
  for (const first of [scheme.charAt(0), scheme.charAt(0).toUpperCase()]) BEGINS[first.charCodeAt(0)] = 1;
}
BEGINS[38] = 1;

/** Some letters beyond ASCII have an ASCII lower case. */
function mayBegin(code: number): boolean {
  return code >= 128 || BEGINS[code] === 1;
}

/** Blanks, control characters, what has no width, and quotes before the first letter. */
function isPassedOver(code: number, first: boolean): boolean {
  if (code <= 32 || (code >= 0x7f && code <= 0xa0) || (code >= 0x2000 && code <= 0x200f) || code === 0xfeff)
    return true;
  if ((code >= 0x2028 && code <= 0x206f) || code === 0x1680 || code === 0x3000) return true;
  return first && (code === 34 || code === 39 || code === 96 || code === 92);
}

/** The character of a reference, and the offset after it; `&` itself when it is none. */
export function readReference(text: string, at: number): [character: string, next: number] {
  if (text.charCodeAt(at + 1) === 35) {
    const hex = (text.charCodeAt(at + 2) | 32) === 120;
    let end = at + (hex ? 3 : 2);
    const from = end;
    while (end < from + REFERENCE_LENGTH_MAX && isDigit(text.charCodeAt(end), hex)) end++;
    if (end === from) return ['&', at + 1];
    const code = Number.parseInt(text.slice(from, end), hex ? 16 : 10);
    return [code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd', text.charCodeAt(end) === 59 ? end + 1 : end];
  }
  let end = at + 1;
  while (end <= at + REFERENCE_LENGTH_MAX && isLetter(text.charCodeAt(end))) end++;
  const character = NAMED[text.slice(at + 1, end).toLowerCase()];
  if (character === undefined) return ['&', at + 1];
  return [character, text.charCodeAt(end) === 59 ? end + 1 : end];
}

function isDigit(code: number, hex: boolean): boolean {
  if (code >= 48 && code <= 57) return true;
  return hex && ((code >= 97 && code <= 102) || (code >= 65 && code <= 70));
}

function isLetter(code: number): boolean {
  return (code | 32) >= 97 && (code | 32) <= 122;
}

/** A style sheet without comments, escapes and references; for a limited part of the text. */
export function plainStyle(text: string, start: number, end: number): string {
  return text
    .slice(start, end)
    .replace(/\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\//g, '')
    .replace(/&#?\w{1,10};?/g, (reference) => readReference(reference, 0)[0])
    .replace(/\\([0-9a-f]{1,6})[ \t\r\n]?/gi, (_, hex: string) => codePoint(Number.parseInt(hex, 16)))
    .replace(/[\\\p{Cc}]/gu, '')
    .toLowerCase();
}

function codePoint(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
}
