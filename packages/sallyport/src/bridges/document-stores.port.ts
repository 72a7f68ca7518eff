import type { DocumentPin, GivenDocument } from '../domain/document/given-document.ts';

/** What is remembered of a document server's answer: a document, or its status alone. */
export interface RememberedAnswer {
  readonly answer: GivenDocument | DocumentStatus;
  /** Epoch ms. */
  readonly storedAt: number;
}

/** What is known of a document without its content. */
export interface DocumentStatus {
  readonly document_id: string;
  readonly status: 'active' | 'deprecated';
  readonly successor_id?: string;
}

/** The partition of a cache; nothing is shared across them. */
export interface CachePlace {
  readonly tenantId: string;
  /** See `DocumentServer.scopeOf`. */
  readonly scope: string;
}

/**
 * Answers of document servers for all instances (DOC-02): what it holds may be lost, and is checked when it is read. All
 * methods reject with E3607 while the cache cannot be reached.
 */
export interface DocumentCache {
  /** May answer synchronously or later. */
  get(place: CachePlace, key: string): RememberedAnswer | undefined | Promise<RememberedAnswer | undefined>;
  /** Replaces what the key holds. @param keptMs after which it is dropped; 0 keeps nothing */
  put(place: CachePlace, key: string, answer: RememberedAnswer, keptMs: number): Promise<void>;
  /** Drops the keys in every scope of a tenant; unknown ones are no fault. */
  drop(tenantId: string, keys: readonly string[]): Promise<void>;
  /** Drops everything of a tenant; of all of them when it is undefined. */
  clear(tenantId?: string): Promise<void>;
}

/** The pinned versions of calls, durable (DOC-04). All methods throw E3812 while the store cannot be reached. */
export interface DocumentPinStore {
  /** Replaces the pins of a call. */
  put(tenantId: string, invocationId: string, pins: readonly DocumentPin[]): Promise<void>;
  /** @returns undefined for a call that pinned nothing */
  find(tenantId: string, invocationId: string): Promise<readonly DocumentPin[] | undefined>;
  /**
   * Removes pins put before a time (epoch ms), of all tenants, the oldest first. Those of a call stay that is not over, or
   * whose checkpoints are kept: a later run has to get the same versions.
   * @returns of how many calls, at most `limit`
   */
  forget(putBefore: number, limit: number): Promise<number>;
}
