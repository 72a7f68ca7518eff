/** How patient the layer is with its upstreams. */
export interface UpstreamSettings {
  /**
   * From the start of a server to its list of tools, ms; also the longest that a new listing may take, and that a call waits
   * for a server to come back.
   */
  readonly connectTimeoutMs: number;
  /** Servers that are started at the same time in the background. */
  readonly startsAtOnce: number;
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
  /** Upstreams of one tenant. */
  readonly perTenantMax: number;
}

/** What holds where the settings say nothing. */
export const UPSTREAM_DEFAULTS: UpstreamSettings = {
  connectTimeoutMs: 20_000,
  startsAtOnce: 4,
  firstBackoffMs: 250,
  maxBackoffMs: 60_000,
  stableMs: 60_000,
  pingTimeoutMs: 15_000,
  relistIntervalMs: 1_000,
  perTenantMax: 256,
};
