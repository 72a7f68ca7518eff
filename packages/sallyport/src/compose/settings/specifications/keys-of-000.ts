import {
  numbersToTexts,
  patternLines,
  same,
  sameForAll,
  sameWith,
  textToList,
  whenFalse,
  words,
} from './conversions.ts';
import { allLeft, keysOf, left, type SourceKey, taken } from './source-key.ts';

const NO_REDIS = 'there is no Redis: instances share state through PostgreSQL (docs/instances.md)';
const NO_VAULT = 'there is no Vault: secrets come from the environment (docs/calls/credentials.md)';

const REGISTRY = keysOf('000', '§3.3.1', 'registry.', [
  taken('postgresql_connection_string', same('database.url')),
  taken('ollama_base_url', sameWith('search.embedder_url', { 'search.embedder': 'ollama' }), 'http://localhost:11434'),
  taken('embedding_model', sameWith('search.embedder_model', { 'search.embedder': 'ollama' }), 'mistral:7b'),
  left('embedding_dimensions', 'vectors are as long as the model makes them', 768),
  taken('semantic_search_threshold', same('search.threshold'), 0.7),
  taken('version_retention_policy.max_versions_per_tool', same('registry.max_versions_per_tool'), 5),
  taken('version_retention_policy.deprecation_warning_days', same('registry.deprecation_warning_days'), 90),
]);

const EXECUTOR = keysOf('000', '§3.3.2', 'executor.', [
  taken(
    'isolation_technology',
    words({
      gvisor: { 'sandbox.drivers': ['gvisor'], 'sandbox.isolation': 'user_kernel' },
      firecracker: { 'sandbox.drivers': ['firecracker'], 'sandbox.isolation': 'microvm' },
    }),
    'gvisor',
  ),
  taken('default_resource_limits.cpu_millicore_limit', same('calls.cpu_millicores'), 500),
  taken('default_resource_limits.memory_mb_limit', same('calls.memory_mb'), 1024),
  taken('default_resource_limits.timeout_seconds', same('calls.timeout_seconds'), 30),
  taken('concurrent_tools_per_agent', same('calls.per_agent_max', 'more calls wait for their turn'), 4),
  taken('sandbox_warm_pool.pool_size', same('sandbox.warm_max', 'for all agents together'), 10),
  taken('sandbox_warm_pool.enabled', whenFalse({ 'sandbox.warm_max': 0 }), false),
]);

const PERMISSION = keysOf('000', '§3.3.3', 'permission_checker.', [
  taken('jwt_public_key_path', same('tokens.public_key_file', 'name the issuer of its tokens in tokens.issuers')),
  taken('jwt_algorithm', textToList('tokens.algorithms'), 'RS256'),
  taken(
    'opa_endpoint',
    sameWith('permission.opa_endpoint', { 'permission.engines': ['opa'] }),
    'http://localhost:8181/v1/data/tool_execution/allow',
  ),
  taken('permission_cache.ttl_seconds', same('permission.cache_ttl_seconds'), 300),
  taken('permission_cache.enabled', whenFalse({ 'permission.cache_ttl_seconds': 0 }), true),
  left('permission_cache.redis_connection_string', NO_REDIS),
  left(
    'permission_cache.invalidation_channel',
    'the channel is always policy:updates, of PostgreSQL (docs/policies.md)',
    'policy:updates',
  ),
]);

const EXTERNAL = keysOf('000', '§3.3.4', 'external_adapter.', [
  ...allLeft(NO_VAULT, {
    'vault.address': undefined,
    'vault.auth_method': undefined,
    'vault.secret_path_prefix': 'secret/tool-execution',
  }),
  taken('rate_limiting.algorithm', same('rate.algorithm'), 'token_bucket'),
  left('rate_limiting.redis_connection_string', NO_REDIS),
  taken('rate_limiting.default_requests_per_minute', same('rate.external_per_minute'), 60),
  taken('rate_limiting.burst_size', same('rate.external_burst'), 10),
  taken(
    'retry.max_attempts',
    same('retry.attempts_max', 'a bound for all tools; retry_policy.max_attempts of a manifest is the number for one'),
    3,
  ),
  left('retry.base_delay_ms', 'each manifest says it: execution_config.retry_policy.base_delay_ms', 1000),
  left('retry.max_delay_ms', 'each manifest says it: execution_config.retry_policy.max_delay_ms', 60_000),
  taken('retry.jitter', same('retry.jitter'), 'full'),
  taken('retry.retryable_status_codes', numbersToTexts('retry.retryable_status_codes'), [429, 500, 502, 503, 504]),
]);

const CIRCUIT_BREAKER = keysOf('000', '§3.3.5', 'circuit_breaker.', [
  left('redis_connection_string', NO_REDIS),
  left('notification_channel', 'changes of a circuit are events (docs/calls/circuits.md)', 'circuit:state:changes'),
  taken('default_config.failure_rate_threshold', same('circuits.failure_rate_threshold'), 50),
  taken('default_config.slow_call_rate_threshold', same('circuits.slow_call_rate_threshold'), 100),
  taken('default_config.slow_call_duration_threshold_ms', same('circuits.slow_call_duration_threshold_ms'), 5000),
  taken('default_config.sliding_window_type', same('circuits.sliding_window_type'), 'count_based'),
  taken('default_config.sliding_window_size', same('circuits.sliding_window_size'), 100),
  taken('default_config.minimum_number_of_calls', same('circuits.minimum_number_of_calls'), 10),
  taken('default_config.wait_duration_in_open_state_seconds', same('circuits.wait_duration_in_open_state_seconds'), 60),
  taken(
    'default_config.permitted_number_of_calls_in_half_open_state',
    same('circuits.permitted_number_of_calls_in_half_open_state'),
    10,
  ),
  taken('half_open_strategy', same('circuits.half_open_strategy'), 'canary'),
]);

const COERCION = 'values are converted where nothing is lost, by fixed rules (docs/calls/validation.md)';
const PATTERN_PART = 'a part of an entry of patterns';

const VALIDATOR = keysOf('000', '§3.3.6', 'result_validator.', [
  taken('strict_mode', same('validation.strict_mode'), true),
  taken('type_coercion.enabled', sameForAll(['validation.coerce_results', 'validation.coerce_arguments']), true),
  ...allLeft(COERCION, {
    'type_coercion.rules': undefined,
    'type_coercion.rules[].from_type': undefined,
    'type_coercion.rules[].to_type': undefined,
    'type_coercion.rules[].coercion_function': undefined,
  }),
  taken('sanitization.patterns', patternLines('sanitise.patterns')),
  ...allLeft(PATTERN_PART, {
    'sanitization.patterns[].threat_type': undefined,
    'sanitization.patterns[].regex_pattern': undefined,
    'sanitization.patterns[].action': undefined,
  }),
  taken('sanitization.enabled', whenFalse({ 'sanitise.profile': 'off', 'sanitise.results_profile': 'off' }), true),
]);

/** Keys of specification 000 for the layer without its bridges. */
export const KEYS_OF_000: readonly SourceKey[] = [
  ...REGISTRY,
  ...EXECUTOR,
  ...PERMISSION,
  ...EXTERNAL,
  ...CIRCUIT_BREAKER,
  ...VALIDATOR,
];
