import { integer, list, oneOf, text } from '../../domain/settings/rows.ts';

/** Address, storage and tenants of the layer. */
export const SERVER_ROWS = [
  text('data_folder', {
    default: '.sallyport',
    sentence: 'Folder of the embedded database, the keys, the policies and the audit file.',
  }),
  text('server.host', {
    default: '127.0.0.1',
    sentence: 'Address to listen on; anything but a loopback address opens the layer to the network.',
  }),
  integer('server.port', {
    minimum: 0,
    maximum: 65_535,
    default: 7420,
    sentence: 'Port to listen on; 0 takes a free one.',
  }),
  text('server.public_url', {
    default: '',
    sentence:
      'Address that clients know, such as https://tools.example.com, given to OAuth clients and accepted in aud of access tokens; empty: the one that a request names, over http.',
  }),
  text('database.url', {
    default: '',
    sentence: 'PostgreSQL 15 or newer to use instead of the embedded one, as postgres://user@host/name.',
  }),
  integer('database.pool_max', {
    unit: 'connections',
    minimum: 2,
    default: 16,
    sentence:
      'Connections to the database at most; with a database of your own, three more listen for changed policies, for changed documents and for slots of agents.',
  }),
  text('tenant.default', {
    default: 'default',
    sentence: 'Tenant that the command line and an embedding program act for.',
  }),
  list('tenant.may_run_programs', {
    default: [],
    sentence:
      'Tenants beside tenant.default and tenant.catalog whose stdio upstreams, shell tools, skills and modules in processes of their own may start programs of this machine; * for all.',
  }),
  text('tenant.catalog', {
    default: 'catalog',
    sentence: 'Tenant whose tools are on offer to every tenant. To change anything in it takes the role admin.',
  }),
  list('secrets.shared', {
    default: [],
    sentence:
      'Names of secrets in the environment that belong to tenant.default and that every tenant may use; * for all of them.',
  }),
  text('secrets.key_file', {
    default: '',
    sentence:
      'File with the key that encrypts secrets of upstreams and arguments of waiting calls in the database: 32 bytes in base64, the same for every instance. Without it the embedded database has one in the data folder, and a database of your own none.',
  }),
  oneOf('log.level', ['debug', 'info', 'warn', 'error', 'silent'], {
    default: 'warn',
    sentence: 'Least level of the log lines on standard error.',
  }),
];
