import { unknownTool } from '../../registry/registry.ts';
import type { Run } from '../catalogue/run.ts';
import type { OperationParts } from '../parts.ts';
import { recordChange } from '../registry-event.ts';

/** What was said of the availability of tools to the tenant. */
export function listAvailability({ visibility }: Pick<OperationParts, 'visibility'>): Run<'availability.list'> {
  return (_input, { principal }) => {
    const said = [...(visibility.rulesOf(principal.tenantId)?.availability.values() ?? [])];
    return { availability: said.sort((a, b) => (a.tool_id < b.tool_id ? -1 : 1)) };
  };
}

/** Makes a tool of the catalogue available to the tenant, or one of its own unavailable. */
export function setAvailability(
  parts: Pick<OperationParts, 'visibility' | 'visible' | 'ledger' | 'clock'>,
): Run<'availability.set'> {
  return async ({ tool_id, available, reason }, asker) => {
    const { tenantId } = asker.principal;
    if (!parts.visible.exists(tenantId, tool_id)) return unknownTool(tool_id);
    const because = reason === undefined ? {} : { reason };
    const said = await parts.visibility.setAvailability(tenantId, { tool_id, available, ...because });
    await recordChange(parts, asker, tool_id, { change: 'availability-set', tool_id, available, ...because });
    return said;
  };
}
