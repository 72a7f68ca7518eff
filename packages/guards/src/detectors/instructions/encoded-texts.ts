/** A text encoded within another. */
export interface EncodedText {
  readonly decoded: string;
  /** Position of the encoded form, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** True when the form itself is meant to be read but not found: words with their letters apart. */
  readonly evasive: boolean;
}

/** Shorter ones contain no demand. */
const TEXT_CHARS_MIN = 12;

/** Base64, hexadecimal, percent-encoding, escapes of programming languages and of HTML, letters apart. */
const ENCODED =
  /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}={0,2}|(?:%[0-9a-fA-F]{2}){8,}|(?:\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}){6,}|(?:&#(?:x[0-9a-fA-F]{1,6}|\d{1,7});){6,}|(?<![A-Za-z])[A-Za-z](?:[ ._-]{1,4}[A-Za-z'](?![A-Za-z])){8,}/g;

/**
 * All readable texts that are encoded in a text, once or twice: a bound would hide what comes after it. Linear, since what
 * is decoded is shorter than its form.
 */
export function* encodedTexts(text: string): Generator<EncodedText> {
  yield* disguisedTexts(text);
  for (const { 0: form, index } of formsIn(text)) {
    const place = { start: index, end: index + form.length };
    const decoded = decode(form);
    if (isReadable(decoded, form)) yield { decoded, ...place, evasive: isApart(form) && WORDS.test(decoded) };
    for (const [inner] of formsIn(decoded)) {
      const twice = decode(inner);
      if (isReadable(twice, inner)) yield { decoded: twice, ...place, evasive: false };
    }
  }
}

/** Letters written as references or escapes, where no honest text needs them, and words with blanks as an address writes them. */
const WRITTEN_LETTER =
  /&#(?:x(?:4[1-9a-f]|5[0-9a]|6[1-9a-f]|7[0-9a])|6[5-9]|[78]\d|90|9[7-9]|1[01]\d|12[0-2]);|\\(?:u00|x)(?:[46][1-9a-f]|[57][0-9a])/gi;
const WORDS_OF_ADDRESS = /[\w.,'-]{1,24}(?:%20[\w.,'-]{1,24}){3,400}/g;
/**
 * Parts of `instructions`, `prompt` and `previous`, backwards and with their letters moved by thirteen places. Each begins
 * with a rare letter, which a search finds soonest.
 */
const BACKWARDS: readonly string[] = ['curtsni', 'pmorp', 'uoiverp'];
const MOVED: readonly string[] = ['vafgehpg', 'zcg', 'vbhf'];

/** The text as it is after its disguise is undone: as a whole, since a disguise may cover any part of it. */
function* disguisedTexts(text: string): Generator<EncodedText> {
  if (text.includes('&#') || text.includes('\\')) {
    const found = [...text.matchAll(WRITTEN_LETTER)];
    const [first, last] = [found[0], found.at(-1)];
    if (first !== undefined && last !== undefined) {
      const place = { start: first.index, end: last.index + last[0].length };
      yield { decoded: text.replace(WRITTEN_LETTER, unescaped), ...place, evasive: false };
    }
  }
  if (text.includes('%20')) {
    for (const { 0: form, index } of text.matchAll(WORDS_OF_ADDRESS))
      yield { decoded: form.replaceAll('%20', ' '), start: index, end: index + form.length, evasive: false };
  }
  const whole = { start: 0, end: text.length, evasive: false };
  if (BACKWARDS.some((word) => text.includes(word))) yield { decoded: [...text].reverse().join(''), ...whole };
  if (MOVED.some((word) => text.includes(word))) yield { decoded: text.replace(/[a-z]/gi, movedBack), ...whole };
}

function movedBack(letter: string): string {
  const code = letter.charCodeAt(0);
  const first = code < 97 ? 65 : 97;
  return String.fromCharCode(((code - first + 13) % 26) + first);
}

const formsIn = (text: string): Iterable<RegExpExecArray> => (mayHoldEncoded(text) ? text.matchAll(ENCODED) : []);

/** Shortest run of characters of base64 and hexadecimal that is read. */
const RUN_CHARS_MIN = 24;
/** Shortest text with spaced letters: nine letters and their separators. */
const APART_CHARS_MIN = 17;

