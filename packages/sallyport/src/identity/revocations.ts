import { randomUUID } from 'node:crypto';
import type { Clock } from '@sallyport/std/clock';
import { messageOf } from '@sallyport/std/error/message-of';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { CapabilityClaims } from '../../api/schemas/capability-token.ts';
import type { EventsOf } from '../domain/event/events-of.ts';
import type { Log } from '../telemetry/log.ts';
import { createFollower } from './follow/follower.ts';
import { revocationIndex } from './follow/revocation-index.ts';
import type { RevocationKind, RevocationStore, StoredRevocation } from './revocations.port.ts';

/** How often an instance polls for revocations of others, in ms; these are known within a second. */
const FOLLOW_MS = 400;
/** How often revocations of expired tokens are removed, in ms. */
const PRUNE_MS = 600_000;
/** How long lifted ones are kept, so that each instance learns of it, in ms. */
const LIFTED_KEPT_MS = 86_400_000;
/**
 * How long the revocation of a single token is kept after the token's `exp`, or after it was made where that is later, in
 * ms. A waiting call needs no valid token to run, and waits for a person for 30 days at most; a day more for clocks.
 */
const EXPIRED_KEPT_MS = 31 * 86_400_000;
/**
 * The same where the largest number is reached: a new revocation counts more than one of an ended token, of which a call
 * may wait. Twice the largest configurable clock skew, by which tokens live beyond their `exp`, in ms.
 */
const EXPIRED_KEPT_WHEN_FULL_MS = 600_000;
/** Most revoked single tokens, across all tenants; some 150 bytes of memory each. */
const REVOKED_TOKENS_MAX = 1_000_000;

/** Dependencies of the revocations. */
export interface RevocationParts {
  readonly store: RevocationStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Default 400. */
  readonly followMs?: number;
  /** Most revoked single tokens. Default {@link REVOKED_TOKENS_MAX}. */
  readonly tokensMax?: number;
  /**
   * Called after each poll of the store, and after each revocation by this instance: the revoked set may have changed.
   */
  readonly onLook: () => void;
}

/** A revocation to be made. */
export interface NewRevocation {
  readonly tenantId: string;
  readonly kind: RevocationKind;
  /** A token's `jti` or an agent's DID; empty for the tenant. */
  readonly subject: string;
  /** Epoch s; see the port. */
  readonly issuedBefore?: number;
  /** `exp` of the token, epoch s, when known. */
  readonly tokenExpiresAt?: number;
  readonly by: string;
  readonly reason?: string;
}

/** The revoked tokens (PRM-01). Each change is stored durably before it is applied in memory. */
export interface Revocations extends AsyncDisposable {
  /** Reads everything from the store, and follows other instances' revocations until disposed. */
  start(): Promise<void>;
  /** True when a token with these claims is revoked: a few lookups in memory. */
  isRevoked(claims: CapabilityClaims): boolean;
  /** Second before which an agent's tokens count as revoked; infinite for all of them, 0 for none. */
  issuedBefore(tenantId: string, agentDid: string): number;
  /** @throws ToolLayerError E3810 beyond the most single tokens; E3812 when it cannot be stored */
  revoke(revocation: NewRevocation, events?: EventsOf<StoredRevocation>): Promise<StoredRevocation>;
  /** Lifts a revocation; undefined when the tenant has none with this id. */
  lift(tenantId: string, id: string, events?: EventsOf<StoredRevocation>): Promise<StoredRevocation | undefined>;
  /** A tenant's revocations, latest first. */
  list(tenantId: string, limit: number, offset: number): ReturnType<RevocationStore['list']>;
  /** Why the store cannot be followed now; undefined when it can. */
  problem(): string | undefined;
}

/** Makes the revocations, none known until `start`. */
export function createRevocations(parts: RevocationParts): Revocations {
  const { store, clock, log, followMs = FOLLOW_MS, tokensMax = REVOKED_TOKENS_MAX, onLook } = parts;
  const index = revocationIndex();
  const follower = createFollower({
    read: (revision) => store.changedSince(revision),
    take({ revocations }) {
      index.take(revocations);
      onLook();
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
    async revoke(revocation, events) {
      const isFull = () => revocation.kind === 'token' && index.size() >= tokensMax;
      if (isFull()) await prune(parts, index.prune, EXPIRED_KEPT_WHEN_FULL_MS);
      if (isFull()) throw tooMany(tokensMax);
      const kept = await store.put(storedOf(revocation, clock.now()), events);
      index.add(kept);
      onLook();
      return kept;
    },
    async lift(tenantId, id, events) {
      const lifted = await store.lift(tenantId, id, events);
      // The store decides: another instance may have revoked the same again.
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

/** Any instance may remove expired ones; a failure is retried next time. */
async function prune(
  { store, clock, log }: RevocationParts,
  forget: (nowMs: number) => void,
  keptMs = EXPIRED_KEPT_MS,
): Promise<void> {
  const now = clock.now();
  const expired = now + EXPIRED_KEPT_MS - keptMs;
  forget(expired);
  try {
    const removed = await store.prune(expired, now - LIFTED_KEPT_MS);
    if (removed > 0) log.info('revocations-pruned', { removed });
  } catch (cause) {
    log.warn('revocations-not-pruned', { reason: messageOf(cause) });
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
    ...(tokenExpiresAt === undefined ? {} : { expiresAt: expiryOf(tokenExpiresAt, now) }),
    revokedAt: now,
    revokedBy: by,
    ...(reason === undefined ? {} : { reason }),
  };
}

/**
 * A token may claim any time; its revocation is kept until the end of the year 9999 at most, which every database can
 * store.
 */
function expiryOf(tokenExpiresAt: number, now: number): number {
  return Math.min(Math.max(tokenExpiresAt * 1000, now) + EXPIRED_KEPT_MS, 253_402_300_799_000);
}

const tooMany = (count: number): ToolLayerError =>
  new ToolLayerError('E3810', `${count} tokens are revoked, which is the most. Revoke by agent or tenant instead.`);
