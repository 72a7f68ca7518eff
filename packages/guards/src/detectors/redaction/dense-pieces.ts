// Texts of programs and tables have many long words.

/** Shortest run of a secret with a form of its own, in characters. */
export const DENSE_RUN_MIN = 12;

/** Blanks and line controls sort before all visible characters. */
const SPACE = 32;

/**
 * Pieces without white space that contain a digit or a capital, and a run of at least {@link DENSE_RUN_MIN} letters,
 * digits, dashes and underscores; alternately start and end of each.
 * @param runs a position within each such run
 */
export function densePieces(codes: Uint16Array, length: number, runs: readonly number[]): readonly number[] {
  const pieces: number[] = [];
  let end = 0;
  for (const run of runs) {
    if (run < end) continue;
    const start = pieceStart(codes, run);
    end = pieceEnd(codes, run, length);
    if (hasDigitOrCapital(codes, start, end)) pieces.push(start, end);
  }
  return pieces;
}

function pieceStart(codes: Uint16Array, from: number): number {
  let start = from;
  while (start > 0 && (codes[start - 1] as number) > SPACE) start--;
  return start;
}

function pieceEnd(codes: Uint16Array, from: number, length: number): number {
  let end = from;
  while (end < length && (codes[end] as number) > SPACE) end++;
  return end;
}

function hasDigitOrCapital(codes: Uint16Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const code = codes[at] as number;
    if ((code >= 48 && code <= 57) || (code >= 65 && code <= 90)) return true;
  }
  return false;
}
