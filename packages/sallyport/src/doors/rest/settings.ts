import { KiB, MiB } from '@sallyport/std/bytes';
import { integer, list } from '../../domain/settings/rows.ts';
import { STOP_SETTINGS, STREAM_SETTINGS } from '../../domain/settings/server-settings.ts';
import { defaultsOf, type ValuesOf } from '../../domain/settings/setting.ts';

/** Settings of the REST door. */
export const REST_SETTINGS = {
  bodyBytesMax: integer('server.body_bytes_max', {
    unit: 'bytes',
    minimum: 1024,
    default: 1 * MiB,
    sentence: 'Largest body of a request; imports of documents may be 16 times as large.',
  }),
  bodiesBytesMax: integer('server.bodies_bytes_max', {
    unit: 'bytes',
    minimum: 1 * MiB,
    default: 64 * MiB,
    sentence:
      'Bodies of requests that are being read at once, together; a quarter is for senders whose credential was not looked at yet. Beyond it requests are refused with E3803 and Retry-After.',
  }),
  allowedHosts: list('server.allowed_hosts', {
    default: [],
    sentence: 'Host names that requests may name beside the loopback ones.',
  }),
  allowedOrigins: list('server.allowed_origins', {
    default: [],
    sentence:
      'Origins of browser pages whose requests the REST and MCP doors take, such as https://console.example.com. Pages of the layer itself always may.',
  }),
  closeGraceMs: STOP_SETTINGS.graceMs,
  ...STREAM_SETTINGS,
};

/** Values of the settings of the REST door. */
export interface RestSettings extends ValuesOf<typeof REST_SETTINGS> {
  /** Largest body with a complete foreign document (imports), in bytes. */
  readonly documentBytesMax: number;
  /** Largest head of a request (request line and all headers), in bytes. A capability token of 16 KiB fits. */
  readonly headBytesMax: number;
  /** How long a client may take to send a request, in ms. */
  readonly requestTimeoutMs: number;
  /** How long an idle connection is kept open for the next request, in ms. */
  readonly keepAliveTimeoutMs: number;
  /**
   * Longest time to record and answer calls that were ended by stopping the door, in ms; longer than an executor may
   * take to stop. Then their connections are cut.
   */
  readonly cutAnswerMs: number;
  /** Longest life of a stream, in ms; its client reconnects and continues from there. */
  readonly streamMs: number;
  /**
   * Time between checks of the credentials of open streams, in ms. A check needs no database: revocations are followed
   * separately.
   */
  readonly credentialLookMs: number;
  /** Most open connections; the socket refuses more. */
  readonly connectionsMax: number;
}

export const REST_DEFAULTS: RestSettings = {
  ...defaultsOf(REST_SETTINGS),
  documentBytesMax: 16 * MiB,
  headBytesMax: 32 * KiB,
  requestTimeoutMs: 30_000,
  keepAliveTimeoutMs: 65_000,
  cutAnswerMs: 10_000,
  streamMs: 900_000,
  credentialLookMs: 1_000,
  connectionsMax: 10_000,
};
