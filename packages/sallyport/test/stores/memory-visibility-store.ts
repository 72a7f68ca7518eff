import type { StoredRule, VisibilityStore } from '../../src/visibility/visibility-store.port.ts';

/** Visibility rules in memory. */
export function memoryVisibilityStore(): VisibilityStore {
  const rules = new Map<string, string>();
  let revision = 0;
  return {
    revision: async () => revision,
    async put(rule, events) {
      events?.();
      rules.set(keyOf(rule.tenantId, rule.kind, rule.key), JSON.stringify(rule));
      revision += 1;
      return revision;
    },
    async remove(tenantId, kind, key, events) {
      if (!rules.has(keyOf(tenantId, kind, key))) return undefined;
      events?.();
      rules.delete(keyOf(tenantId, kind, key));
      revision += 1;
      return revision;
    },
    async loadAll() {
      return { revision, rules: [...rules.values()].map((text) => JSON.parse(text) as StoredRule) };
    },
  };
}

const keyOf = (...parts: readonly string[]): string => JSON.stringify(parts);
