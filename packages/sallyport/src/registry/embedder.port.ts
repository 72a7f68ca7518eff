/**
 * Turns texts into vectors, near one another where the texts mean nearly the same (REG-06). An adapter only asks its
 * model; queues, retries, caches and the check of what comes back are the caller's.
 */
export interface Embedder {
  /** Name of the model with what makes its vectors, at most 256 characters: vectors of different names are never compared. */
  readonly model: string;
  /** Texts that one `embed` takes at most. */
  readonly textsMax: number;
  /** Characters of a text that are read at most; the caller cuts longer ones. */
  readonly textCharactersMax: number;
  /** What is known of its vectors; undefined: it is measured with a few texts before the first use. */
  readonly traits?: EmbedderTraits;
  /**
   * One vector for each text, in their order, all of one length. The length of a vector (its norm) means nothing.
   * Empty for no texts. Calls may overlap.
   * @throws ToolLayerError E3005 when the model cannot be asked, with the cause; the reason of the signal when aborted
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>;
  /** Ends what runs and refuses what comes later. Idempotent. */
  close(): Promise<void>;
}

/** What a model's vectors are like. Models differ much in how near to one another they put texts without anything in common. */
export interface EmbedderTraits {
  /** Numbers in a vector, 1 to 8192. */
  readonly dimensions: number;
  /**
   * Between related and unrelated: the share of requests and tools that belong together below it is the same as the share of
   * those that do not above it.
   */
  readonly boundaryCosine: number;
  /** Of requests beside a tool that serves them, the middle one has this cosine. */
  readonly relatedCosine: number;
}
