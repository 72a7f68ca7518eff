import { failure } from '../../domain/error/failure.ts';
import type { Run } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { recordChange } from '../registry-event.ts';

/** Disconnects an MCP server and removes its tools. */
export function removeUpstream(parts: OperationParts): Run<'upstreams.remove'> {
  return async ({ name }, asker) => {
    const { tenantId } = asker.principal;
    if (!(await parts.upstreams.remove(tenantId, name))) return failure('E3809', `There is no upstream ${name}.`);
    const removed: string[] = [];
    for (const { manifest } of parts.registry.manifests(tenantId)) {
      const { tool_id, executor } = manifest;
      if (executor.kind !== 'mcp' || executor.config?.['upstream'] !== name) continue;
      await parts.registry.remove(tenantId, tool_id);
      removed.push(tool_id);
    }
    await recordChange(parts, asker, name, { change: 'upstream-removed', upstream: name, tool_ids: removed });
    return { name, removed_tools: removed };
  };
}
