import { MiB } from '../../std/bytes.ts';
import type { Setting } from './setting.ts';

/** Where the layer listens, what it keeps and how it stops. */
export const SERVER_SETTINGS = [
  {
    key: 'data_folder',
    variable: 'SALLYPORT_DATA_FOLDER',
    type: 'string',
    default: '.sallyport',
    sentence: 'Folder of the embedded database, the keys, the policies and the audit file.',
  },
  {
    key: 'server.host',
    variable: 'SALLYPORT_HOST',
    type: 'string',
    default: '127.0.0.1',
    sentence: 'Address to listen on; anything but a loopback address opens the layer to the network.',
  },
  {
    key: 'server.port',
    variable: 'SALLYPORT_PORT',
    type: 'integer',
    minimum: 0,
    default: 7420,
    sentence: 'Port to listen on; 0 takes a free one.',
  },
  {
    key: 'server.public_url',
    variable: 'SALLYPORT_PUBLIC_URL',
    type: 'string',
    default: '',
    sentence:
      'Address that clients know, such as https://tools.example.com, told to OAuth clients and accepted in aud of access tokens; empty: the one that a request names, over http.',
  },
  {
    key: 'server.body_bytes_max',
    variable: 'SALLYPORT_BODY_BYTES_MAX',
    type: 'integer',
    unit: 'bytes',
    minimum: 1024,
    default: 1 * MiB,
    sentence: 'Largest body of a request; imports of documents may be 16 times as large.',
  },
  {
    key: 'server.allowed_hosts',
    variable: 'SALLYPORT_ALLOWED_HOSTS',
    type: 'list',
    default: [],
    sentence: 'Host names that requests may name beside the loopback ones.',
  },
  {
    key: 'database.url',
    variable: 'SALLYPORT_DATABASE_URL',
    type: 'string',
    default: '',
    sentence: 'PostgreSQL 15 or newer to use instead of the embedded one, as postgres://user@host/name.',
  },
  {
    key: 'database.pool_max',
    variable: 'SALLYPORT_DATABASE_POOL_MAX',
    type: 'integer',
    unit: 'connections',
    minimum: 2,
    default: 16,
    sentence: 'Connections to the database at most.',
  },
  {
    key: 'tenant.default',
    variable: 'SALLYPORT_TENANT',
    type: 'string',
    default: 'default',
    sentence: 'Tenant that the command line and an embedding program act for.',
  },
  {
    key: 'tenant.catalog',
    variable: 'SALLYPORT_TENANT_CATALOG',
    type: 'string',
    default: 'catalog',
    sentence: 'Tenant whose tools are on offer to every tenant. To change anything in it takes the role admin.',
  },
  {
    key: 'secrets.shared',
    variable: 'SALLYPORT_SECRETS_SHARED',
    type: 'list',
    default: [],
    sentence:
      'Names of secrets in the environment that belong to tenant.default and that every tenant may use; * for all of them.',
  },
  {
    key: 'log.level',
    variable: 'SALLYPORT_LOG_LEVEL',
    type: 'string',
    oneOf: ['debug', 'info', 'warn', 'error', 'silent'],
    default: 'warn',
    sentence: 'Least level of the log lines on standard error.',
  },
  {
    key: 'shutdown.grace_seconds',
    variable: 'SALLYPORT_SHUTDOWN_GRACE_SECONDS',
    type: 'number',
    unit: 'seconds',
    minimum: 0,
    default: 10,
    sentence:
      'How long running calls of every door may go on after the layer was told to stop. What runs longer ends with E3811.',
  },
  {
    key: 'shutdown.notice_seconds',
    variable: 'SALLYPORT_SHUTDOWN_NOTICE_SECONDS',
    type: 'number',
    unit: 'seconds',
    minimum: 0,
    default: 0,
    sentence: 'How long the doors go on taking calls after readiness said no, so that load balancers notice first.',
  },
] as const satisfies readonly Setting[];
