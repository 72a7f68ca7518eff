import type { Fault } from '../../../api/schemas/error.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';

/** Only a function of the embedding program can read the context of a session. */
export function sessionFaults({ execution_config, executor }: ToolManifest): readonly Fault[] {
  if (execution_config?.session_context !== true || executor.kind === 'native') return [];
  const message = `is possible for tools of kind native, not ${executor.kind}`;
  const path = '/execution_config/session_context';
  return [{ path, code: 'E3008', keyword: 'const', message, hint: 'Remove this member.' }];
}
