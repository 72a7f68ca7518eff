// Run over every long result: one pass, nothing made.

/** Kinds of characters that tokenisers treat alike. */
const LOWER = 0;
const UPPER = 1;
const DIGIT = 2;
const SPACE = 3;
const BREAK = 4;
const SIGN = 5;
const ACCENTED = 6;
const WIDE = 7;
const PICTURE = 8;

/**
 * Where a text reaches a number of tokens, as an estimate: each model has a tokeniser of its own. For prose, code, JSON,
 * logs, base64, Chinese and Russian it is 0.75 to 1.4 times what o200k_base counts.
 * @param from index of the first character, UTF-16 units
 * @returns the index after the last character that fits, between characters
 */
export function endWithinTokens(text: string, from: number, tokensMax: number): number {
  let tokens = 0;
  let before = -1;
  let length = 0;
  let at = from;
  while (at < text.length) {
    const code = text.codePointAt(at) as number;
    const kind = kindOf(code);
    const isCapitalised = kind === LOWER && before === UPPER && length === 1;
    length = kind === before || isCapitalised ? length + 1 : 1;
    before = kind;
    const more = tokens + costOf(kind, length);
    if (more > tokensMax) break;
    tokens = more;
    at += code > 0xffff ? 2 : 1;
  }
  return at;
}

function kindOf(code: number): number {
  if (code >= 0x61 && code <= 0x7a) return LOWER;
  if (code >= 0x41 && code <= 0x5a) return UPPER;
  if (code >= 0x30 && code <= 0x39) return DIGIT;
  if (code === 0x20) return SPACE;
  if (code < 0x20) return BREAK;
  if (code < 0x80) return SIGN;
  if (code < 0x800) return ACCENTED;
  return code > 0xffff ? PICTURE : WIDE;
}

/** What the nth character of a run of its kind adds. */
function costOf(kind: number, nth: number): number {
  switch (kind) {
    case LOWER:
    case UPPER:
      return nth % 6 === 1 ? 1 : 0;
    case DIGIT:
      return nth % 3 === 1 ? 1 : 0;
    // One space belongs to the word after it.
    case SPACE:
      return nth === 2 || nth % 16 === 0 ? 1 : 0;
    case BREAK:
      return nth % 4 === 1 ? 1 : 0;
    case SIGN:
      return 0.6;
    case ACCENTED:
      return 0.45;
    case WIDE:
      return 1.2;
    default:
      return 2;
  }
}
