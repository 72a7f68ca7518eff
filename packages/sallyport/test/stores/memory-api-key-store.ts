import type { ApiKeyStore, StoredApiKey } from '../../src/identity/api-keys.port.ts';

interface Held {
  readonly key: StoredApiKey;
  readonly revision: number;
}

/** API keys in memory. */
export function memoryApiKeyStore(): ApiKeyStore {
  const held = new Map<string, Held>();
  let revision = 0;
  const keep = (key: StoredApiKey): void => {
    revision += 1;
    held.set(key.id, { key, revision });
  };
  return {
    async insert(key, events) {
      events?.(key);
      keep(structuredClone(key));
    },
    async revoke(tenantId, id, atMs, events) {
      const found = held.get(id)?.key;
      if (found === undefined || found.tenantId !== tenantId) return undefined;
      const revoked = { ...found, revokedAt: found.revokedAt ?? atMs };
      events?.(revoked);
      keep(revoked);
      return revoked;
    },
    async changedSince(since) {
      const changed = [...held.values()].filter((each) => each.revision > since);
      return { revision, keys: changed.map(({ key }) => key) };
    },
    async list(tenantId) {
      const own = [...held.values()].map(({ key }) => key).filter((key) => key.tenantId === tenantId);
      return own.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1));
    },
    async noteUses(uses) {
      for (const { id, atMs } of uses) {
        const found = held.get(id);
        if (found === undefined || (found.key.lastUsedAt ?? 0) >= atMs) continue;
        held.set(id, { ...found, key: { ...found.key, lastUsedAt: atMs } });
      }
    },
    async prune(beforeMs) {
      let removed = 0;
      for (const [id, { key }] of held) {
        const endedAt = Math.min(key.revokedAt ?? Number.POSITIVE_INFINITY, key.expiresAt ?? Number.POSITIVE_INFINITY);
        if (endedAt <= beforeMs && held.delete(id)) removed += 1;
      }
      return removed;
    },
  };
}
