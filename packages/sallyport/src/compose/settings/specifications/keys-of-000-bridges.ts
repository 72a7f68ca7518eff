import { msToSeconds, same, yearsToDays } from './conversions.ts';
import { allLeft, keysOf, left, type SourceKey, taken } from './source-key.ts';

const CONTEXT_SERVER = 'the context server is an upstream, which the layer starts (docs/tools/context.md)';
const IN_THE_DATABASE = 'checkpoints are in the database';
const IN_MANIFEST = 'a member of the same name in the manifest of a tool (docs/tools/registry.md)';

const DOCUMENTS = keysOf('000', '§3.3.7', 'document_bridge.', [
  ...allLeft('the document server is an upstream, which the layer starts itself', {
    'mcp_server.pm2_process_name': 'doc-bridge-mcp',
    'mcp_server.startup_timeout_ms': 5000,
  }),
  taken('mcp_server.request_timeout_ms', msToSeconds('document_bridge.request_timeout_seconds'), 30_000),
  taken('mcp_server.max_retries', same('document_bridge.retries_max'), 3),
  left('cache.enabled', 'document_bridge.cache_bytes_max = 0 remembers nothing', true),
  left('cache.redis_connection_string', 'the cache is in the memory of an instance'),
  taken('cache.hot_cache_ttl_seconds', same('document_bridge.content_ttl_seconds'), 300),
  taken('cache.metadata_cache_ttl_seconds', same('document_bridge.metadata_ttl_seconds'), 600),
  left('cache.invalidation_channel', 'always document:updates', 'document:updates'),
  taken('version_pinning.enabled', same('document_bridge.version_pinning'), true),
  left('version_pinning.pin_storage', 'pins are in the database, beside the row of the call', 'checkpoint'),
  left('permissions.check_enabled', 'the policies are always asked', true),
  taken('permissions.abac_endpoint', same('permission.abac_endpoint', 'the endpoint for calls too')),
]);

const CHECKPOINTS = keysOf('000', '§3.3.8', 'state_bridge.', [
  ...allLeft(CONTEXT_SERVER, {
    'mcp_server.pm2_process_name': 'state-bridge-mcp',
    'mcp_server.startup_timeout_ms': 5000,
  }),
  taken('mcp_server.request_timeout_ms', msToSeconds('context.timeout_seconds'), 10_000),
  left('checkpointing.micro_checkpoints.enabled', 'the tool decides; a call switches the timer off', true),
  taken('checkpointing.micro_checkpoints.interval_seconds', same('checkpoints.interval_seconds'), 30),
  left('checkpointing.micro_checkpoints.storage', IN_THE_DATABASE, 'redis'),
  taken('checkpointing.micro_checkpoints.ttl_seconds', same('checkpoints.micro_ttl_seconds'), 3600),
  left('checkpointing.macro_checkpoints.enabled', 'the tool decides', true),
  left('checkpointing.macro_checkpoints.storage', IN_THE_DATABASE, 'postgresql'),
  taken('checkpointing.macro_checkpoints.retention_days', same('checkpoints.macro_days'), 90),
  left(
    'checkpointing.macro_checkpoints.archive_storage',
    'object_store.kind, which needs the address of a bucket',
    's3',
  ),
  taken('checkpointing.macro_checkpoints.archive_retention_years', yearsToDays('checkpoints.archive_days'), 7),
  left('checkpointing.named_checkpoints.enabled', 'the tool decides', true),
  left('checkpointing.named_checkpoints.storage', IN_THE_DATABASE, 'postgresql'),
  left('checkpointing.named_checkpoints.retention', 'always kept until they are deleted', 'indefinite'),
  ...allLeft('always on, above 10 KB, with zstd: it costs less than the bytes that it saves', {
    'delta_encoding.enabled': true,
    'delta_encoding.threshold_kb': 100,
    'compression.enabled': true,
    'compression.algorithm': 'gzip',
    'compression.threshold_kb': 10,
  }),
]);

const OF_A_CALL = keysOf(
  '000',
  '§4.1.1',
  'checkpoint_config.',
  allLeft('a member of a call (docs/calls/checkpoints.md)', {
    enable_checkpointing: true,
    checkpoint_interval_seconds: 30,
    resume_from_checkpoint_id: undefined,
  }),
);

const OF_A_CREDENTIAL = keysOf('000', '§5.1.6', 'ExternalServiceCredential.', [
  left('credential_value', 'a variable of the environment (docs/calls/credentials.md)'),
  ...allLeft('a member of the same name in credentials.toml (docs/calls/credentials.md)', {
    credential_type: undefined,
    expires_at: undefined,
    rotation_schedule: undefined,
    'metadata.service_name': undefined,
    'metadata.scopes': undefined,
  }),
]);

const OF_A_MANIFEST = keysOf('000', '§5.2.1', '', [
  ...allLeft(IN_MANIFEST, {
    tool_id: undefined,
    tool_name: undefined,
    description: undefined,
    category: undefined,
    version: undefined,
    parameters_schema: undefined,
    result_schema: undefined,
    'permissions.filesystem': undefined,
    'permissions.filesystem[].path': undefined,
    'permissions.filesystem[].mode': undefined,
    'permissions.network': undefined,
    'permissions.network[].host': undefined,
    'permissions.network[].port': undefined,
    'permissions.credentials': undefined,
    'execution_config.default_timeout_seconds': 30,
    'execution_config.default_cpu_millicore_limit': 500,
    'execution_config.default_memory_mb_limit': 1024,
    'execution_config.requires_approval': false,
    'execution_config.retry_policy.max_attempts': 3,
    'execution_config.retry_policy.base_delay_ms': 1000,
    'execution_config.retry_policy.max_delay_ms': 60_000,
    'execution_config.retry_policy.retryable_errors': undefined,
    'execution_config.circuit_breaker_config.failure_rate_threshold': undefined,
    'execution_config.circuit_breaker_config.sliding_window_size': undefined,
    'execution_config.circuit_breaker_config.wait_duration_seconds': undefined,
  }),
]);

/** Keys of specification 000 for the bridges, and for one call, credential or manifest. */
export const KEYS_OF_000_BRIDGES: readonly SourceKey[] = [
  ...DOCUMENTS,
  ...CHECKPOINTS,
  ...OF_A_CALL,
  ...OF_A_CREDENTIAL,
  ...OF_A_MANIFEST,
];
