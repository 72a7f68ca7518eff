import type { IncomingMessage } from 'node:http';
import { KiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { GrowingBuffer } from '@sallyport/std/web/growing-buffer';

/** How long the client of a refused body may be silent before its connection is cut, in ms. */
const LINGER_MS = 1_000;
/** After so many of these times the connection is cut in any case. */
const LOOKS_MAX = 2;
/** Largest body read before its sender's credential is checked, in bytes; a token of 16 KiB fits. */
export const UNKNOWN_BODY_BYTES_MAX = 64 * KiB;
/**
 * Allowed overhead of chunks on the wire, beyond twice their payload, in bytes: bytes received but not yet parsed count
 * too.
 */
const FRAMING_SLACK_BYTES = 256 * KiB;

/** How a body is read. */
export interface BodyTerms {
  /** Larger bodies are refused as soon as that is known: by Content-Length before the first byte. */
  readonly bytesMax: number;
  readonly budget: BodyBudget;
  /**
   * Rejects when the sender's credential is invalid. Called before a body that is larger than UNKNOWN_BODY_BYTES_MAX or
   * of unknown length, and when there is no room for bodies of unverified senders.
   */
  readonly admit: () => Promise<unknown>;
  /** Calls `admit` before every body. Default false: a small body may hold the credential itself. */
  readonly admitFirst?: boolean;
}

/**
 * Reads a request's whole body. Refused bodies are discarded, and a connection that keeps sending is cut.
 * @throws ToolLayerError E3810 when too large; E3801 when the connection ended inside the body; E3803 when the bodies
 *   being read take all the room; and the rejection of `admit`
 */
export async function readBody(request: IncomingMessage, terms: BodyTerms): Promise<Buffer> {
  const { budget, bytesMax } = terms;
  const declared = declaredLength(request);
  try {
    if (declared !== undefined && declared > bytesMax) throw tooLarge(bytesMax);
    const isSmall = declared !== undefined && declared <= UNKNOWN_BODY_BYTES_MAX;
    if (isSmall && terms.admitFirst !== true && budget.unknown.hasRoom(declared)) {
      return await collect(request, declared, budget.unknown, bytesMax, tooLarge);
    }
    const refused = await terms.admit().then(
      () => undefined,
      (thrown: unknown) => ({ thrown }),
    );
    if (refused === undefined) return await collect(request, declared, budget.known, bytesMax, tooLarge);
    if (terms.admitFirst === true || declared !== undefined) throw refused.thrown;
    // The credential may be in the body, as long as the body is small.
    const most = Math.min(bytesMax, UNKNOWN_BODY_BYTES_MAX);
    return await collect(request, undefined, budget.unknown, most, () => refused.thrown);
  } catch (thrown) {
    discardRest(request);
    throw thrown;
  }
}

/** Undefined for chunked bodies; 0 when there is no body. */
function declaredLength({ headers }: IncomingMessage): number | undefined {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : undefined;
}

function collect(
  request: IncomingMessage,
  declared: number | undefined,
  share: BodyShare,
  bytesMax: number,
  refuse: (bytesMax: number) => unknown,
): Promise<Buffer> {
  let taken = declared ?? 0;
  share.take(taken);
  const { socket } = request;
  const wireStart = socket.bytesRead;
  const isFramedTooMuch = (bytes: number): boolean =>
    declared === undefined && socket.bytesRead - wireStart > 2 * bytes + FRAMING_SLACK_BYTES;
  let whole: Buffer | undefined;
  const held = new GrowingBuffer();
  const take = (bytes: number): void => {
    share.take(bytes);
    taken += bytes;
  };
  const read = new Promise<Buffer>((resolve, reject) => {
    const onData = (chunk: Buffer): void => {
      // Fast path: the whole body in one chunk.
      if (chunk.length === declared) {
        whole = chunk;
        return;
      }
      try {
        // Chunk framing costs bytes beyond the payload: the bytes on the wire are limited too.
        const bytes = held.length + chunk.length;
        if (bytes > bytesMax || isFramedTooMuch(bytes)) throw refuse(bytesMax);
        if (declared === undefined) take(chunk.length);
        held.add(chunk);
      } catch (thrown) {
        request.off('data', onData);
        reject(thrown);
      }
    };
    request.on('data', onData);
    request.once('end', () => resolve(whole ?? held.bytes()));
    request.once('close', () => {
      // Also emitted after every normal request: creating an error then would cost more than reading the body.
      if (!request.complete) reject(new ToolLayerError('E3801', 'The request ended early.'));
    });
    // The connection may have closed while the credential was checked.
    if (request.destroyed && !request.complete) reject(new ToolLayerError('E3801', 'The request ended early.'));
  });
  return read.finally(() => share.give(taken));
}

const tooLarge = (bytesMax: number): ToolLayerError =>
  new ToolLayerError(
    'E3810',
    `The request body is larger than ${bytesMax} bytes, or comes in chunks that are much too small. Send less in one request, or larger chunks.`,
  );

/**
 * Discards the rest of a body, so that the client can read the answer, and then keep its connection. A client that goes
 * on sending for long, or is silent, is cut off.
 */
export function discardRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) {
    request.resume();
    return;
  }
  const { socket } = request;
  let seen = socket.bytesRead;
  let looks = 0;
  let look: NodeJS.Immediate | undefined;
  const cutUnlessMoving = (): void => {
    looks += 1;
    if (socket.bytesRead === seen || looks === LOOKS_MAX) socket.destroy();
    seen = socket.bytesRead;
  };
  const looking = setInterval(() => {
    // What arrived while this process was busy is read first.
    look = setImmediate(cutUnlessMoving);
  }, LINGER_MS);
  // A connection outlives many refused requests, so no listener of one may stay on it.
  const keep = (): void => {
    clearInterval(looking);
    clearImmediate(look);
    socket.off('close', keep);
  };
  request.once('end', keep);
  socket.once('close', keep);
  request.resume();
}

/** Delay after which a client that found no room may retry, in ms. */
const RETRY_MS = 1_000;
/** Unverified senders get one part in this many of the room. */
const UNKNOWN_SHARE = 4;

/** Room for the bodies being read, across all connections of a door. */
export interface BodyBudget {
  /** For senders with a verified credential. */
  readonly known: BodyShare;
  /** For all other senders, so that they cannot take the room of verified ones. */
  readonly unknown: BodyShare;
}

/** Room for bodies. */
export interface BodyShare {
  hasRoom(bytes: number): boolean;
  /** @throws ToolLayerError E3803 when too little is left; nothing is taken then */
  take(bytes: number): void;
  give(bytes: number): void;
}

/** @param bytesMax of all bodies together */
export function createBodyBudget(bytesMax: number): BodyBudget {
  const unknown = Math.ceil(bytesMax / UNKNOWN_SHARE);
  return { known: createShare(bytesMax - unknown), unknown: createShare(unknown) };
}

function createShare(bytesMax: number): BodyShare {
  let taken = 0;
  // With no other body under way any allowed size is read, however small the share; otherwise it would be refused for
  // ever.
  const hasRoom = (bytes: number): boolean => taken === 0 || taken + bytes <= bytesMax;
  return {
    hasRoom,
    take(bytes) {
      if (!hasRoom(bytes)) {
        const message = `Bodies of ${taken} bytes are being read, of ${bytesMax} at most. Send this request again later.`;
        throw new ToolLayerError('E3803', message, { retryAfterMs: RETRY_MS });
      }
      taken += bytes;
    },
    give(bytes) {
      taken -= bytes;
    },
  };
}
