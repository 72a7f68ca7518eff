import { MiB } from '@sallyport/std/bytes';

/** What can be set of the transports of MCP. */
export interface TransportSettings {
  /** Largest message, in bytes. */
  readonly messageBytesMax: number;
  /** Most sessions of the 2025 era of one endpoint; beyond it the holder's own that is idle longest ends. */
  readonly sessionsMax: number;
  /** The same for one agent and user of a tenant. */
  readonly sessionsPerHolderMax: number;
  /** The same for one tenant. */
  readonly sessionsPerTenantMax: number;
  /** After this idle time a session may be ended to make room, in ms. */
  readonly sessionIdleMs: number;
  /** Most open notification streams of one endpoint; beyond it the holder's own oldest ends. */
  readonly streamsMax: number;
  /** The same for one agent and user of a tenant. */
  readonly streamsPerHolderMax: number;
  /** The same for one tenant. */
  readonly streamsPerTenantMax: number;
  /** Time between comments that keep an idle stream open, in ms. */
  readonly keepAliveMs: number;
  /**
   * How often the credentials of open streams are looked at, in ms. A look asks no database: revocations are followed beside it.
   */
  readonly credentialLookMs: number;
  /**
   * Most requests of one stdio connection that run at once; further ones wait unread. A relay refuses them, and counts
   * notifications that the endpoint has not taken yet among them.
   */
  readonly requestsMax: number;
  /** How long running requests may go on once a stdio client has closed its end, or the layer stops, in ms. */
  readonly closeGraceMs: number;
}

export const TRANSPORT_DEFAULTS: TransportSettings = {
  messageBytesMax: 1 * MiB,
  sessionsMax: 10_000,
  sessionsPerHolderMax: 500,
  sessionsPerTenantMax: 5_000,
  sessionIdleMs: 3_600_000,
  streamsMax: 1_000,
  streamsPerHolderMax: 100,
  streamsPerTenantMax: 500,
  keepAliveMs: 25_000,
  credentialLookMs: 1_000,
  requestsMax: 256,
  closeGraceMs: 5_000,
};
