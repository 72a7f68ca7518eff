import { KiB } from '@sallyport/std/bytes';

/** Limits of kept-alive connections. */
export interface ConnectionBounds {
  /** Connections to one host and port at the same time; further requests wait for one. */
  readonly connectionsPerHostMax: number;
  /** Connections in all. */
  readonly connectionsMax: number;
  /** Requests that wait for a connection to one host and port; one more is E3803. */
  readonly waitingPerHostMax: number;
  /** Idle connections kept to one host and port. */
  readonly idleConnectionsPerHostMax: number;
  /** How long an idle connection is kept, in ms. */
  readonly idleMs: number;
  /** Size of all header fields of an answer together, in bytes; more is E3308. */
  readonly headerBytesMax: number;
}

export const CONNECTION_DEFAULTS: ConnectionBounds = {
  connectionsPerHostMax: 64,
  connectionsMax: 512,
  waitingPerHostMax: 256,
  idleConnectionsPerHostMax: 16,
  idleMs: 30_000,
  headerBytesMax: 32 * KiB,
};

/** How long a request may wait in each of its phases, in ms; longer is E3306. 0 stands for no limit. */
export interface OutboundTimes {
  /** Until there is a connection: waiting for a free one, looking up the name, connecting, TLS. */
  readonly connectMs: number;
  /** From there until the head of the answer, the sending of the body included. */
  readonly answerMs: number;
  /** Between two parts of the body. */
  readonly silenceMs: number;
}

export const OUTBOUND_TIMES: OutboundTimes = { connectMs: 10_000, answerMs: 120_000, silenceMs: 60_000 };
