/** How patient the layer is with its upstreams. */
export interface UpstreamSettings {
  /**
   * From the start of a server to its list of tools, ms; also the longest that a new listing may take, and that a call waits
   * for a server to come back.
   */
  readonly connectTimeoutMs: number;
  /** Servers that are started at the same time in the background. */
  readonly startsAtOnce: number;
  /** A start that takes longer, ms, no longer counts as one of these. */
  readonly startHoldMs: number;
  /** Pause before a broken upstream is tried again, ms; doubles each time. */
  readonly firstBackoffMs: number;
  /** Longest pause, ms. */
  readonly maxBackoffMs: number;
  /** Once a connection has held this long, ms, its end starts the pauses from the first again. */
  readonly stableMs: number;
  /** After a call ran out of time the server is asked for a sign of life; without one in this time, ms, it is restarted. */
  readonly pingTimeoutMs: number;
  /** Least time between two listings because the server says that its tools changed, ms. */
  readonly relistIntervalMs: number;
  /**
   * A connection whose tools were not listed for this long, ms, is listed again: not every server says when they change.
   * A random part of up to a tenth is added.
   */
  readonly staleListingMs: number;
  /** Upstreams of one tenant. */
  readonly perTenantMax: number;
  /** Connections of callers to one upstream over HTTP, those that are being closed too. */
  readonly callerConnectionsMax: number;
  /** The same over stdio, where each is a process in a sandbox. */
  readonly callerProcessesMax: number;
  /** A connection of a caller that nobody used for this long, ms, is closed. */
  readonly callerIdleMs: number;
  /** The same, once that caller has a connection with newer credentials, ms. */
  readonly formerCredentialsIdleMs: number;
}

/** What holds where the settings say nothing. */
export const UPSTREAM_DEFAULTS: UpstreamSettings = {
  connectTimeoutMs: 20_000,
  startsAtOnce: 4,
  startHoldMs: 1_500,
  firstBackoffMs: 250,
  maxBackoffMs: 60_000,
  stableMs: 60_000,
  pingTimeoutMs: 15_000,
  relistIntervalMs: 1_000,
  staleListingMs: 300_000,
  perTenantMax: 256,
  callerConnectionsMax: 32,
  callerProcessesMax: 8,
  callerIdleMs: 300_000,
  formerCredentialsIdleMs: 5_000,
};
