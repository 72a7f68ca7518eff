import type { IncomingMessage } from 'node:http';
import { Readable, type Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { codeOf } from '@sallyport/std/error-code';
import { GrowingBuffer } from '@sallyport/std/web/growing-buffer';

/** A body, or its beginning. */
export interface ReceivedBody {
  /** Decompressed. */
  readonly body: Buffer;
  /** The body was longer than allowed; the rest was not read. */
  readonly truncated: boolean;
}

/** Most bytes of a body, as received and decompressed. Limited separately, so a decompression bomb ends early. */
export interface BodyBounds {
  readonly wireBytesMax: number;
  readonly bodyBytesMax: number;
}

/** Most nested content codings that are decoded. */
const CODINGS_MAX = 2;

const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/**
 * Reads a body up to its limits; a longer one is cut, and its connection closed.
 * @throws ToolLayerError E3308 for an unknown or broken coding; connection errors unchanged
 */
export function receiveBody(message: IncomingMessage, bounds: BodyBounds): Promise<ReceivedBody> {
  const codings = codingsOf(message.headers['content-encoding']);
  if (codings.length === 0) return plain(message, Math.min(bounds.wireBytesMax, bounds.bodyBytesMax));
  const known = codings.map((coding) => DECODERS.get(coding));
  if (codings.length > CODINGS_MAX || known.some((decoder) => decoder === undefined)) {
    message.destroy();
    return Promise.reject(unreadable(`in the content encoding ${codings.join(', ').slice(0, 40)}`));
  }
  // The last coding was applied last, so it is undone first (RFC 9110 §8.4).
  return decoded(message, known.filter((decoder) => decoder !== undefined).reverse(), bounds, codings.join(', '));
}

function codingsOf(header: string | undefined): string[] {
  if (header === undefined) return [];
  return header
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
}

function plain(message: IncomingMessage, bytesMax: number): Promise<ReceivedBody> {
  return new Promise((resolve, reject) => {
    const held = new GrowingBuffer();
    message.on('data', (chunk: Buffer) => {
      held.add(chunk);
      if (held.length <= bytesMax) return;
      resolve({ body: held.bytes().subarray(0, bytesMax), truncated: true });
      message.destroy();
    });
    message.once('end', () => resolve({ body: held.bytes(), truncated: false }));
    // Kept, since a message may report several errors.
    message.on('error', reject);
    message.once('close', () => {
      // Emitted after every answer; an error costs a stack trace, so it is made only when needed.
      if (!message.complete) reject(new Error('the connection was closed before the whole answer had come'));
    });
  });
}

/** Ends a pipeline whose output is full. */
class Full extends Error {}

async function decoded(
  message: IncomingMessage,
  decoders: readonly (() => Transform)[],
  { wireBytesMax, bodyBytesMax }: BodyBounds,
  coding: string,
): Promise<ReceivedBody> {
  let wireBytes = 0;
  const bounded = async function* (source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      wireBytes += chunk.length;
      if (wireBytes > wireBytesMax) throw new Full();
      yield chunk;
    }
  };
  const held = new GrowingBuffer();
  const collect = new Writable({
    write(chunk: Buffer, _encoding, done) {
      held.add(chunk);
      done(held.length > bodyBytesMax ? new Full() : null);
    },
  });
  const whole = (): Buffer => held.bytes().subarray(0, bodyBytesMax);
  try {
    await pipeline([Readable.from(bounded(message)), ...decoders.map((make) => make()), collect]);
    return { body: whole(), truncated: false };
  } catch (thrown) {
    if (thrown instanceof Full) return { body: whole(), truncated: true };
    // An answer without a body may still name a coding: HEAD, 304.
    if (wireBytes === 0 && message.complete) return { body: Buffer.alloc(0), truncated: false };
    if (isOfDecoder(thrown)) throw unreadable(`in ${coding}, which is broken`, thrown);
    throw thrown;
  }
}

/** Codes of zlib begin with `Z_`, those of its brotli with `ERR_` and no name of Node's. */
const isOfDecoder = (thrown: unknown): boolean => /^(?:Z_|ERR__|ERR_BROTLI|ERR_PADDING)/.test(codeOf(thrown));

const unreadable = (what: string, cause?: unknown): ToolLayerError =>
  new ToolLayerError('E3308', `The service answered with a body ${what}.`, cause === undefined ? {} : { cause });
