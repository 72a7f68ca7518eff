import { KiB } from '../../std/bytes.ts';

/** What the HTTP executor may be told. */
export interface HttpExecutorSettings {
  /** Connections to one host and port at the same time; further calls wait for one. */
  readonly connectionsPerHostMax: number;
  /** Idle connections kept to one host and port. */
  readonly idleConnectionsPerHostMax: number;
  /** How long an idle connection is kept, in ms. */
  readonly idleMs: number;
  /** Redirects that are followed within one call. */
  readonly redirectsMax: number;
  /** Size of all header fields of an answer together, in bytes; more is E3308. */
  readonly headerBytesMax: number;
  readonly userAgent: string;
}

/** Used for every setting that is not given. */
export const HTTP_EXECUTOR_DEFAULTS: HttpExecutorSettings = {
  connectionsPerHostMax: 64,
  idleConnectionsPerHostMax: 16,
  idleMs: 30_000,
  redirectsMax: 3,
  headerBytesMax: 32 * KiB,
  userAgent: 'sallyport',
};
