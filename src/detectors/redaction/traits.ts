// Hot path: every text that is written or shown is looked at here first.

/** What a first look tells, so that most families of rules need no look of their own. */
export interface Traits {
  /** Digits that stand together, with a few other characters but no letters between: 13 or more, 9, 7, 4, or 0 for fewer. */
  readonly digits: number;
  readonly colons: boolean;
  readonly dots: boolean;
  readonly at: boolean;
  readonly equals: boolean;
  readonly slashes: boolean;
  /**
   * Pieces without white space that hold a digit or a capital, and a run of {@link DENSE_RUN_MIN} letters, digits, dashes
   * and underscores or more: begin and end of each in turn.
   */
  readonly dense: readonly number[];
}

/** Shortest run of a secret with a form of its own, in characters. */
export const DENSE_RUN_MIN = 12;

const NONE: readonly number[] = [];
/** Each asked only when the one before says yes. */
const DIGITS: readonly (readonly [number, RegExp])[] = [4, 7, 9, 13].map((count) => [
  count,
  new RegExp(`\\d(?:[^A-Za-z\\d]{0,4}\\d){${count - 1}}`),
]);
const ASCII = 127;
const IN_RUN = runCharacters();

/** A few microseconds for a thousand characters. */
export function traitsOf(text: string): Traits {
  return {
    digits: digitsOf(text),
    colons: text.includes(':'),
    dots: text.includes('.'),
    at: text.includes('@'),
    equals: text.includes('='),
    slashes: text.includes('/') || text.includes('\\'),
    dense: text.length < DENSE_RUN_MIN ? NONE : densePieces(text),
  };
}

function digitsOf(text: string): number {
  let digits = 0;
  for (const [count, shape] of DIGITS) {
    if (!shape.test(text)) break;
    digits = count;
  }
  return digits;
}

/**
 * Jumps: where the last of twelve characters is in no run, nor is any run that long before it, so most characters are
 * never read.
 */
function densePieces(text: string): readonly number[] {
  let pieces: number[] | undefined;
  let start = 0;
  for (;;) {
    const last = start + DENSE_RUN_MIN - 1;
    if (last >= text.length) return pieces ?? NONE;
    let at = last;
    while (at >= start && isInRun(text, at)) at -= 1;
    if (at >= start) {
      start = at + 1;
      continue;
    }
    let end = last + 1;
    while (end < text.length && isInRun(text, end)) end += 1;
    const from = pieceStart(text, start, pieces?.at(-1) ?? 0);
    end = pieceEnd(text, end);
    if (/[0-9A-Z]/.test(text.slice(from, end))) {
      pieces ??= [];
      pieces.push(from, end);
    }
    start = end + 1;
  }
}

/** A character beyond ASCII is taken for the one with the same last bits; at worst a rule looks in vain. */
const isInRun = (text: string, at: number): boolean => IN_RUN[text.charCodeAt(at) & ASCII] === 1;

function pieceStart(text: string, from: number, least: number): number {
  let start = from;
  while (start > least && text.charCodeAt(start - 1) > SPACE) start -= 1;
  return start;
}

function pieceEnd(text: string, from: number): number {
  let end = from;
  while (end < text.length && text.charCodeAt(end) > SPACE) end += 1;
  return end;
}

/** Blanks and what controls lines come before all that is shown. */
const SPACE = 32;

function runCharacters(): Uint8Array {
  const characters = new Uint8Array(ASCII + 1);
  for (const character of 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-') {
    characters[character.charCodeAt(0)] = 1;
  }
  return characters;
}
