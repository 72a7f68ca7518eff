/**
 * Characters that a person does not see but a model reads: controls, zero width, direction marks, tags, invisible
 * operators, long runs of variation selectors (Unicode Technical Report 36).
 */
const HIDDEN =
  /[[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u{fff9}-\u{fffb}]--[\t\n\r\u200c\u200d\p{Variation_Selector}]]|(?<=[!-~])[\u200c\u200d](?=[!-~])|\p{Variation_Selector}{3,}/gv;
/** The flags of England, Scotland and Wales are spelt with tag characters. */
const SUBDIVISION_FLAG = /\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{2,6}\u{e007f}/gu;
/** Characters that reverse the reading order, or spell a second text: never by accident. */
const DELIBERATE = /[\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]|\p{Variation_Selector}{3,}/u;
/** Letters of a second alphabet, and bytes hung on one character as variation selectors. */
const SPELT_OUT = /[\u{e0020}-\u{e007e}]|[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu;

/** Hidden characters of a text. */
export interface HiddenCharacters {
  /** Position of the first, and after the last, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** True when any of them can only be intentional. */
  readonly deliberate: boolean;
}

/** Undefined for a text without hidden characters. */
export function hiddenCharacters(text: string): HiddenCharacters | undefined {
  if (isPlain(text)) return undefined;
  const plain = text.replace(SUBDIVISION_FLAG, (flag) => ' '.repeat(flag.length));
  let start = -1;
  let end = 0;
  for (const { 0: found, index } of plain.matchAll(HIDDEN)) {
    if (start === -1) start = index;
    end = index + found.length;
  }
  return start === -1 ? undefined : { start, end, deliberate: DELIBERATE.test(plain) };
}

/** Replaces one hidden unit; a noncharacter, which no text contains. */
export const BLANK = '\uffff';

/** The text with `BLANK` for every hidden unit, so that positions stay the same. */
export function withBlanks(text: string): string {
  return text.replace(HIDDEN, (found) => BLANK.repeat(found.length));
}

/** The text spelt by tag characters and variation selectors, in order; empty for most texts. */
export function speltInHiding(text: string): string {
  if (isPlain(text)) return '';
  const bytes: number[] = [];
  for (const { 0: char } of text.replace(SUBDIVISION_FLAG, '').matchAll(SPELT_OUT)) {
    const code = char.codePointAt(0) ?? 0;
    if (code >= 0xe0100) bytes.push(code - 0xe0100 + 16);
    else bytes.push(code >= 0xe0000 ? code - 0xe0000 : code - 0xfe00);
  }
  return Buffer.from(bytes).toString('utf8');
}

/** A text with all hidden characters written as `\u{…}`. */
export function writtenOut(text: string): string {
  return text.replace(HIDDEN, (found) =>
    [...found].map((char) => `\\u{${char.codePointAt(0)?.toString(16)}}`).join(''),
  );
}

/** True when a text contains only characters of an ASCII keyboard: the common case, recognised quickly. */
export const isPlain = (text: string): boolean => !/[^\t\n\r\x20-\x7e]/.test(text);
