import type { Readable } from 'node:stream';
import { MiB } from '@sallyport/std/bytes';
import type { SandboxProcess } from './driver.port.ts';

/** How much of a tool's output is kept, and when too much output ends the tool. */
export interface OutputBounds {
  /** Bytes of stdout kept, from the beginning; the rest is discarded. */
  readonly stdoutBytesMax: number;
  /** Bytes of stderr kept, from the end: a program says at the end why it failed. */
  readonly stderrBytesMax: number;
  /** Bytes of both together after which the sandbox is killed. Default 256 MiB. */
  readonly drainedBytesMax?: number;
}

/** A tool's output. */
export interface CollectedOutput {
  /** UTF-8 text; invalid bytes became U+FFFD, and a character split by the limit is dropped. */
  readonly stdout: string;
  /** As stdout; a cut text begins with a whole line, or with a whole character when no line begins. */
  readonly stderr: string;
  /** True when anything was discarded. */
  readonly truncated: boolean;
  /** True when the tool was killed for writing more than `drainedBytesMax`. */
  readonly flooded: boolean;
}

/** Enough for any honest tool, and small enough that a flood costs only a second or two. */
const DRAINED_BYTES_MAX = 256 * MiB;

/**
 * Reads stdout and stderr to their ends, in limited memory: beyond its limit a stream is still read, so that the tool
 * does not block, but of stdout only the beginning is kept, and of stderr only the end. Call it at once after `start`.
 * Never rejects; ends when both streams are closed.
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
    collectEnd(process.stderr, bounds.stderrBytesMax, count),
  ]);
  return { stdout: stdout.text, stderr: stderr.text, truncated: stdout.cut || stderr.cut, flooded };
}

interface Collected {
  readonly text: string;
  readonly cut: boolean;
}

function collect(stream: Readable, bytesMax: number, count: (bytes: number) => void): Promise<Collected> {
  const { promise, resolve } = Promise.withResolvers<Collected>();
  // `stream` holds the first bytes of a character until the rest arrives; at the end of a cut text they are dropped.
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

function collectEnd(stream: Readable, bytesMax: number, count: (bytes: number) => void): Promise<Collected> {
  const { promise, resolve } = Promise.withResolvers<Collected>();
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let text = '';
  let cut = false;
  stream.on('data', (part: Buffer) => {
    count(part.length);
    text += decoder.decode(part, { stream: true });
    // The text may grow to twice the limit before it is cut, so that small chunks do not each cost a cut; no character
    // is less than a byte.
    if (text.length <= 2 * bytesMax) return;
    text = bytesMax === 0 ? '' : text.slice(-bytesMax);
    cut = true;
  });
  const finish = (): void => {
    const end = Buffer.from(text + decoder.decode());
    const isCut = cut || end.length > bytesMax;
    resolve({
      text: isCut ? fromWholeLine(end.subarray(Math.max(0, end.length - bytesMax))) : end.toString(),
      cut: isCut,
    });
  };
  stream.once('close', finish);
  stream.on('error', ignoreBrokenPipe);
  if (stream.closed) finish();
  return promise;
}

/** The cut may split a character, or a secret that is only recognised whole. */
function fromWholeLine(end: Buffer): string {
  const line = end.indexOf('\n') + 1;
  if (line > 0 && line < end.length) return end.toString('utf8', line);
  let from = 0;
  while (isContinuation(end[from])) from += 1;
  return end.toString('utf8', from);
}

/** A byte inside a character of UTF-8. */
const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** `close` follows; the data read so far counts. */
function ignoreBrokenPipe(): void {}
