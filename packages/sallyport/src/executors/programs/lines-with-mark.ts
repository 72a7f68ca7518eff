import type { Readable } from 'node:stream';

const LINE_END = 10;
const NOTHING = Buffer.alloc(0);

/** Lines that are taken out of a stream. */
export interface MarkedLines {
  /** Beginning of these lines; the rest of the line is what is taken. */
  readonly mark: string;
  /** Most bytes of the rest that are held. */
  readonly bytesMax: number;
  /**
   * Takes the rest of a whole line; undefined when it is longer than `bytesMax`. The stream is not read on before the
   * promise resolves, so a writer is never faster than what takes its lines.
   */
  take(rest: Uint8Array | undefined): Promise<void>;
}

/**
 * Everything in a stream but the marked lines, as it comes: of a line only as much is held as shows whether it is marked.
 * A marked line without its end is dropped, since its writer was cut off.
 */
export async function* linesWithMark(stream: Readable, lines: MarkedLines): AsyncGenerator<Buffer> {
  const mark = Buffer.from(lines.mark);
  let line = beginning();
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let from = 0;
    while (from < chunk.length) {
      const end = chunk.indexOf(LINE_END, from);
      const until = end < 0 ? chunk.length : end + 1;
      const shown = add(line, chunk.subarray(from, until), mark, lines.bytesMax);
      if (shown.length > 0) yield shown;
      from = until;
      if (end < 0) continue;
      if (line.kind === 'marked') await lines.take(restOf(line));
      line = beginning();
    }
  }
  if (line.kind === 'unknown' && line.held.length > 0) yield Buffer.concat(line.held);
}

interface Line {
  kind: 'unknown' | 'marked' | 'other';
  /** What was read of it: all while it is unknown, what follows the mark once it is marked. */
  held: Buffer[];
  bytes: number;
}

const beginning = (): Line => ({ kind: 'unknown', held: [], bytes: 0 });

/** Adds a part of a line. @returns what of it is shown */
function add(line: Line, part: Buffer, mark: Buffer, bytesMax: number): Buffer {
  if (line.kind === 'other') return part;
  if (line.kind === 'marked') {
    hold(line, part, bytesMax);
    return NOTHING;
  }
  const so = Buffer.concat([...line.held, part]);
  const compared = Math.min(so.length, mark.length);
  if (!so.subarray(0, compared).equals(mark.subarray(0, compared))) {
    line.kind = 'other';
    return so;
  }
  line.held = [so];
  if (so.length < mark.length) return NOTHING;
  line.kind = 'marked';
  line.held = [];
  hold(line, so.subarray(mark.length), bytesMax);
  return NOTHING;
}

/** Copied: a part of a read block would keep the whole block. */
function hold(line: Line, part: Buffer, bytesMax: number): void {
  line.bytes += part.length;
  // One byte more, for the end of the line.
  if (line.bytes > bytesMax + 1) line.held = [];
  else line.held.push(Buffer.from(part));
}

function restOf({ held, bytes }: Line): Uint8Array | undefined {
  const whole = Buffer.concat(held);
  return whole.length === bytes ? whole.subarray(0, -1) : undefined;
}
