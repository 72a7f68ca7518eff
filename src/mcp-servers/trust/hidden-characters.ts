/**
 * Characters that a person does not see and a model reads: controls, zero width, direction marks, tags, invisible
 * operators, long runs of variation selectors (Unicode Technical Report 36).
 */
const HIDDEN =
  /[[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u{fff9}-\u{fffb}]--[\t\n\r\u200c\u200d\p{Variation_Selector}]]|(?<=[!-~])[\u200c\u200d](?=[!-~])|\p{Variation_Selector}{3,}/gv;
/** The flags of England, Scotland and Wales are spelt with tag characters. */
const SUBDIVISION_FLAG = /\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{2,6}\u{e007f}/gu;
/** Those that turn the order of reading round, or spell a second text: never by accident. */
const DELIBERATE = /[\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]|\p{Variation_Selector}{3,}/u;

/** What is hidden in a text. */
export interface HiddenCharacters {
  /** Place of the first, in UTF-16 units. */
  readonly at: number;
  /** Whether any of them is there on purpose only. */
  readonly deliberate: boolean;
}

/** Undefined for a text in which nothing is hidden. */
export function hiddenCharacters(text: string): HiddenCharacters | undefined {
  const plain = text.replace(SUBDIVISION_FLAG, (flag) => ' '.repeat(flag.length));
  HIDDEN.lastIndex = 0;
  const first = HIDDEN.exec(plain);
  return first === null ? undefined : { at: first.index, deliberate: DELIBERATE.test(plain) };
}

/** The text as a model that skips what is hidden would read it, in one spelling, so that no pattern is slipped past. */
export function plainText(text: string): string {
  return text.replace(HIDDEN, '').normalize('NFKC');
}

/** A text with everything that is hidden written out. */
export function writtenOut(text: string): string {
  return text.replace(HIDDEN, (found) =>
    [...found].map((char) => `\\u{${char.codePointAt(0)?.toString(16)}}`).join(''),
  );
}
