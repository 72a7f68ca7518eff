import { MiB } from '@sallyport/std/bytes';
import type { Setting } from './setting.ts';

/** Where the layer listens, what it keeps and how it stops. */
export const SERVER_SETTINGS = [
  {
    key: 'data_folder',
    type: 'string',
    default: '.sallyport',
    sentence: 'Folder of the embedded database, the keys, the policies and the audit file.',
  },
  {
    key: 'server.host',
    type: 'string',
    default: '127.0.0.1',
    sentence: 'Address to listen on; anything but a loopback address opens the layer to the network.',
  },
  {
    key: 'server.port',
    type: 'integer',
    minimum: 0,
    default: 7420,
    sentence: 'Port to listen on; 0 takes a free one.',
  },
  {
    key: 'server.public_url',
    type: 'string',
    default: '',
    sentence:
      'Address that clients know, such as https://tools.example.com, told to OAuth clients and accepted in aud of access tokens; empty: the one that a request names, over http.',
  },
  {
    key: 'server.body_bytes_max',
    type: 'integer',
    unit: 'bytes',
    minimum: 1024,
    default: 1 * MiB,
    sentence: 'Largest body of a request; imports of documents may be 16 times as large.',
  },
  {
    key: 'server.bodies_bytes_max',
    type: 'integer',
    unit: 'bytes',
    minimum: 1 * MiB,
    default: 64 * MiB,
    sentence:
      'Bodies of requests that are being read at once, together; a quarter is for senders whose credential was not looked at yet. Beyond it requests are refused with E3803 and Retry-After.',
  },
  {
    key: 'server.allowed_hosts',
    type: 'list',
    default: [],
    sentence: 'Host names that requests may name beside the loopback ones.',
  },
  {
    key: 'server.allowed_origins',
    type: 'list',
    default: [],
    sentence:
      'Origins of browser pages whose requests the REST and MCP doors take, such as https://console.example.com. Pages of the layer itself always may.',
  },
  {
    key: 'server.sessions_max',
    type: 'integer',
    unit: 'sessions',
    minimum: 1,
    default: 10_000,
    sentence:
      'Sessions of one MCP endpoint at once. Where a bound is reached, the oldest of the same agent and user ends for a new one; who has none is refused.',
  },
  {
    key: 'server.sessions_per_tenant_max',
    type: 'integer',
    unit: 'sessions',
    minimum: 1,
    default: 5_000,
    sentence: 'The same for one tenant.',
  },
  {
    key: 'server.sessions_per_holder_max',
    type: 'integer',
    unit: 'sessions',
    minimum: 1,
    default: 500,
    sentence: 'The same for one agent and user of a tenant.',
  },
  {
    key: 'server.streams_max',
    type: 'integer',
    unit: 'streams',
    minimum: 1,
    default: 1_000,
    sentence:
      'Streams of events of one endpoint (REST, MCP gateway, MCP discovery) at once. Where a bound is reached, the oldest of the same agent and user ends for a new one; who has none is refused.',
  },
  {
    key: 'server.streams_per_tenant_max',
    type: 'integer',
    unit: 'streams',
    minimum: 1,
    default: 500,
    sentence: 'The same for one tenant.',
  },
  {
    key: 'server.streams_per_holder_max',
    type: 'integer',
    unit: 'streams',
    minimum: 1,
    default: 100,
    sentence: 'The same for one agent and user of a tenant.',
  },
  {
    key: 'database.url',
    type: 'string',
    default: '',
    sentence: 'PostgreSQL 15 or newer to use instead of the embedded one, as postgres://user@host/name.',
  },
  {
    key: 'database.pool_max',
    type: 'integer',
    unit: 'connections',
    minimum: 2,
    default: 16,
    sentence: 'Connections to the database at most.',
  },
  {
    key: 'tenant.default',
    type: 'string',
    default: 'default',
    sentence: 'Tenant that the command line and an embedding program act for.',
  },
  {
    key: 'tenant.may_run_programs',
    type: 'list',
    default: [],
    sentence:
      'Tenants beside tenant.default and tenant.catalog whose stdio upstreams, shell tools, skills and modules in processes of their own may start programs of this machine; * for all.',
  },
  {
    key: 'tenant.catalog',
    type: 'string',
    default: 'catalog',
    sentence: 'Tenant whose tools are on offer to every tenant. To change anything in it takes the role admin.',
  },
  {
    key: 'secrets.shared',
    type: 'list',
    default: [],
    sentence:
      'Names of secrets in the environment that belong to tenant.default and that every tenant may use; * for all of them.',
  },
  {
    key: 'log.level',
    type: 'string',
    oneOf: ['debug', 'info', 'warn', 'error', 'silent'],
    default: 'warn',
    sentence: 'Least level of the log lines on standard error.',
  },
  {
    key: 'shutdown.grace_seconds',
    type: 'number',
    unit: 'seconds',
    minimum: 0,
    default: 10,
    sentence:
      'How long running calls of every door may go on after the layer was told to stop. What runs longer ends with E3811.',
  },
  {
    key: 'shutdown.notice_seconds',
    type: 'number',
    unit: 'seconds',
    minimum: 0,
    default: 0,
    sentence: 'How long the doors go on taking calls after readiness said no, so that load balancers notice first.',
  },
] as const satisfies readonly Setting[];
