import type { StoredUpstream, UpstreamStore } from '../../src/mcp-servers/upstream-store.port.ts';

/** Upstreams in memory. */
export function memoryUpstreamStore(): UpstreamStore {
  const upstreams = new Map<string, string>();
  return {
    async put(upstream, events) {
      events?.();
      upstreams.set(keyOf(upstream.tenantId, upstream.definition.name), JSON.stringify(upstream));
    },
    async remove(tenantId, name, events) {
      if (!upstreams.has(keyOf(tenantId, name))) return false;
      events?.();
      return upstreams.delete(keyOf(tenantId, name));
    },
    async find(tenantId, name) {
      const text = upstreams.get(keyOf(tenantId, name));
      return text === undefined ? undefined : (JSON.parse(text) as StoredUpstream).definition;
    },
    prints: async () =>
      [...upstreams.values()].map((print) => {
        const { tenantId, definition } = JSON.parse(print) as StoredUpstream;
        return { tenantId, name: definition.name, print };
      }),
    async loadAll() {
      return [...upstreams.values()].map((text) => JSON.parse(text) as StoredUpstream);
    },
  };
}

const keyOf = (...parts: readonly string[]): string => JSON.stringify(parts);
