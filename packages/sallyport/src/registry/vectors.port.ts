/** The vector of a tool. */
export interface ToolVector {
  readonly toolId: string;
  /** Of norm 1. */
  readonly vector: Float32Array;
}

/** A search for tools of a tenant near a query. */
export interface Nearness {
  /** Vectors of norm 1; the nearest of them counts. At least one. */
  readonly queries: readonly Float32Array[];
  /** Least cosine of a tool found by nearness. */
  readonly cosineMin: number;
  /** Most tools found by nearness: the nearest ones. */
  readonly toolsMax: number;
  /** Tools whose cosine is always returned. Unknown ones are left out. */
  readonly also: readonly string[];
  /** The only tools that may be found; default: all. Applied before the nearest are chosen. */
  readonly only?: readonly string[];
}

/**
 * Nearest-neighbour search among the vectors of one model (REG-05, REG-11). Every tool is compared. Tenants are
 * separate. Calls may overlap; a search sees every `put` that ended before it began.
 */
export interface VectorIndex {
  /**
   * Starts with vectors of this model and length: vectors of another are no longer found. Idempotent.
   * @param model as {@link Embedder.model}
   */
  open(model: string, dimensions: number): Promise<void>;
  /** Adds vectors, or replaces those of the same tools. */
  put(tenantId: string, vectors: readonly ToolVector[]): Promise<void>;
  /** Unknown tools are ignored. */
  remove(tenantId: string, toolIds: readonly string[]): Promise<void>;
  /** Cosine by tool id, -1 to 1; empty for a tenant without vectors. */
  search(tenantId: string, nearness: Nearness): Promise<ReadonlyMap<string, number>>;
}

/** A vector under the hash of its texts. */
export interface KeptVector {
  /** SHA-256, hex. */
  readonly contentHash: string;
  readonly vector: Float32Array;
}

/**
 * Durable cache of vectors, by model and hash of the text, across tenants. Only a cache: a lost vector is made again.
 */
export interface VectorStore {
  /** The existing vectors with exactly this many dimensions, in no order. */
  get(model: string, dimensions: number, contentHashes: readonly string[]): Promise<readonly KeptVector[]>;
  /** Stores vectors; an existing one is replaced. */
  put(model: string, vectors: readonly KeptVector[]): Promise<void>;
  /** Deletes vectors unused since a time, in ms since 1970; at most 10 000 in one call. Returns how many. */
  prune(unusedSince: number): Promise<number>;
}
