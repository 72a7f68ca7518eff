import type { CapabilityClaims } from '../../api/schemas/capability-token.ts';

/** What a key grants: the claims of a token without its times. */
export type GrantedClaims = Omit<CapabilityClaims, 'exp' | 'iat' | 'iss' | 'jti'>;

/** An API key as it is kept: what its owner presents is not in here. */
export interface StoredApiKey {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  /** SHA-256 of the key, hex. */
  readonly hash: string;
  /** First characters of the key, by which people tell keys apart. */
  readonly prefix: string;
  readonly claims: GrantedClaims;
  /** Epoch ms. */
  readonly createdAt: number;
  /** Agent DID of who made it. */
  readonly createdBy: string;
  /** Epoch ms; absent: never. */
  readonly expiresAt?: number;
  /** Epoch ms. */
  readonly revokedAt?: number;
  /** Epoch ms, coarse. */
  readonly lastUsedAt?: number;
}

/** Keys that were made or revoked, and how far that goes. */
export interface ChangedApiKeys {
  /** In no order; revoked ones among them. `lastUsedAt` may be left out. */
  readonly keys: readonly StoredApiKey[];
  readonly revision: number;
}

/** Where API keys are kept for good. Every method is safe to call at the same time from several instances. */
export interface ApiKeyStore {
  /** Adds one; its id and hash are new. */
  insert(key: StoredApiKey): Promise<void>;
  /** Revokes one; the first time counts. Undefined when the tenant has none of this id. */
  revoke(tenantId: string, id: string, atMs: number): Promise<StoredApiKey | undefined>;
  /** Keys of every tenant that were made or revoked after a revision; all of them for 0. No change is ever left out. */
  changedSince(revision: number): Promise<ChangedApiKeys>;
  /** Those of a tenant, the newest first. */
  list(tenantId: string): Promise<readonly StoredApiKey[]>;
  /** Keeps when keys were last used; an older time than the one kept changes nothing. Is no change for `changedSince`. */
  noteUses(uses: readonly { readonly id: string; readonly atMs: number }[]): Promise<void>;
  /** Removes keys that were revoked or expired before a time. Answers how many. */
  prune(beforeMs: number): Promise<number>;
}
