/** What a character is part of. */
export const PART = { blank: 0, word: 1, sign: 2 } as const;

/** By UTF-16 unit. Words are those of `\w`: anything beyond ASCII is a sign, so that it is selective by itself. */
export const PARTS = new Uint8Array(1 << 16).fill(PART.sign);
/** By UTF-16 unit: letters in lower case, 0 for blanks. */
export const FOLDED = new Uint16Array(1 << 16);

const BLANKS =
  '\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff';
const WORD = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_';

for (let code = 0; code < FOLDED.length; code += 1) FOLDED[code] = code >= 65 && code <= 90 ? code + 32 : code;
for (const each of BLANKS) PARTS[each.charCodeAt(0)] = FOLDED[each.charCodeAt(0)] = PART.blank;
for (const each of WORD) PARTS[each.charCodeAt(0)] = PART.word;

/** Characters of a word used for its key; further ones are ignored. */
export const WORD_CHARS = 4;

/** Key of a sign and the character directly after it: 0 for a blank, or nothing. */
export const keyOfSign = (code: number, next: number): number => (Math.imul(code, 0x1003f) + next + 0x5bd1e995) | 0;

/** A word or sign that a pattern requires, and its selectivity: higher when it occurs in fewer texts. */
export interface Literal {
  readonly key: number;
  readonly selectivity: number;
}

/** Stands in a text for the edge of a word. */
export const EDGE = '\0';

/** The most selective word or sign of a text in lower case; undefined when none can be found reliably. */
export function literalOf(text: string): Literal | undefined {
  let found: Literal | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const part = PARTS[text.charCodeAt(at)];
    const isWord = part === PART.word;
    let end = at + 1;
    while (isWord && end < text.length && PARTS[text.charCodeAt(end)] === PART.word) end += 1;
    const each = isWord ? wordOf(text, at, end) : part === PART.sign ? signOf(text, at) : undefined;
    if (each !== undefined && each.selectivity > (found?.selectivity ?? 0)) found = each;
    at = end - 1;
  }
  return found;
}

/** Words that most sentences hold. */
const COMMON: ReadonlySet<string> = new Set(
  (
    'the a an and or of to in on at by for from with as is are was be been it its this that these those not no any all ' +
    'each every you your me my we our us he she they them their his her i if so do does can will may must should have ' +
    'has had but when then than there here what which who how use used using name file text user data type list call ' +
    'only also more most other some such same one two first new time into over out up about after before http com'
  ).split(' '),
);

function wordOf(text: string, start: number, end: number): Literal | undefined {
  const isWhole = end < text.length;
  if (start === 0 || (end - start < WORD_CHARS && !isWhole)) return undefined;
  const word = text.slice(start, Math.min(end, start + WORD_CHARS));
  let key = 0;
  for (let at = 0; at < word.length; at += 1) key |= word.charCodeAt(at) << (8 * at);
  return { key, selectivity: COMMON.has(word) || COMMON.has(text.slice(start, end)) ? 1 : word.length };
}

function signOf(text: string, at: number): Literal | undefined {
  const code = text.charCodeAt(at);
  if (text[at] === EDGE) return undefined;
  const next = text
    .slice(at + 1)
    .replaceAll(EDGE, '')
    .charCodeAt(0);
  if (Number.isNaN(next)) return undefined;
  return { key: keyOfSign(code, FOLDED[next] ?? 0), selectivity: code > 127 ? WORD_CHARS : next > 32 ? 3 : 1 };
}
