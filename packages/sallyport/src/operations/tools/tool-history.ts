import { unknownTool } from '../../registry/registry.ts';
import type { Run } from '../catalogue/run.ts';
import type { OperationParts } from '../parts.ts';
import { historyEntry } from './history-entry.ts';

/** Every version of a tool that the tenant registered, removed ones among them. */
export function toolHistory({ registry }: Pick<OperationParts, 'registry'>): Run<'tools.history'> {
  return async ({ tool_id }, { principal }) => {
    const history = await registry.history(principal.tenantId, tool_id);
    return history.length === 0 ? unknownTool(tool_id) : { tool_id, versions: history.map(historyEntry) };
  };
}
