/** What a character may be part of, as bits. */
export const PART = {
  /** The name of a variable, header or option. */
  name: 1 << 0,
  /** Characters between a name and its sign: `"name" =`, `['name'] =`, `\"name\":`. */
  closing: 1 << 1,
  /** An IPv6 address with an IPv4 one in it. */
  address: 1 << 2,
  /** Characters around the `@` of a mail address. */
  mailbox: 1 << 3,
  domain: 1 << 4,
  /** A word, where underscores separate words. */
  word: 1 << 5,
} as const;

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const DIGITS = '0123456789';
const MADE_OF: readonly (readonly [bit: number, characters: string])[] = [
  [PART.name, `${LETTERS}${DIGITS}_.-`],
  [PART.closing, ' \t"\'`])\\'],
  [PART.address, `${DIGITS}ABCDEFabcdef:.`],
  [PART.mailbox, `${LETTERS}${DIGITS}._%+'-`],
  [PART.domain, `${LETTERS}${DIGITS}.-`],
  [PART.word, `${LETTERS}${DIGITS}`],
];

/** By UTF-16 unit. */
export const PARTS = new Uint8Array(1 << 16);
// For addresses only scripts with blanks between words: in others a sentence would join the address.
PARTS.fill(PART.mailbox | PART.domain, 0x00c0, 0x0250);
PARTS.fill(PART.mailbox | PART.domain, 0x0370, 0x0500);
for (const [bit, characters] of MADE_OF) {
  for (const each of characters) PARTS[each.charCodeAt(0)] = (PARTS[each.charCodeAt(0)] ?? 0) | bit;
}
