import { msToSeconds, same } from './conversions.ts';
import { allLeft, keysOf, left, type SourceKey, taken } from './source-key.ts';

/** Keys of specification 003. */
export const KEYS_OF_003: readonly SourceKey[] = [
  ...keysOf('003', 'Task 2, Context Retrieval', '', [
    taken('config.timeout', msToSeconds('calls.timeout_seconds')),
    taken('config.retry_max_attempts', same('retry.attempts_max', 'a bound for all tools')),
    taken('config.rate_limit_per_minute', same('rate.external_per_minute')),
    left('credentials', 'the answer of GET /v1/contexts/{tool_id} names them (docs/tools/context.md)'),
    left('session_context', 'what the agent has saved of its session at the context server (docs/tools/context.md)'),
  ]),
  ...keysOf(
    '003',
    'Task 4, Document Context Injection',
    '',
    allLeft('a member of the same name in the manifest of a tool (docs/calls/documents.md)', {
      document_dependencies: undefined,
      'document_dependencies[].document_pattern': undefined,
      'document_dependencies[].access_mode': undefined,
      'document_dependencies[].version_pinning': undefined,
    }),
  ),
];
