import { bytesToMb, msToSeconds, retriesToAttempts } from './conversions.ts';
import { allLeft, keysOf, left, type SourceKey, taken } from './source-key.ts';

const EACH = 'for tools whose manifest says nothing else';

/** Keys of specification 001. */
export const KEYS_OF_001: readonly SourceKey[] = [
  ...keysOf('001', '§7.3', '', [taken('maxRetries', retriesToAttempts('retry.attempts_max'), 3)]),
  ...keysOf('001', '§4.1, §5.2, Appendix A', 'resourceLimits.', [
    taken('maxExecutionTime', { ...msToSeconds('calls.timeout_seconds'), means: `ms to seconds; ${EACH}` }),
    taken('maxMemory', bytesToMb('calls.memory_mb')),
    taken('maxFileSize', bytesToMb('calls.disk_mb')),
  ]),
  ...keysOf('001', '§4.1', 'ToolDeclaration.', [
    left('id', 'tool_id of the manifest'),
    ...allLeft('a member of the same name in the manifest', {
      version: undefined,
      description: undefined,
      deterministic: undefined,
      idempotent: undefined,
    }),
    left('name', 'tool_name of the manifest'),
    left('inputSchema', 'parameters_schema of the manifest'),
    left('outputSchema', 'result_schema of the manifest'),
    left('requiredCapabilities', 'permissions of the manifest, which name paths, hosts and credentials'),
    left('resourceLimits', 'execution_config of the manifest: default_timeout_seconds, default_memory_mb_limit'),
  ]),
];
