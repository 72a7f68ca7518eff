/** A text as a later reader may decode it, with the positions of its characters in the original. */
export interface View {
  readonly text: string;
  /** Offset in the original of each UTF-16 unit, with one more for the end; undefined when they are the same. */
  readonly offsets: Int32Array | undefined;
}

/** How often nested escapes are decoded. */
const ROUNDS_MAX = 3;

const PERCENT = 37;

/**
 * Decodes percent and backslash escapes (`%27`, `%u0027`, `\x27`, `\u0027`, `\u{27}`), also nested ones.
 * @returns undefined when there are none, the common case
 */
export function decodedView(text: string): View | undefined {
  let view: View = { text, offsets: undefined };
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const next = undo(view);
    if (next === undefined) break;
    view = next;
  }
  return view.offsets === undefined ? undefined : view;
}

/** The place in the original of a span of a view. */
export function placeIn({ offsets }: View, start: number, end: number): { start: number; end: number } {
  if (offsets === undefined) return { start, end };
  return { start: offsets[start] ?? 0, end: offsets[end] ?? offsets.at(-1) ?? 0 };
}

function undo({ text, offsets }: View): View | undefined {
  let at = nextEscape(text, 0);
  if (at < 0) return undefined;
  const found = new Int32Array(text.length + 1);
  // In a form-encoded text a plus is a blank.
  const form = text.indexOf(' ') < 0 && text.indexOf('%') >= 0;
  let decoded = '';
  let length = 0;
  let from = 0;
  const keep = (end: number): void => {
    for (let each = from; each < end; each++) found[length++] = offsets?.[each] ?? each;
    decoded += form ? text.slice(from, end).replaceAll('+', ' ') : text.slice(from, end);
  };
  while (at >= 0) {
    keep(at);
    const [character, next] = characterAt(text, at);
    for (let unit = 0; unit < character.length; unit++) found[length++] = offsets?.[at] ?? at;
    decoded += character;
    from = next;
    at = nextEscape(text, from);
  }
  keep(text.length);
  found[length++] = offsets?.[text.length] ?? text.length;
  return { text: decoded, offsets: found.subarray(0, length) };
}

/** The character encoded by the escapes here, with bytes read as UTF-8, and the offset after them. */
function characterAt(text: string, at: number): [character: string, next: number] {
  const size = escapeLength(text, at);
  const value = escapeValue(text, at, size);
  const isByte = size <= 4 && text.charCodeAt(at + 1) !== OPEN_BRACE;
  const more = isByte ? (value >= 0xf0 ? 3 : value >= 0xe0 ? 2 : value >= 0xc2 ? 1 : 0) : 0;
  let code = more === 0 ? value : value & (0x3f >> more);
  let next = at + size;
  for (let left = more; left > 0; left--) {
    const byte = escapeLength(text, next) === size ? escapeValue(text, next, size) : 0;
    if ((byte & 0xc0) !== 0x80) return [String.fromCharCode(value), at + size];
    code = (code << 6) | (byte & 0x3f);
    next += size;
  }
  return code > 0x10ffff ? ['\ufffd', next] : [String.fromCodePoint(code), next];
}

/** Letters of escapes are small but for `%U`: `\X41` and `\U0041` are none. */
const ESCAPE = /%(?:[\da-fA-F]{2}|[uU][\da-fA-F]{4})|\\(?:x[\da-fA-F]{2}|u[\da-fA-F]{4}|u\{[\da-fA-F]{1,6}\})/g;

/** Offset of the next escape that can be undone, or -1. */
function nextEscape(text: string, from: number): number {
  ESCAPE.lastIndex = from;
  return ESCAPE.exec(text)?.index ?? -1;
}

/** UTF-16 units of the escape that stands here, 0 when none does. */
function escapeLength(text: string, at: number): number {
  const percent = text.charCodeAt(at) === PERCENT;
  const next = text.charCodeAt(at + 1);
  if (percent && isHex(next)) return isHex(text.charCodeAt(at + 2)) ? 3 : 0;
  if (next === U_LOWER || (percent && next === U_UPPER)) {
    if (!percent && text.charCodeAt(at + 2) === OPEN_BRACE) return bracedLength(text, at);
    return allHex(text, at + 2, 4) ? 6 : 0;
  }
  return !percent && next === X_LOWER && allHex(text, at + 2, 2) ? 4 : 0;
}

const U_LOWER = 117;
const U_UPPER = 85;
const X_LOWER = 120;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
/** Hexadecimal digits within `\u{…}`. */
const BRACED_DIGITS_MAX = 6;

function bracedLength(text: string, at: number): number {
  let end = at + 3;
  while (end < at + 3 + BRACED_DIGITS_MAX && isHex(text.charCodeAt(end))) end++;
  return end > at + 3 && text.charCodeAt(end) === CLOSE_BRACE ? end + 1 - at : 0;
}

function escapeValue(text: string, at: number, size: number): number {
  if (size === 3) return Number.parseInt(text.slice(at + 1, at + 3), 16);
  const braced = text.charCodeAt(at + 2) === OPEN_BRACE;
  return Number.parseInt(text.slice(at + (braced ? 3 : 2), at + size - (braced ? 1 : 0)), 16);
}

function allHex(text: string, from: number, count: number): boolean {
  for (let at = from; at < from + count; at++) if (!isHex(text.charCodeAt(at))) return false;
  return true;
}

function isHex(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 97 && code <= 102) || (code >= 65 && code <= 70);
}
