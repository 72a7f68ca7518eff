import { integer, seconds } from './rows.ts';

/** How servers stop. */
export const STOP_SETTINGS = {
  graceMs: seconds('shutdown.grace_seconds', {
    timed: true,
    minimum: 0,
    default: 10,
    sentence:
      'How long running calls of every door may continue once the layer is asked to stop. What runs longer ends with E3811.',
  }),
  noticeMs: seconds('shutdown.notice_seconds', {
    timed: true,
    minimum: 0,
    default: 0,
    sentence: 'How long the doors go on taking calls after readiness said no, so that load balancers notice first.',
  }),
};

/** Event streams of one endpoint, for every door. */
export const STREAM_SETTINGS = {
  streamsMax: integer('server.streams_max', {
    unit: 'streams',
    minimum: 1,
    default: 1000,
    sentence:
      'Streams of events of one endpoint (REST, MCP gateway, MCP discovery) at once. Where a bound is reached, the oldest of the same agent and user ends for a new one; who has none is refused.',
  }),
  streamsPerTenantMax: integer('server.streams_per_tenant_max', {
    unit: 'streams',
    minimum: 1,
    default: 500,
    sentence: 'The same for one tenant.',
  }),
  streamsPerHolderMax: integer('server.streams_per_holder_max', {
    unit: 'streams',
    minimum: 1,
    default: 100,
    sentence: 'The same for one agent and user of a tenant.',
  }),
};
