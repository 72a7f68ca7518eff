import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import type { ToolStore } from '../../registry/tool-store.port.ts';

/** Tool versions in this process: nothing is durable, everything else as the port says. */
export function memoryToolStore(): ToolStore {
  /** JSON text by key, so that no caller holds what the store holds. */
  const versions = new Map<string, string>();

  const insert: ToolStore['insert'] = async (version) => {
    const key = keyOf(version.tenantId, version.manifest.tool_id, version.manifest.version);
    const held = versions.get(key);
    if (held === undefined) {
      versions.set(key, JSON.stringify(version));
      return 'created';
    }
    return (JSON.parse(held) as ToolVersion).contentHash === version.contentHash ? 'unchanged' : 'conflict';
  };

  return {
    insert,
    insertAll: (added) => Promise.all(added.map(insert)),
    async loadAll() {
      return [...versions.values()].map((text) => JSON.parse(text) as ToolVersion);
    },
    async setState(tenantId, toolId, version, state, inFavorOf) {
      const key = keyOf(tenantId, toolId, version);
      const held = versions.get(key);
      if (held === undefined) return false;
      const changed: ToolVersion = {
        ...(JSON.parse(held) as ToolVersion),
        state,
        ...(inFavorOf === undefined ? {} : { deprecatedInFavorOf: inFavorOf }),
      };
      versions.set(key, JSON.stringify(changed));
      return true;
    },
  };
}

const keyOf = (...parts: readonly string[]): string => JSON.stringify(parts);
