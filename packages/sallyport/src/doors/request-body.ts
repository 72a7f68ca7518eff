import type { IncomingMessage } from 'node:http';
import { KiB, MiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { GrowingBuffer } from '@sallyport/std/web/growing-buffer';

/** How long a client may go on sending a body that was refused, before its connection is cut. In ms. */
const LINGER_MS = 1_000;
/** Largest body of a sender whose credential was not looked at yet, in bytes: one that holds a token of 16 KiB fits. */
export const UNKNOWN_BODY_BYTES_MAX = 64 * KiB;
/**
 * What chunks may cost on the wire beside twice what they carry, in bytes: what was received and is not parsed yet counts
 * among it.
 */
const FRAMING_SLACK_BYTES = 256 * KiB;

/** How a body is read. */
export interface BodyTerms {
  /** Bodies beyond it are refused as soon as that is known: by Content-Length before the first byte. */
  readonly bytesMax: number;
  readonly budget: BodyBudget;
  /**
   * Rejects when the sender's credential is not good. Asked before a body that is larger than UNKNOWN_BODY_BYTES_MAX or
   * does not say how large it is, and when there is no room for bodies of unknown senders.
   */
  readonly admit: () => Promise<unknown>;
  /** Whether `admit` is asked before every body. Default false: small ones may hold the credential themselves. */
  readonly admitFirst?: boolean;
}

/**
 * Reads a request's body whole. What is refused is not kept, and its connection is cut when it goes on for long.
 * @throws ToolLayerError E3810 when larger; E3801 when the connection ended inside the body; E3803 when the bodies being
 * read take all the room there is; and what `admit` rejects with
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
    // The credential may be in the body, as long as that is small.
    const most = Math.min(bytesMax, UNKNOWN_BODY_BYTES_MAX);
    return await collect(request, undefined, budget.unknown, most, () => refused.thrown);
  } catch (thrown) {
    discardRest(request);
    throw thrown;
  }
}

/** Undefined for a body in chunks; 0 where there is none. */
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
      // The common case first: all of it at once.
      if (chunk.length === declared) {
        whole = chunk;
        return;
      }
      try {
        // Chunks may cost more than what they carry: what came over the wire is bounded too.
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
      // It closes after every request too: making an error then would cost more than reading the body.
      if (!request.complete) reject(new ToolLayerError('E3801', 'The request ended early.'));
    });
    // It may have gone while its credential was looked at.
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
 * The rest of a body is thrown away for a moment, so that the client can read the answer, then the connection is cut.
 */
export function discardRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) {
    request.resume();
    return;
  }
  const { socket } = request;
  const cut = setTimeout(() => socket.destroy(), LINGER_MS);
  // A connection outlives many refused requests, so nothing of one may stay with it.
  const keep = (): void => {
    clearTimeout(cut);
    socket.off('close', keep);
  };
  request.once('end', keep);
  socket.once('close', keep);
  request.resume();
}

/** Default of `server.bodies_bytes_max`. */
export const BODIES_BYTES_MAX = 64 * MiB;
/** When a client that found no room may come again, in ms. */
const RETRY_MS = 1_000;
/** The share of bodies whose sender is not known yet: one part in so many. */
const UNKNOWN_SHARE = 4;

/** Bytes of the bodies that are being read, of all connections of a door together. */
export interface BodyBudget {
  /** For senders whose credential was found good. */
  readonly known: BodyShare;
  /** For everybody else, so that they cannot take the room of the others. */
  readonly unknown: BodyShare;
}

/** Room for bodies. */
export interface BodyShare {
  hasRoom(bytes: number): boolean;
  /** @throws ToolLayerError E3803 where that much is not left; nothing is taken then */
  take(bytes: number): void;
  give(bytes: number): void;
}

/** @param bytesMax of all bodies together; default 64 MiB */
export function createBodyBudget(bytesMax = BODIES_BYTES_MAX): BodyBudget {
  const unknown = Math.ceil(bytesMax / UNKNOWN_SHARE);
  return { known: createShare(bytesMax - unknown), unknown: createShare(unknown) };
}

function createShare(bytesMax: number): BodyShare {
  let taken = 0;
  // A single body of any allowed size is read, however small the share: alone it cannot be refused for ever.
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
