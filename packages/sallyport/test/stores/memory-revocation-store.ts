import { type RevocationStore, type StoredRevocation, widened } from '../../src/identity/revocations.port.ts';

interface Held {
  readonly revocation: StoredRevocation;
  readonly revision: number;
  readonly liftedAt?: number;
}

/** Revocations in memory. */
export function memoryRevocationStore(): RevocationStore {
  const held = new Map<string, Held>();
  let revision = 0;
  const keep = (revocation: StoredRevocation, liftedAt?: number): void => {
    revision += 1;
    const { tenantId, kind, subject } = revocation;
    held.set(keyOf(tenantId, kind, subject), {
      revocation,
      revision,
      ...(liftedAt === undefined ? {} : { liftedAt }),
    });
  };
  return {
    async put(added, events) {
      const standing = held.get(keyOf(added.tenantId, added.kind, added.subject));
      const kept =
        standing === undefined || standing.revocation.lifted === true ? added : widened(standing.revocation, added);
      events?.(kept);
      keep(kept);
      return kept;
    },
    async lift(tenantId, id, events) {
      for (const { revocation } of held.values()) {
        if (revocation.tenantId !== tenantId || revocation.id !== id || revocation.lifted === true) continue;
        const lifted = { ...revocation, lifted: true as const };
        events?.(lifted);
        keep(lifted, Date.now());
        return lifted;
      }
      return undefined;
    },
    async changedSince(since) {
      const changed = [...held.values()].filter((each) => each.revision > since);
      return { revision, revocations: changed.map(({ revocation }) => revocation) };
    },
    async list(tenantId, limit, offset) {
      const standing = [...held.values()]
        .map(({ revocation }) => revocation)
        .filter((each) => each.tenantId === tenantId && each.lifted !== true)
        .sort((a, b) => b.revokedAt - a.revokedAt || (a.id < b.id ? -1 : 1));
      return { revocations: standing.slice(offset, offset + limit), total: standing.length };
    },
    async prune(expiredBeforeMs, liftedBeforeMs) {
      let removed = 0;
      for (const [key, { revocation, liftedAt }] of held) {
        const { expiresAt = Number.POSITIVE_INFINITY } = revocation;
        const isOld = expiresAt <= expiredBeforeMs || (liftedAt !== undefined && liftedAt <= liftedBeforeMs);
        if (isOld && held.delete(key)) removed += 1;
      }
      return removed;
    },
  };
}

const keyOf = (...parts: readonly string[]): string => JSON.stringify(parts);
