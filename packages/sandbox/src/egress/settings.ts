import { KiB } from '@sallyport/std/bytes';

/** Limits of one sandbox's network. They need no configuration; tests use smaller ones. */
export interface EgressBounds {
  /** Most concurrent connections; one more is reset. */
  readonly connectionsMax: number;
  /** Most connections of one sandbox in total; after the last one the network closes. */
  readonly connectionsTotalMax: number;
  /** Most bytes in both directions together; beyond that the network closes. */
  readonly bytesMax: number;
  readonly connectTimeoutMs: number;
  /** Longest time without a byte in either direction. */
  readonly idleTimeoutMs: number;
  /** Longest life of one connection, however busy. */
  readonly connectionTimeoutMs: number;
  /** Limits of the request by which a client names its target; time and bytes. */
  readonly headTimeoutMs: number;
  readonly headBytesMax: number;
  /** Most addresses of one name that are tried. */
  readonly addressesTriedMax: number;
  /** How long the first addresses of a name are kept. */
  readonly pinnedMs: number;
  /** Most names that may be looked up; only patterns permit more than the grant has rows. */
  readonly namesMax: number;
  /** Refusals kept with their text; further ones are only counted. */
  readonly refusalsKeptMax: number;
  /** How long bytes that the tool wrote before its end may take to leave. */
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
  drainMs: 1_000,
};
