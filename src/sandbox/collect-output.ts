import type { Readable } from 'node:stream';
import { MiB } from '../std/bytes.ts';
import type { SandboxProcess } from './driver.port.ts';

/** How much of a tool's output is kept, and when a flood ends the tool. */
export interface OutputBounds {
  /** Bytes of stdout kept; the rest is read and thrown away. */
  readonly stdoutBytesMax: number;
  readonly stderrBytesMax: number;
  /** Bytes of both together after which the sandbox is killed. Default 256 MiB. */
  readonly drainedBytesMax?: number;
}

/** What a tool wrote. */
export interface CollectedOutput {
  /** UTF-8 text; bytes that are none became U+FFFD, and a character cut in two by the bound is left out. */
  readonly stdout: string;
  readonly stderr: string;
  /** Whether anything was thrown away. */
  readonly truncated: boolean;
  /** Whether the tool was killed because it wrote more than `drainedBytesMax`. */
  readonly flooded: boolean;
}

/** Enough for any honest tool, and little enough that a flood costs a second or two. */
const DRAINED_BYTES_MAX = 256 * MiB;

/**
 * Reads stdout and stderr to their ends, in bounded memory: beyond its bound a stream is still read, so that the tool
 * does not stand still, but not kept. Call it at once after `start`. Never rejects; ends when both streams are closed.
 */
export async function collectOutput(process: SandboxProcess, bounds: OutputBounds): Promise<CollectedOutput> {
  const drainedBytesMax = bounds.drainedBytesMax ?? DRAINED_BYTES_MAX;
  let drained = 0;
  let flooded = false;
  const count = (bytes: number): void => {
    drained += bytes;
    if (drained <= drainedBytesMax || flooded) return;
    flooded = true;
    process.kill();
  };
  const [stdout, stderr] = await Promise.all([
    collect(process.stdout, bounds.stdoutBytesMax, count),
    collect(process.stderr, bounds.stderrBytesMax, count),
  ]);
  return { stdout: stdout.text, stderr: stderr.text, truncated: stdout.cut || stderr.cut, flooded };
}

interface Collected {
  readonly text: string;
  readonly cut: boolean;
}

function collect(stream: Readable, bytesMax: number, count: (bytes: number) => void): Promise<Collected> {
  const { promise, resolve } = Promise.withResolvers<Collected>();
  // `stream` keeps the first bytes of a character until the rest comes; at the end of a cut text they are dropped.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let text = '';
  let kept = 0;
  let cut = false;
  stream.on('data', (part: Buffer) => {
    count(part.length);
    if (cut) return;
    const room = bytesMax - kept;
    cut = part.length > room;
    const taken = cut ? part.subarray(0, room) : part;
    kept += taken.length;
    // Decoded at once: kept buffers would each hold a whole read block, however few bytes came.
    text += decoder.decode(taken, { stream: true });
  });
  const finish = (): void => resolve({ text: cut ? text : text + decoder.decode(), cut });
  stream.once('close', finish);
  stream.on('error', ignoreBrokenPipe);
  if (stream.closed) finish();
  return promise;
}

/** `close` follows, and what was read so far counts. */
function ignoreBrokenPipe(): void {}
