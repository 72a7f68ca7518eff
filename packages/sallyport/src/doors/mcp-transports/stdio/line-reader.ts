import type { Readable } from 'node:stream';

const NEWLINE = 0x0a;

/**
 * Splits a stream of bytes into lines, without their newlines; empty lines are skipped.
 * @param bytesMax a longer line is discarded: it is yielded as undefined once it exceeds this
 */
export async function* readLines(input: Readable, bytesMax: number): AsyncGenerator<Buffer | undefined> {
  let parts: Buffer[] = [];
  let length = 0;
  let skipping = false;
  for await (const chunk of input as AsyncIterable<Buffer | string>) {
    let rest = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
      const tail = rest.subarray(0, end);
      rest = rest.subarray(end + 1);
      if (!skipping && length + tail.length > bytesMax) yield undefined;
      else if (!skipping) {
        const line = parts.length === 0 ? tail : Buffer.concat([...parts, tail]);
        if (!isBlank(line)) yield line;
      }
      parts = [];
      length = 0;
      skipping = false;
    }
    length += rest.length;
    if (skipping) continue;
    if (length > bytesMax) {
      skipping = true;
      parts = [];
      yield undefined;
    } else if (rest.length > 0) parts.push(rest);
  }
  if (!skipping && length > 0) yield Buffer.concat(parts);
}

/** True for an empty line, or only the carriage return of a Windows client. */
function isBlank(line: Buffer): boolean {
  return line.length === 0 || (line.length === 1 && line[0] === 0x0d);
}
