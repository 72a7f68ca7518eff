import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';

/** Member of a function's `executor.config`: the function returns a CallToolResult of MCP. */
export const MCP_RESULT = 'mcp_result';

/** True when the results of a tool are CallToolResults of MCP, whose content passes to MCP clients as it is. */
export function givesCallResult({ executor }: Pick<ToolManifest, 'executor'>): boolean {
  return executor.kind === 'mcp' || (executor.kind === 'native' && executor.config?.[MCP_RESULT] === true);
}
