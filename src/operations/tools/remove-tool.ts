import type { Run } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { recordChange } from '../registry-event.ts';

/** Removes one version, or all; calls that run go on. */
export function removeTool(parts: Pick<OperationParts, 'registry' | 'ledger' | 'clock'>): Run<'tools.remove'> {
  return async ({ tool_id, version }, asker) => {
    const removed = await parts.registry.remove(asker.principal.tenantId, tool_id, version);
    await recordChange(parts, asker, tool_id, { change: 'removed', tool_id, versions: removed });
    return { tool_id, removed: [...removed] };
  };
}
