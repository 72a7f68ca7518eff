/** Longest path, in UTF-16 units: PATH_MAX of Linux. */
const PATH_CHARS_MAX = 4096;
/** Most layers of percent-encoding on a path. */
const DECODINGS_MAX = 3;

/** Characters that print like `/` or `\`, or become one where text is normalised. */
const SLASH_LOOKALIKES = /[\u2044\u2215\u2216\u29f5\u29f8\u29f9\ufe68\uff0f\uff3c]/;
/** Percent-encoded separators, dots and NUL, in overlong UTF-8 and in the `%u` form too. */
const ENCODED =
  /%(?:2e|2f|5c|00|c0%(?:ae|af|2e|2f|80)|c1%(?:9c|1c)|e0%80%a[ef]|u00(?:2e|2f|5c)|u(?:ff0e|ff0f|2215|2216))/i;
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/**
 * Why the text of a path cannot be judged: forms that one parser takes for a separator, a parent folder or a home
 * folder and another does not.
 * @returns the end of a sentence, or undefined
 */
export function formRefusal(path: string): string | undefined {
  if (path === '') return 'is empty';
  if (path.length > PATH_CHARS_MAX) return `is longer than ${PATH_CHARS_MAX} characters`;
  if (!path.isWellFormed()) return 'is no valid Unicode';
  if (/\p{Cc}/u.test(path)) return 'holds a NUL or another control character';
  if (path.includes('\\')) return 'holds a backslash, which some systems take for a separator';
  if (SLASH_LOOKALIKES.test(path)) return 'holds a character that looks like a slash';
  if (/^[a-z][a-z0-9+.-]{1,31}:/i.test(path) && path.includes(':/')) return 'is a URL, not a path';
  if (/^[a-z]:(?:\/|$)/i.test(path)) return 'begins with a drive';
  if (path.startsWith('~')) return 'begins with ~, which a shell takes for a home folder';
  if (/^\$(?:\{[^/]{0,128}\}|\(|[A-Z_]\w{0,128}(?:\/|$))/.test(path)) return 'begins with a variable of the shell';
  if (isEncoded(path)) return 'holds an encoded dot, separator or NUL';
  if (hasDisguisedDots(path)) return 'holds a segment that looks like . or ..';
  return undefined;
}

function isEncoded(path: string): boolean {
  let text = path;
  for (let round = 0; round < DECODINGS_MAX && text.includes('%'); round += 1) {
    if (ENCODED.test(text)) return true;
    text = text.replaceAll(/%25/g, '%');
  }
  return false;
}

function hasDisguisedDots(path: string): boolean {
  if (/^[\x20-\x7e]*$/.test(path)) return /(?:^|\/)(?:\.\.? +|\.{3,}|\. \.)(?:\/|$)/.test(path);
  return path.split('/').some((segment) => {
    const plain = segment.replace(INVISIBLE, '').normalize('NFKC').trim();
    return plain !== segment && (/^\.{1,6}$/.test(plain) || plain.includes('/') || plain.includes('\\'));
  });
}
