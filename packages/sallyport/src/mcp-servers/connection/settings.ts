/** Timeouts and limits for upstreams. */
export interface UpstreamSettings {
  /**
   * From the start of a server to its list of tools, ms; also the longest time for a new listing, and for a call to
   * wait until a server is back.
   */
  readonly connectTimeoutMs: number;
  /** Most servers started at the same time in the background. */
  readonly startsAtOnce: number;
  /** A start longer than this, ms, no longer counts against `startsAtOnce`. */
  readonly startHoldMs: number;
  /** Pause before a broken upstream is tried again, ms; doubles each time. */
  readonly firstBackoffMs: number;
  /** Longest pause, ms. */
  readonly maxBackoffMs: number;
  /** After a connection lasted this long, ms, its end starts the pauses from the first again. */
  readonly stableMs: number;
  /** After a call timed out the server is pinged; without an answer within this time, ms, it is restarted. */
  readonly pingTimeoutMs: number;
  /** Least time between two listings caused by change notices, ms. */
  readonly relistIntervalMs: number;
  /**
   * Tools are listed again after this time without a listing, ms: not every server announces changes. A random part of
   * up to a tenth is added.
   */
  readonly staleListingMs: number;
  /**
   * Longest wait for what a server offers beside its tools, ms, at a new connection and in a caller's list; what comes
   * later is a change.
   */
  readonly offersPatienceMs: number;
  /** Most upstreams of one tenant. */
  readonly perTenantMax: number;
  /** Most caller connections to one upstream over HTTP, closing ones included. */
  readonly callerConnectionsMax: number;
  /** Most caller connections over stdio, where each is a process in a sandbox. */
  readonly callerProcessesMax: number;
  /** Idle time after which a caller's connection is closed, ms. */
  readonly callerIdleMs: number;
  /** Idle time when the caller has a connection with newer credentials, ms. */
  readonly formerCredentialsIdleMs: number;
}

/** Defaults. */
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
  offersPatienceMs: 2_000,
  perTenantMax: 256,
  callerConnectionsMax: 32,
  callerProcessesMax: 8,
  callerIdleMs: 300_000,
  formerCredentialsIdleMs: 5_000,
};
