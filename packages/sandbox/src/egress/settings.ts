import { KiB } from '@sallyport/std/bytes';

/** Bounds of one way out. Nobody needs to choose them; tests choose smaller ones. */
export interface EgressBounds {
  /** Connections at once; one more is reset. */
  readonly connectionsMax: number;
  /** Connections of one sandbox in all; with the last one the way out closes. */
  readonly connectionsTotalMax: number;
  /** Bytes in both directions together; with the next one the way out closes. */
  readonly bytesMax: number;
  readonly connectTimeoutMs: number;
  /** Without a byte in either direction. */
  readonly idleTimeoutMs: number;
  /** Of one connection, however busy it is. */
  readonly connectionTimeoutMs: number;
  /** For the request by which a client names its target; time and bytes. */
  readonly headTimeoutMs: number;
  readonly headBytesMax: number;
  /** Addresses of one name that are tried. */
  readonly addressesTriedMax: number;
  /** How long the addresses of a name stay the ones first found. */
  readonly pinnedMs: number;
  /** Names that may be looked up; only patterns allow more than the grant has rows. */
  readonly namesMax: number;
  /** Refusals that are kept word for word; the others are counted. */
  readonly refusalsKeptMax: number;
  /** How long bytes that the tool wrote before its end may still take to leave. */
  readonly drainMs: number;
}

const HOUR_MS = 3_600_000;

export const EGRESS_DEFAULTS: EgressBounds = {
  connectionsMax: 256,
  connectionsTotalMax: 100_000,
  bytesMax: 16 * KiB * KiB * KiB,
  connectTimeoutMs: 10_000,
  idleTimeoutMs: 300_000,
  connectionTimeoutMs: 6 * HOUR_MS,
  headTimeoutMs: 10_000,
  headBytesMax: 16 * KiB,
  addressesTriedMax: 4,
  pinnedMs: HOUR_MS,
  namesMax: 1024,
  refusalsKeptMax: 16,
  drainMs: 100,
};
