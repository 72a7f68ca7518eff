import { KiB, MiB } from '@sallyport/std/bytes';

/** Text of one value that is read, in UTF-16 units. */
export const TEXT_CHARS_MAX = MiB;
/** Text that is read in one piece. */
const PIECE_CHARS = 32 * KiB;
/** Text that two neighbouring pieces share, in UTF-16 units. */
export const PIECE_OVERLAP = 1024;

/** Called and awaited after each piece of text, so that other work gets its turn. */
export type Pause = () => Promise<void> | undefined;

/** Cuts a text into pieces, each with its start in the text. */
export function* piecesOf(text: string): Generator<[start: number, piece: string]> {
  for (let at = 0; at === 0 || at + PIECE_OVERLAP < text.length; at += PIECE_CHARS - PIECE_OVERLAP) {
    yield [at, text.slice(at, at + PIECE_CHARS)];
  }
}
