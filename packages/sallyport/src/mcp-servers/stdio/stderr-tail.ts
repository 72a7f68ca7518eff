import type { Readable } from 'node:stream';
import { MiB } from '@sallyport/std/bytes';

/** Most stderr read in one window; a server that writes more waits for the next one. */
export const STDERR_PACE = { bytesMax: 4 * MiB, windowMs: 1_000 } as const;

/** The end of a server's stderr. */
export interface StderrTail {
  /** The last bytes as text. */
  text(): string;
  /** Stops pacing; the rest of the stream is read. */
  stop(): void;
}

/**
 * Keeps the last bytes of a stream. A flooding server is read no faster than {@link STDERR_PACE}, so that it slows down
 * itself and nobody else.
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

/** `close` follows; the text read so far counts. */
function ignore(): void {}
