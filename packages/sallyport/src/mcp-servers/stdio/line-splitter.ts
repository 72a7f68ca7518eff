const NEWLINE = 0x0a;
/** A line in more pieces than this is joined early, so that a byte-by-byte writer does not cost an object per byte. */
const PIECES_MAX = 512;
/** Bytes kept from either end of an overlong line, to identify the request that it answers. */
const EDGE_BYTES = 256;

/** Callbacks for lines. */
export interface LineHandlers {
  /** A whole line without its newline. */
  onLine(line: string, bytes: number): void;
  /** An overlong line: its first and last bytes as text. The rest was never kept. */
  onLongLine(head: string, tail: string, bytes: number): void;
  /** A line exceeded `endlessBytesMax` and continues; called once per line. */
  onEndlessLine(): void;
}

/** Splits a byte stream into lines and keeps at most `lineBytesMax` bytes of an unfinished one. */
export interface LineSplitter {
  push(chunk: Buffer): void;
}

interface LongLine {
  readonly head: string;
  tail: Buffer;
  bytes: number;
}

/** Makes a splitter; a line ends with a newline, and bytes after the last newline wait for more. */
export function createLineSplitter(
  lineBytesMax: number,
  endlessBytesMax: number,
  handlers: LineHandlers,
): LineSplitter {
  let pieces: Buffer[] = [];
  let held = 0;
  let long: LongLine | undefined;

  const hold = (piece: Buffer): void => {
    if (piece.length === 0) return;
    if (long !== undefined) {
      const before = long.bytes;
      long.bytes += piece.length;
      if (before <= endlessBytesMax && long.bytes > endlessBytesMax) handlers.onEndlessLine();
      long.tail = Buffer.concat([long.tail, piece.subarray(-EDGE_BYTES)]).subarray(-EDGE_BYTES);
      return;
    }
    pieces.push(piece);
    held += piece.length;
    if (held > lineBytesMax) {
      const whole = Buffer.concat(pieces);
      long = { head: whole.toString('latin1', 0, EDGE_BYTES), tail: whole.subarray(-EDGE_BYTES), bytes: held };
      pieces = [];
    } else if (pieces.length > PIECES_MAX) pieces = [Buffer.concat(pieces)];
  };

  const endLine = (last: Buffer): void => {
    // Fast path: the line lies whole in one chunk.
    if (held === 0 && long === undefined && last.length <= lineBytesMax) {
      if (last.length > 0) handlers.onLine(last.toString('utf8'), last.length);
      return;
    }
    hold(last);
    if (long !== undefined) handlers.onLongLine(long.head, long.tail.toString('latin1'), long.bytes);
    else handlers.onLine(Buffer.concat(pieces).toString('utf8'), held);
    pieces = [];
    held = 0;
    long = undefined;
  };

  return {
    push(chunk) {
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        endLine(chunk.subarray(start, end));
        start = end + 1;
      }
      hold(chunk.subarray(start));
    },
  };
}
