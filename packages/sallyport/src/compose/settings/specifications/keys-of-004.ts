import { retriesToAttempts, same } from './conversions.ts';
import { allLeft, keysOf, left, type SourceKey, taken } from './source-key.ts';

const KEYS_IN_ROWS = 'keys are in the database, so that they outlive the instance that took them';
const IN_MANIFEST = 'a member of the same name in the manifest';

const TOOLBOX = keysOf('004', '§11', 'toolbox.', [
  taken('default_idempotency_ttl', same('idempotency.ttl_seconds'), 86_400),
  left('max_batch_size', 'maxBatchSize of createToolbox (docs/calls/toolbox.md)', 10),
  taken('default_timeout', same('calls.timeout_seconds'), 30),
]);

const GATEWAY = keysOf('004', '§11', 'tool_gateway.', [
  left(
    'providers.composio.api_key_env',
    'put the value of that variable into SALLYPORT_SECRET_COMPOSIO_API_KEY (docs/tool-kinds/composio.md)',
    'COMPOSIO_API_KEY',
  ),
  taken('providers.http.default_timeout', same('calls.timeout_seconds', 'for tools of every kind'), 30),
  taken('providers.http.max_retries', retriesToAttempts('retry.attempts_max'), 3),
  left('idempotency.backend', KEYS_IN_ROWS, 'redis'),
  left('idempotency.key_prefix', KEYS_IN_ROWS, 'tool_idem'),
  taken('idempotency.default_ttl', same('idempotency.ttl_seconds'), 86_400),
]);

const DEFINITION = keysOf('004', '§2.1', 'ToolDefinition.', [
  left('id', 'tool_id of the manifest'),
  left('tenant_id', 'the tenant whose operator registers the tool'),
  left('name', 'tool_name of the manifest'),
  left('gateway', 'executor.kind of the manifest: composio, http, native', undefined),
  left('gateway_config', 'executor.config of the manifest', {}),
  left('parameter_schema', 'parameters_schema of the manifest', {}),
  left('categories', 'category and tags of the manifest', []),
  left('side_effect_policy', `${IN_MANIFEST}; without it a tool counts as irreversible`, 'pure'),
  ...allLeft(IN_MANIFEST, {
    description: undefined,
    compensation_tool_id: undefined,
    requires_confirmation: false,
    confirmation_prompt: undefined,
  }),
]);

const PROVIDERS = [
  ...keysOf('004', '§4.1, §7.2', 'gateway_config.', [left('idempotency_key_fields', IN_MANIFEST, [])]),
  ...keysOf('004', '§8.2', 'gateway_config.', [
    left('composio_action', 'executor.config of a tool of kind composio (docs/tool-kinds/composio.md)'),
    left('entity_id', 'executor.config of a tool of kind composio (docs/tool-kinds/composio.md)'),
    left('url', 'executor.config of a tool of kind http (docs/tool-kinds/http.md)'),
    left('method', 'executor.config of a tool of kind http (docs/tool-kinds/http.md)', 'POST'),
    left('headers', 'executor.config of a tool of kind http (docs/tool-kinds/http.md)', {}),
    left('timeout', 'execution_config.default_timeout_seconds of the manifest', 30),
  ]),
];

const ACTIVATION = keysOf(
  '004',
  '§2.2',
  'ToolActivation.',
  allLeft('an activation of the agent: sallyport activations set (docs/tools/visibility.md)', {
    agent_id: undefined,
    tool_id: undefined,
    enabled: true,
    policy_overrides: {},
  }),
);

/** Keys of specification 004. */
export const KEYS_OF_004: readonly SourceKey[] = [...TOOLBOX, ...GATEWAY, ...DEFINITION, ...PROVIDERS, ...ACTIVATION];
