import { ToolHistoryRequest, ToolHistoryResponse } from '../../../api/schemas/registry/tool-lifecycle.ts';
import { unknownTool } from '../../registry/registry.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { historyEntry } from './history-entry.ts';

/** Every version of a tool that the tenant registered, including removed ones. */
export const toolHistory = operation({
  name: 'tools.history',
  summary: 'Every version of a tool with its state, its dates and who moved it',
  method: 'GET',
  path: '/v1/tools/{tool_id}/history',
  status: 200,
  access: 'viewer',
  input: ToolHistoryRequest,
  output: ToolHistoryResponse,
  run:
    ({ registry }: Pick<OperationParts, 'registry'>) =>
    async ({ tool_id }, { principal }) => {
      const history = await registry.history(principal.tenantId, tool_id);
      return history.length === 0 ? unknownTool(tool_id) : { tool_id, versions: history.map(historyEntry) };
    },
});
