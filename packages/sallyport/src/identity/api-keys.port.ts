import type { CapabilityClaims } from '../../api/schemas/capability-token.ts';
import type { EventsOf } from '../domain/event/events-of.ts';

/** What a key grants: the claims of a token without its times. */
export type GrantedClaims = Omit<CapabilityClaims, 'exp' | 'iat' | 'iss' | 'jti'>;

/** A stored API key, without the secret that its owner presents. */
export interface StoredApiKey {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  /** SHA-256 of the key, hex. */
  readonly hash: string;
  /** First characters of the key, which identify it for people. */
  readonly prefix: string;
  readonly claims: GrantedClaims;
  /** Epoch ms. */
  readonly createdAt: number;
  /** Agent DID of its creator. */
  readonly createdBy: string;
  /** Epoch ms; absent: never. */
  readonly expiresAt?: number;
  /** Epoch ms. */
  readonly revokedAt?: number;
  /** Epoch ms, coarse. */
  readonly lastUsedAt?: number;
}

/** Keys that were created or revoked, up to a revision. */
export interface ChangedApiKeys {
  /** In no order; revoked ones included. `lastUsedAt` may be left out. */
  readonly keys: readonly StoredApiKey[];
  readonly revision: number;
}

/** Durable store of API keys. Every method is safe for concurrent use by several instances. */
export interface ApiKeyStore {
  /** Adds a key with a new id and hash. */
  insert(key: StoredApiKey, events?: EventsOf<StoredApiKey>): Promise<void>;
  /** Revokes a key; the first revocation counts. Undefined when the tenant has no key with this id. */
  revoke(
    tenantId: string,
    id: string,
    atMs: number,
    events?: EventsOf<StoredApiKey>,
  ): Promise<StoredApiKey | undefined>;
  /**
   * Keys of every tenant that were created or revoked after a revision; all of them for 0. No change is ever missed.
   */
  changedSince(revision: number): Promise<ChangedApiKeys>;
  /** A tenant's keys, newest first. */
  list(tenantId: string): Promise<readonly StoredApiKey[]>;
  /**
   * Stores when keys were last used; an older time than the stored one has no effect. Does not count as a change for
   * `changedSince`.
   */
  noteUses(uses: readonly { readonly id: string; readonly atMs: number }[]): Promise<void>;
  /** Removes keys that were revoked or expired before a time. Returns how many. */
  prune(beforeMs: number): Promise<number>;
}
