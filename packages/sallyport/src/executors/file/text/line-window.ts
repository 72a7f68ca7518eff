/** Lines of a text that arrives in pieces: a number of lines from a first one on, within a byte budget. */
export interface LineWindow {
  push(text: string): void;
  /** True when further text can only increase the number of lines. */
  readonly isFull: () => boolean;
  readonly result: () => WindowResult;
}

export interface WindowResult {
  /** The lines with their line ends. */
  readonly text: string;
  /** Last line of `text`, counted from 1; below the first wanted one when there is none. */
  readonly lastLine: number;
  /** Lines so far; those of the whole file once everything was pushed. */
  readonly lines: number;
  /** True when the budget ended within a line. */
  readonly cut: boolean;
}

/** Size of a text in JSON, in bytes, without quotes. */
export const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

/** The longest prefix of a text that takes at most this many bytes in JSON. Never splits a character. */
export function fitting(text: string, bytesMax: number): string {
  // No character takes less than a byte, so the text beyond need not be measured.
  let part = text.slice(0, Math.max(0, bytesMax));
  for (let bytes = jsonBytes(part); bytes > bytesMax; bytes = jsonBytes(part)) {
    part = part.slice(0, Math.min(part.length - 1, Math.floor((part.length * bytesMax) / bytes)));
  }
  return /[\uD800-\uDBFF]$/.test(part) && part.length < text.length ? part.slice(0, -1) : part;
}

/**
 * @param from first wanted line, from 1
 * @param limit most lines
 * @param bytesMax of the text in JSON
 */
export function createLineWindow(from: number, limit: number, bytesMax: number): LineWindow {
  const taken: string[] = [];
  let line = 1;
  let lastLine = from - 1;
  let room = bytesMax;
  let cut = false;
  let endsOpen = false;

  const take = (piece: string): void => {
    const part = fitting(piece, room);
    room -= jsonBytes(part);
    if (part !== '') {
      taken.push(part);
      lastLine = line;
    }
    if (part.length < piece.length) cut = true;
  };
  const isFull = (): boolean => cut || line >= from + limit;
  const push = (text: string): void => {
    if (text === '') return;
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      if (line >= from && !isFull()) take(text.slice(start, end + 1));
      start = end + 1;
      line += 1;
    }
    if (start < text.length && line >= from && !isFull()) take(text.slice(start));
    endsOpen = start < text.length;
  };
  return {
    push,
    isFull,
    result: () => ({ text: taken.join(''), lastLine, lines: endsOpen ? line : line - 1, cut }),
  };
}
