import type { ToolManifest } from '../../api/schemas/tool-manifest.ts';
import type { ToolView } from '../../api/schemas/visibility.ts';
import { contentHash, type ToolVersion } from '../domain/tool/tool-version.ts';
import type { TenantTools } from './resolve-view.ts';

/** A version of a tool of the tenant acme. */
export function toolVersion(tool_id: string, more: Partial<ToolManifest> = {}): ToolVersion {
  const manifest: ToolManifest = {
    tool_id,
    tool_name: tool_id,
    version: '1.0.0',
    description: `Does ${tool_id}.`,
    parameters_schema: { type: 'object' },
    executor: { kind: 'native' },
    ...more,
  };
  return {
    tenantId: 'acme',
    manifest,
    contentHash: contentHash(manifest),
    state: 'active',
    registeredAt: '2026-01-01T00:00:00.000Z',
  };
}

/** A tool of an MCP server, by the server's own name for it. */
export function mcpTool(upstream: string, tool: string, tool_id = `${upstream}__${tool}`): ToolVersion {
  return toolVersion(tool_id, { executor: { kind: 'mcp', config: { upstream, tool } } });
}

/** The tools that a tenant has. */
export function tenantTools(...tools: readonly ToolVersion[]): TenantTools {
  const ids = new Set(tools.map(({ manifest }) => manifest.tool_id));
  return { tools, isId: (name) => ids.has(name) };
}

/** A view for every agent. */
export function toolView(sources: ToolView['sources'], conflict: ToolView['conflict'] = 'prefix'): ToolView {
  return { name: 'mail', agents: ['*'], conflict, sources };
}
