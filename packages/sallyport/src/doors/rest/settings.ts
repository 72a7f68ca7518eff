import { KiB, MiB } from '@sallyport/std/bytes';
import { BODIES_BYTES_MAX } from '../request-body.ts';

/** What can be set of the REST door. */
export interface RestSettings {
  /** Largest request body, in bytes. */
  readonly bodyBytesMax: number;
  /** Largest body that carries a whole foreign document (imports), in bytes. */
  readonly documentBytesMax: number;
  /** Bytes of all bodies that are being read at once, of all doors on this address; a quarter is for senders not known yet. */
  readonly bodiesBytesMax: number;
  /** Largest request head: the request line and all headers, in bytes. A capability token of 16 KiB fits. */
  readonly headBytesMax: number;
  /** How long a client may take to send a request, in ms. */
  readonly requestTimeoutMs: number;
  /** How long an idle connection is kept for the next request, in ms. */
  readonly keepAliveTimeoutMs: number;
  /** How long running calls may go on once the door stops, in ms; then they end with E3811. */
  readonly closeGraceMs: number;
  /**
   * How long calls that were ended so may take to be recorded and answered, in ms: longer than an executor may take to
   * stop. Then their connections are cut.
   */
  readonly cutAnswerMs: number;
  /** Streams of invocations open at once; beyond it the holder's own oldest ends, and who has none is refused with E3803. */
  readonly streamsMax: number;
  /** The same for one agent and user of a tenant. */
  readonly streamsPerHolderMax: number;
  /** The same for one tenant. */
  readonly streamsPerTenantMax: number;
  /** Longest life of a stream, in ms; its client comes again and goes on where it was. */
  readonly streamMs: number;
  /** How often the credentials of open streams are looked at, in ms. A look asks no database: revocations are followed beside it. */
  readonly credentialLookMs: number;
  /** Most open connections; more are refused by the socket. */
  readonly connectionsMax: number;
  /**
   * Host names, without port, that requests may name beside the loopback ones. Bound to a loopback address the door
   * refuses every other name, against DNS rebinding; bound to another address it refuses only when names are given.
   */
  readonly allowedHosts: readonly string[];
  /** Origins of browser pages that may call, for example https://console.example.com. The door's own always may. */
  readonly allowedOrigins: readonly string[];
}

export const REST_DEFAULTS: RestSettings = {
  bodyBytesMax: 1 * MiB,
  documentBytesMax: 16 * MiB,
  bodiesBytesMax: BODIES_BYTES_MAX,
  headBytesMax: 32 * KiB,
  requestTimeoutMs: 30_000,
  keepAliveTimeoutMs: 65_000,
  closeGraceMs: 10_000,
  cutAnswerMs: 10_000,
  streamsMax: 1_000,
  streamsPerHolderMax: 100,
  streamsPerTenantMax: 500,
  streamMs: 900_000,
  credentialLookMs: 1_000,
  connectionsMax: 10_000,
  allowedHosts: [],
  allowedOrigins: [],
};
