import { ToolLayerError } from '../domain/error/tool-layer-error.ts';
import { MiB } from '../std/bytes.ts';

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
