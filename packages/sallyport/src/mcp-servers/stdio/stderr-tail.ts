import type { Readable } from 'node:stream';
import { MiB } from '@sallyport/std/bytes';

/** What is read of one stderr in one window; then the server waits for the next one when it writes more. */
export const STDERR_PACE = { bytesMax: 4 * MiB, windowMs: 1_000 } as const;

/** The end of what a server says on stderr. */
export interface StderrTail {
  /** The last bytes as text. */
  text(): string;
  /** Nothing is paced any more; what the stream still holds is read. */
  stop(): void;
}

/**
 * Keeps the last bytes of a stream. A server that floods it is read no faster than {@link STDERR_PACE} says, so that it
 * slows down itself and nobody else.
 */
export function keepTail(stream: Readable, bytesMax: number): StderrTail {
  let tail: Buffer = Buffer.alloc(0);
  let inWindow = 0;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const nextWindow = (): void => {
    timer = undefined;
    inWindow = 0;
    stream.resume();
  };
  stream.on('data', (chunk: Buffer) => {
    tail = chunk.length >= bytesMax ? chunk.subarray(-bytesMax) : Buffer.concat([tail, chunk]).subarray(-bytesMax);
    if (stopped) return;
    inWindow += chunk.length;
    timer ??= setTimeout(nextWindow, STDERR_PACE.windowMs).unref();
    if (inWindow > STDERR_PACE.bytesMax) stream.pause();
  });
  stream.on('error', ignore);
  return {
    text: () => tail.toString('utf8'),
    stop() {
      stopped = true;
      clearTimeout(timer);
      stream.resume();
    },
  };
}

/** `close` follows, and what was read so far counts. */
function ignore(): void {}
