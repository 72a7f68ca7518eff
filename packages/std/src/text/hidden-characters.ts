/**
 * Characters that a reader does not see, or that move the cursor, the direction of writing or the end of a line
 * (Unicode Technical Report 36). Excluded: visible format characters (of the Arabic and Syriac scripts).
 */
const HIDDEN =
  /\r\n|[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2]]/v;
/**
 * Places where such a character only shapes its neighbours, as usual in that script: inside emoji that Unicode lists,
 * between Arabic letters, after the virama of an Indian script (RFC 5892 A.1 and A.2), and a variation selector after a
 * sign.
 */
const SHAPING =
  /\p{RGI_Emoji}|(?<=\p{Script=Arabic})\u200c(?=\p{Script=Arabic})|(?<=[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca])[\u200c\u200d]|(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]|(?<=\p{Script=Han})[\ufe00-\ufe02\u{e0100}-\u{e01ef}]/v;
const EACH = new RegExp(`${SHAPING.source}|(${HIDDEN.source})`, 'gv');
/** Fast path for common texts. */
const PLAIN = /^[\n\x20-\x7e]*$/;
/** Line ends and tab, which are harmless by themselves. */
const WHITE: ReadonlySet<string> = new Set(['\n', '\r\n', '\t']);

/** Passes hidden characters of a text to `write`, one by one except CR LF, and inserts its result in their place. */
export function replaceHidden(text: string, write: (found: string) => string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(EACH, (found: string, hidden?: string) => (hidden === undefined ? found : write(hidden)));
}

/** A text with hidden characters shown as `\u{…}`; line ends and tabs stay. */
export function hiddenShown(text: string): string {
  return replaceHidden(text, (found) => (WHITE.has(found) ? found : named(found)));
}

/** One hidden character in visible form. */
export function named(char: string): string {
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}}`;
}

/** JSON text of the same value, with hidden characters as escapes: `JSON.stringify` leaves most of them unescaped. */
export function hiddenEscaped(json: string): string {
  return replaceHidden(json, (found) => (WHITE.has(found) ? found : unitsOf(found).map(escaped).join('')));
}

const unitsOf = (text: string): readonly number[] =>
  Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
const escaped = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`;
