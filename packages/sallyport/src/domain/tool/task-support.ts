import type { TaskSupport, ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { isObject } from '../shape/is-object.ts';

/**
 * Whether calls of a tool may, or must, be asynchronous, as its manifest says or else its MCP server; undefined when
 * neither does. A server's `forbidden` concerns the server's own tasks: the layer can run such a call later all the
 * same.
 */
export function taskSupportOf({ execution_config, executor }: ToolManifest): TaskSupport | undefined {
  const own = execution_config?.task_support;
  return own ?? (executor.kind === 'mcp' ? serverTasksOf(executor.config) : undefined);
}

/** Whether the server of an MCP tool runs its calls as tasks of the server. */
export function serverTasksOf(config: ToolManifest['executor']['config']): 'optional' | 'required' | undefined {
  const execution = config?.['execution'];
  const said = isObject(execution) ? execution['taskSupport'] : undefined;
  return said === 'optional' || said === 'required' ? said : undefined;
}
