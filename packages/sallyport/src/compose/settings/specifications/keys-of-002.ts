import { numberAboveZero, numbersToTexts, same, whenFalse } from './conversions.ts';
import { allLeft, keysOf, left, type SourceKey, taken } from './source-key.ts';

const OF_THE_AGENT = 'the agent does this, not the layer that runs its tools';
const MISSING = 'the layer does not do this yet';
const IN_RULES =
  'the layer reads these words in a *.rules.toml file of its policies (docs/policies.md); add rules to permission.engines';
const ALL_TOOLS = 'a bound for all tools; retry_policy.max_attempts of a manifest is the number for one';

const FILES = keysOf('002', 'Per-Path File Read Sandbox', 'tools.file.', [
  taken('deny_read', same('file.deny_read'), ['**/.env', '**/secrets/**', '**/.git/config']),
  taken('allow_read', same('file.allow_read'), []),
]);

const AGENT = [
  ...keysOf('002', 'compress_context Native Tool', 'agent.', [left('compress_provider', OF_THE_AGENT, '')]),
  ...keysOf('002', 'Reasoning Model Hallucination Detection', '', [
    left('agent.hallucination_detection', MISSING, false),
    left('reasoning_model_detection', MISSING),
  ]),
  ...keysOf(
    '002',
    'Tool Schema Filtering',
    'agent.tool_filter.',
    allLeft('views, mcp.tools and tool search show fewer tools (docs/mcp.md); nothing ranks all tools for a query', {
      enabled: false,
      top_k: 10,
      min_description_words: 3,
      always_on: ['memory_search', 'memory_save', 'load_skill', 'scheduler'],
    }),
  ),
];

const MODEL_FACING = [
  ...keysOf(
    '002',
    'TAFC: Think-Augmented Function Calling',
    'tools.tafc.',
    allLeft(MISSING, { enabled: false, complexity_threshold: 0.6 }),
  ),
  ...keysOf('002', 'Tool Result Cache', 'tools.result_cache.', allLeft(MISSING, { enabled: true, ttl_secs: 300 })),
  ...keysOf('002', 'Tool Dependency Graph', 'tools.dependencies.', [
    ...allLeft('fixed numbers and always on (docs/tools/registry.md)', {
      enabled: false,
      boost_per_dep: 0.15,
      max_total_boost: 0.2,
    }),
    left('rules', 'requires and prefers in the manifests of the tools', {}),
    left('rules.*.requires', 'requires in the manifest of the tool'),
    left('rules.*.prefers', 'prefers in the manifest of the tool'),
  ]),
  ...keysOf(
    '002',
    'Utility-Guided Tool Dispatch Gate',
    'tools.utility.',
    allLeft(MISSING, { enabled: false, threshold: 0, exempt_tools: ['invoke_skill', 'load_skill'] }),
  ),
];

const RETRIES = [
  ...keysOf('002', 'Tool Error Taxonomy', 'tools.retry.', [
    taken('max_attempts', same('retry.attempts_max', ALL_TOOLS), 2),
    left('base_ms', 'each manifest says it: execution_config.retry_policy.base_delay_ms', 500),
    left('max_ms', 'each manifest says it: execution_config.retry_policy.max_delay_ms', 5000),
    taken('budget_secs', same('retry.budget_seconds'), 30),
    left('parameter_reformat_provider', `arguments are never changed for a model: ${OF_THE_AGENT}`, ''),
  ]),
  ...keysOf('002', 'Tool Error Taxonomy (older names)', 'agent.', [
    taken('max_tool_retries', same('retry.attempts_max', ALL_TOOLS)),
    taken('max_retry_duration_secs', same('retry.budget_seconds')),
  ]),
];

const SHELL = keysOf('002', 'Transactional ShellExecutor', 'tools.shell.', [
  taken('transactional', same('shell.transactional', 'files are restored too, unless auto_rollback is false'), false),
  taken('transaction_scope', same('shell.transaction_scope'), ['**']),
  taken('auto_rollback_exit_codes', numbersToTexts('shell.auto_rollback_exit_codes'), [1, 2]),
  taken('auto_rollback', whenFalse({ 'shell.transactional': false }), false),
  taken('snapshot_required', same('shell.snapshot_required'), false),
  taken('max_snapshot_bytes', same('shell.max_snapshot_bytes'), 0),
]);

const GATE = keysOf('002', 'Adversarial Policy Gate', 'tools.adversarial_policy.', [
  taken('enabled', same('gate.enabled', 'needs model.url, model.name and policies'), false),
  taken('fail_open', same('gate.fail_open'), false),
  taken('policies', same('gate.policies'), []),
  taken('exempt_tools', same('gate.exempt_tools'), [
    'memory_save',
    'memory_search',
    'read_overflow',
    'load_skill',
    'schedule_deferred',
  ]),
]);

const RIGHTS = keysOf('002', 'Tool Call Quota and OAP Authorization', 'tools.', [
  taken('max_tool_calls_per_session', numberAboveZero('quota.calls_per_session')),
  ...allLeft(IN_RULES, { 'authorization.enabled': false, 'authorization.rules': undefined, policy: undefined }),
]);

/** Keys of specification 002. */
export const KEYS_OF_002: readonly SourceKey[] = [
  ...FILES,
  ...AGENT,
  ...MODEL_FACING,
  ...RETRIES,
  ...SHELL,
  ...GATE,
  ...RIGHTS,
];
