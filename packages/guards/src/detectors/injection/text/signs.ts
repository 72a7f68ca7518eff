import { MARK_PLACE } from '../lexer/constants.ts';

/** Signs that occur in a text, as bits. */
export const SIGN = {
  quote: 1 << 0,
  less: 1 << 1,
  equals: 1 << 2,
  open: 1 << 3,
  /** `;`, `|`, `&`, `$`, a backtick, a line feed. */
  shell: 1 << 4,
  /** A percent sign or a backslash, which may begin an escape. */
  escape: 1 << 5,
  colon: 1 << 6,
  slash: 1 << 7,
  plus: 1 << 8,
  blank: 1 << 9,
  bracket: 1 << 10,
  other: 1 << 11,
  /** Additional bit: the position is recorded among the marks. */
  mark: 1 << MARK_PLACE,
  /** A letter beyond ASCII: a letter here, the end of a word for other readers. */
  foreign: 1 << 13,
} as const;
