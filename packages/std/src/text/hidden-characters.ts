/**
 * What a reader does not see, or what moves the cursor, the direction of writing or the end of a line (Unicode Technical
 * Report 36). Not among them: signs that show although they format (of the Arabic and Syriac scripts).
 */
const HIDDEN =
  /\r\n|[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2]]/v;
/**
 * Where such a character only shapes its neighbours, as every text of that script has it: inside of emoji that Unicode
 * lists, between Arabic letters, behind the virama of an Indian script (RFC 5892 A.1 and A.2), and the variant of one sign.
 */
const SHAPING =
  /\p{RGI_Emoji}|(?<=\p{Script=Arabic})\u200c(?=\p{Script=Arabic})|(?<=[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca])[\u200c\u200d]|(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]|(?<=\p{Script=Han})[\ufe00-\ufe02\u{e0100}-\u{e01ef}]/v;
const EACH = new RegExp(`${SHAPING.source}|(${HIDDEN.source})`, 'gv');
/** The common case, told apart fast. */
const PLAIN = /^[\n\x20-\x7e]*$/;
/** Line ends and tab, where they are nothing but that. */
const WHITE: ReadonlySet<string> = new Set(['\n', '\r\n', '\t']);

/** Hands what is hidden in a text to `write`, character by character but for CR LF, and puts its answer there. */
export function replaceHidden(text: string, write: (found: string) => string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(EACH, (found: string, hidden?: string) => (hidden === undefined ? found : write(hidden)));
}

/** A text with what is hidden in it standing as `\u{…}`; line ends and tabs stay. */
export function hiddenShown(text: string): string {
  return replaceHidden(text, (found) => (WHITE.has(found) ? found : named(found)));
}

/** One hidden character as people see it. */
export function named(char: string): string {
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}}`;
}

/** JSON text of the same value, in which hidden characters are escapes: `JSON.stringify` leaves most of them as they are. */
export function hiddenEscaped(json: string): string {
  return replaceHidden(json, (found) => (WHITE.has(found) ? found : unitsOf(found).map(escaped).join('')));
}

const unitsOf = (text: string): readonly number[] =>
  Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
const escaped = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`;
