import type { Settings } from '../../settings.ts';

/** A configuration in the format of a specification, and the settings that it is converted to. */
export interface SpecificationFile {
  readonly name: string;
  readonly text: string;
  readonly settings: Partial<Settings>;
}

/** Specification 000, as YAML. */
const LAYER: SpecificationFile = {
  name: 'layer.yaml',
  text: `
registry:
  ollama_base_url: http://127.0.0.1:11434
  embedding_model: "mistral:7b"
  embedding_dimensions: 768
  semantic_search_threshold: 0.6
  version_retention_policy: { max_versions_per_tool: 7, deprecation_warning_days: 30 }
executor:
  isolation_technology: gvisor
  default_resource_limits: { cpu_millicore_limit: 250, memory_mb_limit: 256, timeout_seconds: 20 }
  concurrent_tools_per_agent: 4
  sandbox_warm_pool: { enabled: false, pool_size: 10 }
permission_checker:
  jwt_algorithm: PS256
  opa_endpoint: http://127.0.0.1:8181/v1/data/tool_execution/allow
  permission_cache: { enabled: true, ttl_seconds: 120, redis_connection_string: null }
external_adapter:
  rate_limiting: { algorithm: sliding_window, default_requests_per_minute: 30, burst_size: 5 }
  retry:
    max_attempts: 4
    base_delay_ms: 1000
    jitter: equal
    retryable_status_codes: [429, 503]
circuit_breaker:
  default_config:
    failure_rate_threshold: 40
    slow_call_rate_threshold: 90
    slow_call_duration_threshold_ms: 4000
    sliding_window_type: time_based
    sliding_window_size: 60
    minimum_number_of_calls: 5
    wait_duration_in_open_state_seconds: 45
    permitted_number_of_calls_in_half_open_state: 3
  half_open_strategy: all_or_nothing
result_validator:
  strict_mode: false
  type_coercion: { enabled: false }
  sanitization:
    enabled: true
    patterns:
      - { threat_type: xss, regex_pattern: "onload *=", action: reject }
`,
  settings: {
    'search.embedder': 'ollama',
    'search.embedder_url': 'http://127.0.0.1:11434',
    'search.embedder_model': 'mistral:7b',
    'search.threshold': 0.6,
    'registry.max_versions_per_tool': 7,
    'registry.deprecation_warning_days': 30,
    'sandbox.drivers': ['gvisor'],
    'sandbox.isolation': 'user_kernel',
    'calls.cpu_millicores': 250,
    'calls.memory_mb': 256,
    'calls.timeout_seconds': 20,
    'calls.per_agent_max': 4,
    'sandbox.warm_max': 0,
    'tokens.algorithms': ['PS256'],
    'permission.opa_endpoint': 'http://127.0.0.1:8181/v1/data/tool_execution/allow',
    'permission.engines': ['opa'],
    'permission.cache_ttl_seconds': 120,
    'rate.algorithm': 'sliding_window',
    'rate.external_per_minute': 30,
    'rate.external_burst': 5,
    'retry.attempts_max': 4,
    'retry.jitter': 'equal',
    'retry.retryable_status_codes': ['429', '503'],
    'circuits.failure_rate_threshold': 40,
    'circuits.slow_call_rate_threshold': 90,
    'circuits.slow_call_duration_threshold_ms': 4000,
    'circuits.sliding_window_type': 'time_based',
    'circuits.sliding_window_size': 60,
    'circuits.minimum_number_of_calls': 5,
    'circuits.wait_duration_in_open_state_seconds': 45,
    'circuits.permitted_number_of_calls_in_half_open_state': 3,
    'circuits.half_open_strategy': 'all_or_nothing',
    'validation.strict_mode': false,
    'validation.coerce_results': false,
    'validation.coerce_arguments': false,
    'sanitise.patterns': ['xss reject onload *='],
  },
};

/** Specification 001, as JSON: milliseconds, bytes and retries. */
const LIMITS: SpecificationFile = {
  name: 'limits.json',
  text: '{"maxRetries": 3, "resourceLimits": {"maxExecutionTime": 1500, "maxMemory": 268435456, "maxFileSize": 1048576}}',
  settings: {
    'retry.attempts_max': 4,
    'calls.timeout_seconds': 1.5,
    'calls.memory_mb': 256,
    'calls.disk_mb': 1,
  },
};

/** Specification 002, as TOML. */
const TOOLS: SpecificationFile = {
  name: 'tools.toml',
  text: `
[agent]
hallucination_detection = false
[tools]
max_tool_calls_per_session = 100
[tools.file]
deny_read = ["**/.env"]
allow_read = ["**/*.md"]
[tools.retry]
max_attempts = 2
budget_secs = 12
[tools.shell]
transactional = true
transaction_scope = ["src/**"]
auto_rollback = true
auto_rollback_exit_codes = [1, 3]
snapshot_required = true
max_snapshot_bytes = 1048576
[tools.adversarial_policy]
enabled = false
fail_open = false
policies = ["Nothing is deleted."]
exempt_tools = ["memory_save"]
`,
  settings: {
    'quota.calls_per_session': 100,
    'file.deny_read': ['**/.env'],
    'file.allow_read': ['**/*.md'],
    'retry.attempts_max': 2,
    'retry.budget_seconds': 12,
    'shell.transactional': true,
    'shell.transaction_scope': ['src/**'],
    'shell.auto_rollback_exit_codes': ['1', '3'],
    'shell.snapshot_required': true,
    'shell.max_snapshot_bytes': 1_048_576,
    'gate.enabled': false,
    'gate.fail_open': false,
    'gate.policies': ['Nothing is deleted.'],
    'gate.exempt_tools': ['memory_save'],
  },
};

/** Specification 003, as JSON. */
const CONTEXT: SpecificationFile = {
  name: 'context.json',
  text: '{"config": {"timeout": 15000, "retry_max_attempts": 3, "rate_limit_per_minute": 90}, "session_context": {"user_id": "u"}}',
  settings: { 'calls.timeout_seconds': 15, 'retry.attempts_max': 3, 'rate.external_per_minute': 90 },
};

/** Specification 004, as TOML. */
const TOOLBOX: SpecificationFile = {
  name: 'toolbox.toml',
  text: `
[toolbox]
default_idempotency_ttl = 3600
max_batch_size = 10
default_timeout = 25
[tool_gateway.providers.composio]
api_key_env = "COMPOSIO_API_KEY"
[tool_gateway.providers.http]
max_retries = 3
[tool_gateway.idempotency]
backend = "redis"
default_ttl = 3600
`,
  settings: { 'idempotency.ttl_seconds': 3600, 'calls.timeout_seconds': 25, 'retry.attempts_max': 4 },
};

/** A file for each specification. */
export const SPECIFICATION_FILES: readonly SpecificationFile[] = [LAYER, LIMITS, TOOLS, CONTEXT, TOOLBOX];
