import { Readable } from 'node:stream';
import { MICROVM_BOUNDS } from '../settings.ts';

/** One output stream of a tool in its guest. */
export interface OutputStream {
  readonly stream: Readable;
  /** Resolves when the last byte is here, or no more can come. */
  readonly complete: Promise<void>;
  /** Reads everything that the guest still holds, whether anybody reads or not; within limits. */
  drain(): void;
}

/**
 * Reads one output channel up to its end mark. A slow reader makes the tool wait. Only bytes that may begin the mark
 * are held back.
 */
export function outputStream(channel: Readable, mark: Buffer): OutputStream {
  const { promise: complete, resolve } = Promise.withResolvers<void>();
  let held: Buffer = Buffer.alloc(0);
  let over = false;
  let draining = false;
  let rest = 0;
  const stream = new Readable({
    read: () => void channel.resume(),
    destroy(error, done) {
      finish();
      done(error);
    },
  });
  const finish = (): void => {
    if (over) return;
    over = true;
    channel.resume();
    resolve();
    if (!stream.destroyed) stream.push(null);
  };
  const give = (bytes: Buffer): void => {
    if (bytes.length === 0 || stream.destroyed) return;
    if (draining) rest += bytes.length;
    if (!stream.push(bytes) && !draining) channel.pause();
    if (rest > MICROVM_BOUNDS.restBytesMax) finish();
  };
  channel.on('data', (part: Buffer) => {
    if (over) return;
    const bytes = held.length === 0 ? part : Buffer.concat([held, part]);
    const end = bytes.indexOf(mark);
    const keep = end === -1 ? startOfMark(bytes, mark) : 0;
    held = bytes.subarray(bytes.length - keep);
    give(end === -1 ? bytes.subarray(0, bytes.length - keep) : bytes.subarray(0, end));
    if (end !== -1) finish();
  });
  channel.once('close', finish).once('end', finish).on('error', finish);
  channel.resume();
  return {
    stream,
    complete,
    drain() {
      draining = true;
      channel.resume();
    },
  };
}

/** Number of bytes at the end that may begin the mark. */
function startOfMark(bytes: Buffer, mark: Buffer): number {
  for (let length = Math.min(mark.length - 1, bytes.length); length > 0; length -= 1) {
    if (bytes.subarray(bytes.length - length).equals(mark.subarray(0, length))) return length;
  }
  return 0;
}
