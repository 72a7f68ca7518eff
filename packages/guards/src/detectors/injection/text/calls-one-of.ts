import type { Reading } from './reading.ts';

/** Characters of a name. */
const NAME_MAX = 20;
/** Blanks between a name and what calls it. */
const BLANKS_MAX = 8;

/** True when the text calls one of these functions, named in lower case; a cheap test before a pattern is used. */
export function callsOneOf({ text, codes, marks, markCount }: Reading, names: ReadonlySet<string>): boolean {
  for (let mark = 0; mark < markCount; mark++) {
    const at = marks[mark] ?? 0;
    if (!mayCall(codes[at] ?? 0)) continue;
    let end = at;
    // `alert?.(1)` calls as well.
    if (codes[end - 1] === 46 && codes[end - 2] === 63) end -= 2;
    while (end > 0 && at - end < BLANKS_MAX && (codes[end - 1] ?? 0) <= 32) end--;
    let start = end;
    while (start > 0 && end - start < NAME_MAX && isNamePart(codes[start - 1] ?? 0)) start--;
    if (end > start && names.has(text.slice(start, end).toLowerCase())) return true;
  }
  return false;
}

/** `(`, a backtick, and the reference of a parenthesis. */
function mayCall(code: number): boolean {
  return code === 40 || code === 96 || code === 38;
}

function isNamePart(code: number): boolean {
  return ((code | 32) >= 97 && (code | 32) <= 122) || code === 95 || (code >= 48 && code <= 57);
}
