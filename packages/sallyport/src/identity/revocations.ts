import { randomUUID } from 'node:crypto';
import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { CapabilityClaims } from '../../api/schemas/capability-token.ts';
import type { Log } from '../telemetry/log.ts';
import { createFollower } from './follow/follower.ts';
import { revocationIndex } from './follow/revocation-index.ts';
import type { RevocationKind, RevocationStore, StoredRevocation } from './revocations.port.ts';

/** How often an instance looks for revocations of others; what another one revoked is known within a second. */
const FOLLOW_MS = 400;
/** How often revocations of tokens that expired are removed. */
const PRUNE_MS = 600_000;
/** Lifted ones are kept this long, so that each instance hears of it. */
const LIFTED_KEPT_MS = 86_400_000;
/** Tokens live this long beyond their `exp`, where the largest skew of clocks is configured; twice that is kept. */
const EXPIRY_MARGIN_MS = 600_000;
/** Single tokens that are revoked at once, of all tenants; some 150 bytes of memory each. */
export const REVOKED_TOKENS_MAX = 1_000_000;

/** What revocations stand on. */
export interface RevocationParts {
  readonly store: RevocationStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Default 400. */
  readonly followMs?: number;
  /** Called after each look at the store, and after each revocation of this instance: what is revoked may have changed. */
  readonly onLook?: () => void;
}

/** What is to be revoked. */
export interface NewRevocation {
  readonly tenantId: string;
  readonly kind: RevocationKind;
  /** A token's `jti` or an agent's DID; empty for the tenant. */
  readonly subject: string;
  /** Epoch s; see the port. */
  readonly issuedBefore?: number;
  /** `exp` of the token, epoch s, where it is known. */
  readonly tokenExpiresAt?: number;
  readonly by: string;
  readonly reason?: string;
}

/** Which tokens do not count any more (PRM-01). The durable write comes before the one in memory. */
export interface Revocations extends AsyncDisposable {
  /** Reads everything from the store, and follows what other instances revoke, until it is disposed. */
  start(): Promise<void>;
  /** Whether a token with these claims is revoked: a few look-ups in memory. */
  isRevoked(claims: CapabilityClaims): boolean;
  /** Second before which tokens of an agent must have been issued to be revoked; infinite for all of them, 0 for none. */
  issuedBefore(tenantId: string, agentDid: string): number;
  /** @throws ToolLayerError E3810 beyond {@link REVOKED_TOKENS_MAX}; E3812 when it cannot be kept */
  revoke(revocation: NewRevocation): Promise<StoredRevocation>;
  /** Takes one back; undefined when the tenant has none of this id. */
  lift(tenantId: string, id: string): Promise<StoredRevocation | undefined>;
  /** Those of a tenant, the latest first. */
  list(tenantId: string, limit: number, offset: number): ReturnType<RevocationStore['list']>;
  /** Why the store cannot be followed at the moment; undefined when it can. */
  problem(): string | undefined;
}

/** Knows nothing until `start`. */
export function createRevocations(parts: RevocationParts): Revocations {
  const { store, clock, log, followMs = FOLLOW_MS, onLook } = parts;
  const index = revocationIndex();
  const follower = createFollower({
    read: (revision) => store.changedSince(revision),
    take({ revocations }) {
      index.take(revocations);
      onLook?.();
    },
    intervalMs: followMs,
    event: 'revocations-not-followed',
    log,
  });
  let pruning: NodeJS.Timeout | undefined;
  return {
    async start() {
      await follower.start();
      pruning ??= setInterval(() => void prune(parts, index.prune), PRUNE_MS).unref();
      await prune(parts, index.prune);
    },
    isRevoked: index.isRevoked,
    issuedBefore: index.issuedBefore,
    async revoke(revocation) {
      if (revocation.kind === 'token' && index.size() >= REVOKED_TOKENS_MAX) throw tooMany();
      const kept = await store.put(storedOf(revocation, clock.now()));
      index.add(kept);
      onLook?.();
      return kept;
    },
    async lift(tenantId, id) {
      const lifted = await store.lift(tenantId, id);
      // As the store says: another instance may have revoked the same again.
      if (lifted !== undefined) await follower.lookAfresh();
      return lifted;
    },
    list: (tenantId, limit, offset) => store.list(tenantId, limit, offset),
    problem: follower.problem,
    async [Symbol.asyncDispose]() {
      clearInterval(pruning);
      await follower[Symbol.asyncDispose]();
    },
  };
}

/** What expired is removed by whichever instance comes first; a failure is made good by the next turn. */
async function prune({ store, clock, log }: RevocationParts, forget: (nowMs: number) => void): Promise<void> {
  const now = clock.now();
  forget(now);
  try {
    const removed = await store.prune(now, now - LIFTED_KEPT_MS);
    if (removed > 0) log.info('revocations-pruned', { removed });
  } catch (cause) {
    log.warn('revocations-not-pruned', { reason: cause instanceof Error ? cause.message : String(cause) });
  }
}

function storedOf(revocation: NewRevocation, now: number): StoredRevocation {
  const { tenantId, kind, subject, issuedBefore, tokenExpiresAt, by, reason } = revocation;
  return {
    id: randomUUID(),
    tenantId,
    kind,
    subject,
    ...(issuedBefore === undefined ? {} : { issuedBefore }),
    ...(tokenExpiresAt === undefined ? {} : { expiresAt: expiryOf(tokenExpiresAt) }),
    revokedAt: now,
    revokedBy: by,
    ...(reason === undefined ? {} : { reason }),
  };
}

/** A token may claim any time; its revocation is kept to the end of the year 9999 at most, which every database can write. */
function expiryOf(tokenExpiresAt: number): number {
  return Math.min(tokenExpiresAt * 1000 + EXPIRY_MARGIN_MS, 253_402_300_799_000);
}

const tooMany = (): ToolLayerError =>
  new ToolLayerError(
    'E3810',
    `${REVOKED_TOKENS_MAX} tokens are revoked, which is the most. Revoke by agent or tenant instead.`,
  );
