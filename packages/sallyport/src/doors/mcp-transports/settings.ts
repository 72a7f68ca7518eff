import { MiB } from '@sallyport/std/bytes';
import { integer } from '../../domain/settings/rows.ts';
import { STOP_SETTINGS, STREAM_SETTINGS } from '../../domain/settings/server-settings.ts';
import { defaultsOf, type ValuesOf } from '../../domain/settings/setting.ts';

/** Settings of the MCP transports. */
export const TRANSPORT_SETTINGS = {
  sessionsMax: integer('server.sessions_max', {
    unit: 'sessions',
    minimum: 1,
    default: 10_000,
    sentence:
      'Sessions of one MCP endpoint at once. Where a bound is reached, the oldest of the same agent and user ends for a new one; who has none is refused.',
  }),
  sessionsPerTenantMax: integer('server.sessions_per_tenant_max', {
    unit: 'sessions',
    minimum: 1,
    default: 5000,
    sentence: 'The same for one tenant.',
  }),
  sessionsPerHolderMax: integer('server.sessions_per_holder_max', {
    unit: 'sessions',
    minimum: 1,
    default: 500,
    sentence: 'The same for one agent and user of a tenant.',
  }),
  ...STREAM_SETTINGS,
  closeGraceMs: STOP_SETTINGS.graceMs,
};

/** Values of the settings of the MCP transports. */
export interface TransportSettings extends ValuesOf<typeof TRANSPORT_SETTINGS> {
  /** Largest message, in bytes. */
  readonly messageBytesMax: number;
  /** A session idle for longer may be ended to make room, in ms. */
  readonly sessionIdleMs: number;
  /** Time between comments that keep an idle stream open, in ms. */
  readonly keepAliveMs: number;
  /**
   * Time between checks of the credentials of open streams, in ms. A check needs no database: revocations are followed
   * separately.
   */
  readonly credentialLookMs: number;
  /**
   * Most concurrent requests of one stdio connection; further ones wait unread. A relay refuses them, and counts
   * notifications that the endpoint has not yet taken as requests.
   */
  readonly requestsMax: number;
}

export const TRANSPORT_DEFAULTS: TransportSettings = {
  ...defaultsOf(TRANSPORT_SETTINGS),
  messageBytesMax: 1 * MiB,
  sessionIdleMs: 3_600_000,
  keepAliveMs: 25_000,
  credentialLookMs: 1_000,
  requestsMax: 256,
};
