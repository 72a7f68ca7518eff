/** The vector of a tool. */
export interface ToolVector {
  readonly toolId: string;
  /** Of norm 1. */
  readonly vector: Float32Array;
}

/** Which tools of a tenant are near to a query. */
export interface Nearness {
  /** Vectors of norm 1; the nearest of them counts. At least one. */
  readonly queries: readonly Float32Array[];
  /** Least cosine of what is found by being near. */
  readonly cosineMin: number;
  /** Most tools found by being near: the nearest ones. */
  readonly toolsMax: number;
  /** Tools whose cosine is wanted in any case. Unknown ones are left out of the answer. */
  readonly also: readonly string[];
  /** The only tools that may be found; all when absent. Applied before the nearest are chosen. */
  readonly only?: readonly string[];
}

/**
 * Finds what is near among the vectors of one model (REG-05, REG-11). Every tool is compared. Tenants never meet. Calls may overlap; a search sees every `put` that ended before it began.
 */
export interface VectorIndex {
  /**
   * Begins with vectors of this model and length: those of another are no longer found. Idempotent.
   * @param model as {@link Embedder.model}
   */
  open(model: string, dimensions: number): Promise<void>;
  /** Adds vectors, or replaces those of the same tools. */
  put(tenantId: string, vectors: readonly ToolVector[]): Promise<void>;
  /** Unknown tools are no fault. */
  remove(tenantId: string, toolIds: readonly string[]): Promise<void>;
  /** Cosine by tool id, -1 to 1; empty for a tenant without vectors. */
  search(tenantId: string, nearness: Nearness): Promise<ReadonlyMap<string, number>>;
}

/** A vector under the hash of what it was made from. */
export interface KeptVector {
  /** SHA-256, hex. */
  readonly contentHash: string;
  readonly vector: Float32Array;
}

/**
 * Vectors that were made once, for good: by model and hash of the text, whoever's tool it is. Only a cache: a lost vector is
 * made again.
 */
export interface VectorStore {
  /** Those that are there with exactly this many dimensions, in no order. */
  get(model: string, dimensions: number, contentHashes: readonly string[]): Promise<readonly KeptVector[]>;
  /** Keeps vectors; one that is there already is replaced. */
  put(model: string, vectors: readonly KeptVector[]): Promise<void>;
  /** Forgets vectors that nobody asked for since a time, in ms since 1970; at most 10 000 in one call. Says how many went. */
  prune(unusedSince: number): Promise<number>;
}
