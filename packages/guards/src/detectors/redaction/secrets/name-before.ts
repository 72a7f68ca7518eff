import { PART, PARTS } from '../characters.ts';
import { lettersOf, maySaySecret } from './secret-words.ts';

/** Longest name examined, in characters. */
const NAME_CHARS_MAX = 64;
/** Most characters between a name and its sign. */
const CLOSING_CHARS_MAX = 5;
/** `api key` and `public key` are two words. */
const FIRST_WORD = /(?:api|access|secret|private|auth|account|security|public|gpg|pgp) $/i;
const FIRST_WORD_CHARS_MAX = 9;
const MARK = '[REDACTED:';
const BLANK = 32;
const T = 't'.charCodeAt(0);
/** Makes an ASCII letter small. */
const SMALL = 32;

/**
 * The name that ends before a sign, without closing characters; empty for none, and for one that cannot be a secret's.
 */
export function nameBefore(text: string, codes: Uint16Array, at: number): string {
  let end = at;
  while (end > 0 && at - end < CLOSING_CHARS_MAX && isIn(PART.closing, codes[end - 1] as number)) end -= 1;
  let start = end;
  let letters = 0;
  for (; start > 0 && end - start < NAME_CHARS_MAX; start -= 1) {
    const code = codes[start - 1] as number;
    if (!isIn(PART.name, code)) break;
    letters |= lettersOf(code);
  }
  if (end - start < 2 || !(maySaySecret(letters) || isAfterSecret(codes, start))) return '';
  // `did:key:z6Mk…` identifies a subject (W3C DID core §3.1).
  if (text.startsWith('did:', start - 4)) return '';
  // The mark of a redacted secret names its kind: the text after it is not assigned to that name.
  if (text.startsWith(MARK, start - MARK.length)) return '';
  const before = FIRST_WORD.exec(text.slice(Math.max(0, start - FIRST_WORD_CHARS_MAX), start))?.[0] ?? '';
  return text.slice(start - before.length, end);
}

/** Of the first words only `secret` alone indicates a secret. */
const isAfterSecret = (codes: Uint16Array, start: number): boolean =>
  start >= 2 && codes[start - 1] === BLANK && ((codes[start - 2] as number) | SMALL) === T;
const isIn = (part: number, code: number): boolean => ((PARTS[code] as number) & part) !== 0;
