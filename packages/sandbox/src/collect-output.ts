import type { Readable } from 'node:stream';
import { MiB } from '@sallyport/std/bytes';
import type { SandboxProcess } from './driver.port.ts';

/** How much of a tool's output is kept, and when a flood ends the tool. */
export interface OutputBounds {
  /** Bytes of stdout kept, the first; the rest is read and thrown away. */
  readonly stdoutBytesMax: number;
  /** Bytes of stderr kept, the last: a program says at the end why it failed. */
  readonly stderrBytesMax: number;
  /** Bytes of both together after which the sandbox is killed. Default 256 MiB. */
  readonly drainedBytesMax?: number;
}

/** What a tool wrote. */
export interface CollectedOutput {
  /** UTF-8 text; bytes that are none became U+FFFD, and a character cut in two by the bound is left out. */
  readonly stdout: string;
  /** As stdout; where it was cut it begins with a whole line, or with a whole character where no line begins. */
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
 * does not stand still, but of stdout only the beginning is kept, and of stderr only the end. Call it at once after `start`. Never rejects; ends when both streams are closed.
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

function collectEnd(stream: Readable, bytesMax: number, count: (bytes: number) => void): Promise<Collected> {
  const { promise, resolve } = Promise.withResolvers<Collected>();
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let text = '';
  let cut = false;
  stream.on('data', (part: Buffer) => {
    count(part.length);
    text += decoder.decode(part, { stream: true });
    // Twice the bound is let grow first, so that small parts do not each cost a cut; no character is less than a byte.
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

/** The cut may go through a character, and through a secret that is hidden only where it is whole. */
function fromWholeLine(end: Buffer): string {
  const line = end.indexOf('\n') + 1;
  if (line > 0 && line < end.length) return end.toString('utf8', line);
  let from = 0;
  while (isContinuation(end[from])) from += 1;
  return end.toString('utf8', from);
}

/** A byte inside a character of UTF-8. */
const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** `close` follows, and what was read so far counts. */
function ignoreBrokenPipe(): void {}
