import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { QuarantineStore, UpstreamTool } from '../../src/mcp-servers/quarantine-store.port.ts';
import type { StoredPrint } from '../../src/mcp-servers/upstream-store.port.ts';

/** Tools of upstreams in memory. */
export function memoryQuarantineStore(): QuarantineStore {
  const tools = new Map<string, UpstreamTool>();
  return {
    async putAll(given, events) {
      const isWrittenElsewhere = given.some((tool) => {
        const before = tools.get(keyOf(tool.tenantId, tool.toolId));
        return (
          before?.revision !== tool.revision && (before === undefined || !isDeepStrictEqual(bare(before), bare(tool)))
        );
      });
      if (isWrittenElsewhere) return undefined;
      const written = given.map((tool): UpstreamTool => ({ ...structuredClone(tool), revision: randomUUID() }));
      events?.(written);
      for (const tool of written) tools.set(keyOf(tool.tenantId, tool.toolId), tool);
      return written;
    },
    async removeUpstream(tenantId, upstream) {
      for (const [key, tool] of tools) if (tool.tenantId === tenantId && tool.upstream === upstream) tools.delete(key);
    },
    load: async (place) =>
      structuredClone([...tools.values()]).filter(
        ({ tenantId, upstream }) => place === undefined || (tenantId === place.tenantId && upstream === place.name),
      ),
    prints: async () => {
      const prints = new Map<string, StoredPrint>();
      for (const { tenantId, upstream: name, revision } of tools.values()) {
        const { print = '' } = prints.get(keyOf(tenantId, name)) ?? {};
        prints.set(keyOf(tenantId, name), { tenantId, name, print: `${print} ${revision}` });
      }
      return [...prints.values()];
    },
  };
}

const bare = (tool: UpstreamTool) => ({ ...tool, revision: '', noticedAt: '' });
const keyOf = (...parts: readonly string[]): string => JSON.stringify(parts);
