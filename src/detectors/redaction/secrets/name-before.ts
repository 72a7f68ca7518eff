/** Longest name that is looked at, in characters. */
const NAME_CHARS_MAX = 64;
/** What may stand between a name and its sign: `"name" =`, `['name'] =`, `\"name\":`. */
const CLOSING = charactersOf(' \t"\'`])\\');
const CLOSING_CHARS_MAX = 5;
const IN_NAME = charactersOf('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-');
/** `api key` and `access key` are two words. */
const FIRST_WORD = /(?:api|access|secret|private|auth|account|security) $/i;
const FIRST_WORD_CHARS_MAX = 9;

/** The name that ends in front of a sign, without what closes it; empty for none. */
export function nameBefore(text: string, at: number): string {
  let end = at;
  while (end > 0 && at - end < CLOSING_CHARS_MAX && CLOSING[text.charCodeAt(end - 1)] === 1) end -= 1;
  let start = end;
  while (start > 0 && end - start < NAME_CHARS_MAX && IN_NAME[text.charCodeAt(start - 1)] === 1) start -= 1;
  // `did:key:z6Mk…` names who somebody is (W3C DID core §3.1).
  if (end - start < 2 || text.startsWith('did:', start - 4)) return '';
  const before = FIRST_WORD.exec(text.slice(Math.max(0, start - FIRST_WORD_CHARS_MAX), start))?.[0] ?? '';
  return text.slice(start - before.length, end);
}

function charactersOf(characters: string): Uint8Array {
  const table = new Uint8Array(128);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}
