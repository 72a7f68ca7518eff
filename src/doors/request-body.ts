// Hot path: every POST goes through here.
import type { IncomingMessage } from 'node:http';
import { ToolLayerError } from '../domain/error/tool-layer-error.ts';
import { KiB, MiB } from '../std/bytes.ts';
import { presentedCredential } from './bearer.ts';

/** Bounds of bodies that nobody needs to choose. */
export const BODY_BOUNDS = {
  /** Bytes of a body whose request shows no credential: it can be answered, and is no way to fill memory. */
  strangerBytesMax: 16 * KiB,
  /**
   * Bytes of all bodies that are being received at once, in this process. A body that came in one piece, as small ones do, is
   * not among them.
   */
  allBytesMax: 64 * MiB,
  /** Bytes that one body may take on the wire beyond its own bound: sizes and extensions of chunks. */
  framingBytesMax: 64 * KiB,
  /** First buffer of a body whose length is not said. */
  firstBytes: 16 * KiB,
} as const;

/** How long a client may go on sending a body that was refused, before its connection is cut. In ms. */
const LINGER_MS = 1_000;

/** When a client may try again for which there was no room, in ms. */
const OVERLOADED_RETRY_MS = 1_000;

/** Memory is the process's, so all bodies of all doors are counted together. */
const received = { bytes: 0 };

/**
 * Reads a request's body whole, into one buffer that grows: pieces of one byte cost no more than their bytes.
 * @param bytesMax bodies beyond it are refused as soon as that is known: by Content-Length before the first byte
 * @throws ToolLayerError E3810 when larger; E3212 when larger than a body without a credential may be; E3803 when too much is
 *   being received at once; E3801 when the connection ended inside the body
 */
export function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const isStranger = presentedCredential(request.headers) === undefined;
    const limit = isStranger ? Math.min(bytesMax, BODY_BOUNDS.strangerBytesMax) : bytesMax;
    const declared = Number(request.headers['content-length'] ?? 0);
    const body = createGrowingBody(declared, limit);
    const wireBytesMax = request.socket.bytesRead + limit + BODY_BOUNDS.framingBytesMax;
    const refuse = (refusal: ToolLayerError): void => {
      request.off('data', onData);
      body.drop();
      discardRest(request);
      reject(refusal);
    };
    const onData = (chunk: Buffer): void => {
      const tooLong = body.length + chunk.length > limit || request.socket.bytesRead > wireBytesMax;
      if (tooLong) refuse(tooLarge(limit, isStranger && limit < bytesMax));
      else if (!body.add(chunk)) refuse(overloaded());
    };
    if (declared > limit) {
      refuse(tooLarge(limit, isStranger && declared <= bytesMax));
      return;
    }
    request.on('data', onData);
    request.on('end', () => resolve(body.take()));
    request.on('close', () => {
      body.drop();
      // It closes after every request too: making an error then would cost more than reading the body.
      if (!request.complete) reject(new ToolLayerError('E3801', 'The request ended early.'));
    });
  });
}

interface GrowingBody {
  readonly length: number;
  /** False when there is no room for it. */
  add(chunk: Buffer): boolean;
  /** What came; nothing is held any more. */
  take(): Buffer;
  drop(): void;
}

/** The first piece is kept as it came, since most bodies are one; with the second begins a buffer of its own. */
function createGrowingBody(declared: number, limit: number): GrowingBody {
  let bytes: Buffer = Buffer.alloc(0);
  let length = 0;
  let held = 0;
  const hold = (size: number): boolean => {
    if (received.bytes - held + size > BODY_BOUNDS.allBytesMax) return false;
    received.bytes += size - held;
    held = size;
    return true;
  };
  const drop = (): void => {
    bytes = Buffer.alloc(0);
    hold(0);
  };
  return {
    get length() {
      return length;
    },
    add(chunk) {
      if (length === 0) bytes = chunk;
      else {
        const needed = length + chunk.length;
        if (held === 0 || needed > bytes.length) {
          const size = Math.min(limit, Math.max(declared, needed, 2 * length, BODY_BOUNDS.firstBytes));
          if (!hold(size)) return false;
          const larger = Buffer.allocUnsafeSlow(size);
          bytes.copy(larger, 0, 0, length);
          bytes = larger;
        }
        chunk.copy(bytes, length);
      }
      length += chunk.length;
      return true;
    },
    take() {
      const whole = bytes.subarray(0, length);
      drop();
      return whole;
    },
    drop,
  };
}

/** The rest of a body is thrown away for a moment, so that the client can read the answer, then the connection is cut. */
function discardRest(request: IncomingMessage): void {
  const { socket } = request;
  const cut = setTimeout(() => socket.destroy(), LINGER_MS);
  const keep = (): void => clearTimeout(cut);
  request.once('end', keep);
  socket.once('close', keep);
  request.resume();
}

function tooLarge(bytesMax: number, needsToken: boolean): ToolLayerError {
  return needsToken
    ? new ToolLayerError(
        'E3212',
        `The request carries no credential, and a body of more than ${bytesMax} bytes. Send a token as "Authorization: Bearer <token>".`,
      )
    : new ToolLayerError('E3810', `The request body is larger than ${bytesMax} bytes. Send less in one request.`);
}

function overloaded(): ToolLayerError {
  const message = 'The layer is receiving as many bytes of requests as it may. Try again in a moment.';
  return new ToolLayerError('E3803', message, { retryAfterMs: OVERLOADED_RETRY_MS });
}
