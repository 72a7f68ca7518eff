import { failure } from '../../domain/error/failure.ts';
import type { Run } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { recordChange } from '../registry-event.ts';

/** Tools that are removed side by side. */
const AT_ONCE = 16;

/** Disconnects an MCP server and removes its tools. */
export function removeUpstream(parts: OperationParts): Run<'upstreams.remove'> {
  return async ({ name }, asker) => {
    const { tenantId } = asker.principal;
    if (!(await parts.upstreams.remove(tenantId, name))) return failure('E3809', `There is no upstream ${name}.`);
    await parts.quarantine.inTurn(tenantId, name, () => parts.quarantine.forget(tenantId, name));
    const leaving = parts.registry.manifests(tenantId).flatMap(({ manifest: { tool_id, executor } }) => {
      return executor.kind === 'mcp' && executor.config?.['upstream'] === name ? [tool_id] : [];
    });
    for (let at = 0; at < leaving.length; at += AT_ONCE) {
      await Promise.all(leaving.slice(at, at + AT_ONCE).map((toolId) => parts.registry.remove(tenantId, toolId)));
    }
    await recordChange(parts, asker, name, { change: 'upstream-removed', upstream: name, tool_ids: leaving });
    return { name, removed_tools: leaving };
  };
}
