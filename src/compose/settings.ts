import { MiB } from '../std/bytes.ts';

/** One row of the settings table: the key in the TOML file, the variable that overrides it, and what it means. */
export interface Setting {
  readonly key: string;
  readonly variable: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'list';
  readonly unit?: string;
  readonly default: string | number | boolean | readonly string[];
  readonly minimum?: number;
  readonly oneOf?: readonly string[];
  readonly sentence: string;
}

/** Everything that can be set. A list is written with commas in a variable. */
export const SETTINGS = [
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
    key: 'registry.max_versions_per_tool',
    variable: 'SALLYPORT_MAX_VERSIONS_PER_TOOL',
    type: 'integer',
    unit: 'versions',
    minimum: 1,
    default: 5,
    sentence: 'Versions of one tool beside each other; more make the oldest leave that nobody uses.',
  },
  {
    key: 'registry.deprecation_warning_days',
    variable: 'SALLYPORT_DEPRECATION_WARNING_DAYS',
    type: 'integer',
    unit: 'days',
    minimum: 0,
    default: 90,
    sentence: 'Time between the deprecation of a version and its removal, unless it is forced.',
  },
  {
    key: 'registry.in_use_days',
    variable: 'SALLYPORT_IN_USE_DAYS',
    type: 'integer',
    unit: 'days',
    minimum: 0,
    default: 30,
    sentence: 'A version that was called within this time is in use and not made to leave.',
  },
  {
    key: 'tokens.mode',
    variable: 'SALLYPORT_TOKENS',
    type: 'string',
    oneOf: ['required', 'development'],
    default: 'required',
    sentence:
      'required: every call carries a capability token. development: calls without one may do anything; loopback only, and loudly.',
  },
  {
    key: 'tokens.issuers',
    variable: 'SALLYPORT_TOKEN_ISSUERS',
    type: 'list',
    default: ['sallyport'],
    sentence: 'Issuers whose tokens are accepted.',
  },
  {
    key: 'tokens.public_key_file',
    variable: 'SALLYPORT_TOKEN_PUBLIC_KEY_FILE',
    type: 'string',
    default: '',
    sentence: "PEM file with the RSA public key of a foreign issuer, accepted beside the layer's own key.",
  },
  {
    key: 'tokens.clock_skew_seconds',
    variable: 'SALLYPORT_TOKEN_CLOCK_SKEW_SECONDS',
    type: 'integer',
    unit: 'seconds',
    minimum: 0,
    default: 5,
    sentence: 'How far the clock of an issuer may be off.',
  },
  {
    key: 'calls.max',
    variable: 'SALLYPORT_CALLS_MAX',
    type: 'integer',
    unit: 'calls',
    minimum: 1,
    default: 1000,
    sentence: 'Calls under way at once; more are refused with E3803.',
  },
  {
    key: 'calls.per_agent_max',
    variable: 'SALLYPORT_CALLS_PER_AGENT_MAX',
    type: 'integer',
    unit: 'calls',
    minimum: 1,
    default: 4,
    sentence: 'Calls of one agent under way at once; more are refused with E3106.',
  },
  {
    key: 'calls.argument_depth_max',
    variable: 'SALLYPORT_ARGUMENT_DEPTH_MAX',
    type: 'integer',
    unit: 'levels',
    minimum: 1,
    default: 64,
    sentence: 'Deepest nesting of arguments.',
  },
  {
    key: 'calls.argument_bytes_max',
    variable: 'SALLYPORT_ARGUMENT_BYTES_MAX',
    type: 'integer',
    unit: 'bytes',
    minimum: 1,
    default: 1 * MiB,
    sentence: 'Largest text within the arguments of a call.',
  },
  {
    key: 'calls.timeout_seconds',
    variable: 'SALLYPORT_TIMEOUT_SECONDS',
    type: 'number',
    unit: 'seconds',
    minimum: 0.001,
    default: 30,
    sentence: 'Timeout of a tool that names none.',
  },
  {
    key: 'calls.timeout_seconds_max',
    variable: 'SALLYPORT_TIMEOUT_SECONDS_MAX',
    type: 'number',
    unit: 'seconds',
    minimum: 0.001,
    default: 900,
    sentence: 'Longest timeout of a synchronous call.',
  },
  {
    key: 'calls.cpu_millicores',
    variable: 'SALLYPORT_CPU_MILLICORES',
    type: 'integer',
    unit: 'millicores',
    minimum: 1,
    default: 500,
    sentence: 'CPU of a tool that names no limit.',
  },
  {
    key: 'calls.memory_mb',
    variable: 'SALLYPORT_MEMORY_MB',
    type: 'integer',
    unit: 'MB',
    minimum: 1,
    default: 1024,
    sentence: 'Memory of a tool that names no limit.',
  },
  {
    key: 'calls.output_bytes_max',
    variable: 'SALLYPORT_OUTPUT_BYTES_MAX',
    type: 'integer',
    unit: 'bytes',
    minimum: 1,
    default: 1 * MiB,
    sentence: 'A result is cut beyond this when its tool names no limit.',
  },
  {
    key: 'rate.external_per_minute',
    variable: 'SALLYPORT_RATE_EXTERNAL_PER_MINUTE',
    type: 'integer',
    unit: 'calls',
    minimum: 1,
    default: 60,
    sentence: 'Calls a minute to an HTTP tool that names no rate limit.',
  },
  {
    key: 'rate.external_burst',
    variable: 'SALLYPORT_RATE_EXTERNAL_BURST',
    type: 'integer',
    unit: 'calls',
    minimum: 1,
    default: 10,
    sentence: 'Size of that token bucket.',
  },
  {
    key: 'idempotency.ttl_seconds',
    variable: 'SALLYPORT_IDEMPOTENCY_TTL_SECONDS',
    type: 'integer',
    unit: 'seconds',
    minimum: 1,
    default: 86_400,
    sentence: 'How long an idempotency key stays taken.',
  },
  {
    key: 'agent.cpu_millicores',
    variable: 'SALLYPORT_AGENT_CPU_MILLICORES',
    type: 'integer',
    unit: 'millicores',
    minimum: 1,
    default: 2000,
    sentence: 'Most CPU that a tool of any agent may ask for.',
  },
  {
    key: 'agent.memory_mb',
    variable: 'SALLYPORT_AGENT_MEMORY_MB',
    type: 'integer',
    unit: 'MB',
    minimum: 1,
    default: 4096,
    sentence: 'Most memory that a tool of any agent may ask for.',
  },
  {
    key: 'agent.allowed_hosts',
    variable: 'SALLYPORT_AGENT_ALLOWED_HOSTS',
    type: 'list',
    default: ['*'],
    sentence: 'Hosts that tools of any agent may reach; the token narrows them further.',
  },
  {
    key: 'agent.mounts',
    variable: 'SALLYPORT_AGENT_MOUNTS',
    type: 'list',
    default: ['/:rw'],
    sentence: 'Paths, each with :ro or :rw, that tools of any agent may see; the token narrows them further.',
  },
  {
    key: 'mcp.tools',
    variable: 'SALLYPORT_MCP_TOOLS',
    type: 'string',
    oneOf: ['all', 'meta', 'auto'],
    default: 'all',
    sentence:
      'What MCP clients that do not choose are shown. all: every tool. meta: three tools that find, describe and call the others. auto: meta for who sees many.',
  },
  {
    key: 'mcp.auto_tools_max',
    variable: 'SALLYPORT_MCP_AUTO_TOOLS_MAX',
    type: 'integer',
    unit: 'tools',
    minimum: 0,
    default: 100,
    sentence: 'Most tools that auto shows one by one.',
  },
  {
    key: 'search.embedder',
    variable: 'SALLYPORT_SEARCH_EMBEDDER',
    type: 'string',
    oneOf: ['local', 'ollama', 'openai', 'none'],
    default: 'local',
    sentence:
      'What finds tools by meaning. local: a model in this process, without network. openai: any server that speaks as OpenAI does; it reads all descriptions and queries. none: keywords only.',
  },
  {
    key: 'search.embedder_url',
    variable: 'SALLYPORT_SEARCH_EMBEDDER_URL',
    type: 'string',
    default: '',
    sentence: "Address of that server; empty is http://127.0.0.1:11434 for ollama, and OpenAI's own for openai.",
  },
  {
    key: 'search.embedder_model',
    variable: 'SALLYPORT_SEARCH_EMBEDDER_MODEL',
    type: 'string',
    default: '',
    sentence: 'Model of that server; empty is nomic-embed-text for ollama and text-embedding-3-small for openai.',
  },
  {
    key: 'search.embedder_secret',
    variable: 'SALLYPORT_SEARCH_EMBEDDER_SECRET',
    type: 'string',
    default: '',
    sentence: 'Name of the secret that holds the key for that server; empty sends none.',
  },
  {
    key: 'search.threshold',
    variable: 'SALLYPORT_SEARCH_THRESHOLD',
    type: 'number',
    unit: 'similarity, 0 to 1',
    minimum: 0,
    default: 0.7,
    sentence:
      'Least similarity of a tool that no word of the query occurs in; the same number means the same for every model.',
  },
  {
    key: 'search.vector_index',
    variable: 'SALLYPORT_SEARCH_VECTOR_INDEX',
    type: 'string',
    oneOf: ['process', 'pgvector'],
    default: 'process',
    sentence: 'Where vectors are compared: in this process, or in a PostgreSQL that has pgvector.',
  },
  {
    key: 'audit.jsonl',
    variable: 'SALLYPORT_AUDIT_JSONL',
    type: 'boolean',
    default: true,
    sentence: 'Whether events also go to audit.jsonl in the data folder.',
  },
  {
    key: 'audit.checkpoint_seconds',
    variable: 'SALLYPORT_AUDIT_CHECKPOINT_SECONDS',
    type: 'number',
    unit: 'seconds',
    minimum: 0.05,
    default: 60,
    sentence: 'How often the head of the hash chain is signed while there are new events.',
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
    sentence: 'How long running calls may go on after the layer was told to stop.',
  },
] as const satisfies readonly Setting[];

type Row = (typeof SETTINGS)[number];
type ValueOf<R extends Row> = R extends { readonly type: 'integer' | 'number' }
  ? number
  : R extends { readonly type: 'boolean' }
    ? boolean
    : R extends { readonly type: 'list' }
      ? readonly string[]
      : R extends { readonly oneOf: readonly (infer One)[] }
        ? One
        : string;

/** Values of all settings by key. */
export type Settings = { readonly [R in Row as R['key']]: ValueOf<R> };
