import type { QuarantineStore, UpstreamTool } from '../../src/mcp-servers/quarantine-store.port.ts';

/** Tools of upstreams in memory. */
export function memoryQuarantineStore(): QuarantineStore {
  const tools = new Map<string, UpstreamTool>();
  return {
    async putAll(given) {
      for (const tool of structuredClone(given)) tools.set(keyOf(tool.tenantId, tool.toolId), tool);
    },
    async removeUpstream(tenantId, upstream) {
      for (const [key, tool] of tools) if (tool.tenantId === tenantId && tool.upstream === upstream) tools.delete(key);
    },
    async loadAll() {
      return structuredClone([...tools.values()]);
    },
    print: async () => JSON.stringify([...tools]),
  };
}

const keyOf = (...parts: readonly string[]): string => JSON.stringify(parts);
