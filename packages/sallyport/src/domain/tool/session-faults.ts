import type { Fault } from '../../../api/schemas/error.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { kindsWith, traitsOf } from './executor-kinds.ts';

/** Only functions and programs can read the context of a session. */
export function sessionFaults({ execution_config, executor }: ToolManifest): readonly Fault[] {
  if (execution_config?.session_context !== true || traitsOf(executor.kind).readsSession === true) return [];
  const message = `is possible for tools of the kinds ${kindsWith('readsSession').join(', ')}, not ${executor.kind}`;
  const path = '/execution_config/session_context';
  return [{ path, code: 'E3008', keyword: 'const', message, hint: 'Remove this member.' }];
}