/** False for most texts, after reading few of their characters. */
function mayHoldEncoded(text: string): boolean {
  return (
    (text.includes('%') && PERCENT_ROW.test(text)) ||
    (text.includes('\\') && BACKSLASH_ROW.test(text)) ||
    (text.includes('&#') && REFERENCE_ROW.test(text)) ||
    hasRun(text) ||
    hasLettersApart(text)
  );
}

/** The shortest rows of escapes that are read. */
const PERCENT_ROW = /(?:%[0-9a-fA-F]{2}){8}/;
const BACKSLASH_ROW = /(?:\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}){6}/;
const REFERENCE_ROW = /(?:&#(?:x[0-9a-fA-F]{1,6}|\d{1,7});){6}/;

/**
 * True when a run of this many characters may be base64. Skips ahead: a run cannot cross a character outside the
 * alphabet, so for most runs only the last character is read.
 */
function hasRun(text: string): boolean {
  for (let start = 0; start + RUN_CHARS_MIN <= text.length; ) {
    let at = start + RUN_CHARS_MIN - 1;
    while (at >= start && (partOf(text, at) & IN_RUN) !== 0) at -= 1;
    if (at < start) return true;
    start = at + 1;
  }
  return false;
}

/** As above, for spaced letters: such a row cannot cross two adjacent letters. */
function hasLettersApart(text: string): boolean {
  for (let start = 0; start + APART_CHARS_MIN <= text.length; ) {
    let at = start + APART_CHARS_MIN - 1;
    let part = partOf(text, at);
    while (at >= start && (part & (LETTER | APART)) !== 0) {
      const before = at === 0 ? APART : partOf(text, at - 1);
      if ((part & before & LETTER) !== 0) break;
      part = before;
      at -= 1;
    }
    if (at < start) return true;
    start = at + 1;
  }
  return false;
}

const IN_RUN = 1;
const LETTER = 2;
const APART = 4;
/** What a character of ASCII may be part of. */
const PARTS = new Uint8Array(128);
for (const [part, characters] of [
  [IN_RUN | LETTER, 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'],
  [IN_RUN, '0123456789+/_-'],
  [APART, " ._-'"],
] as const) {
  for (const each of characters) PARTS[each.charCodeAt(0)] = (PARTS[each.charCodeAt(0)] ?? 0) | part;
}

function partOf(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < PARTS.length ? (PARTS[code] as number) : 0;
}

/** Several words, so that a row of single letters does not count. */
const WORDS = /^(?:.*?\b[A-Za-z']{3,20}\b){3}/;

const isApart = (form: string): boolean => /^[A-Za-z][ ._-]/.test(form) && !/[A-Za-z]{2}/.test(form);

function decode(form: string): string {
  if (form.startsWith('%')) return Buffer.from(form.replaceAll('%', ''), 'hex').toString('utf8');
  if (form.startsWith('\\') || form.startsWith('&#')) return unescaped(form).toWellFormed();
  if (isApart(form)) return apart(form);
  if (/^(?:[0-9a-f]{2}){12,}$/i.test(form)) return Buffer.from(form, 'hex').toString('utf8');
  return Buffer.from(form, 'base64').toString('utf8');
}

function unescaped(form: string): string {
  return form.replace(/\\[ux]([0-9a-fA-F]{2,4})|&#x([0-9a-fA-F]{1,6});|&#(\d{1,7});/g, (_, hex, htmlHex, decimal) => {
    const code = Number.parseInt(hex ?? htmlHex ?? decimal, decimal === undefined ? 16 : 10);
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : '';
  });
}

/** Spaced letters form words only when wider gaps separate words; without them it is one word, which no rule needs. */
function apart(form: string): string {
  const words = form.split(/[ ._-]{2,4}/);
  return words.map((word) => word.replace(/[ ._-]/g, '')).join(' ');
}

/** True for a text that is made of words, and long enough for a demand. */
function isReadable(text: string, form: string): boolean {
  if (text.length < TEXT_CHARS_MIN) return false;
  if (isApart(form)) return true;
  if (!/[A-Za-z]{2}[^A-Za-z]{1,3}[A-Za-z]{2}/.test(text)) return false;
  let odd = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if ((code < 32 && code !== 9 && code !== 10 && code !== 13) || code === 0xff_fd) odd += 1;
  }
  return odd * 20 <= text.length;
}
