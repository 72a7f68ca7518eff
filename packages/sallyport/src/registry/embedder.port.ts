/**
 * Turns texts into vectors that are close when the texts mean nearly the same (REG-06). An adapter only asks its model;
 * the caller does queues, retries, caches and validation.
 */
export interface Embedder {
  /** Name of the model and of its variant, at most 256 characters: vectors of different names are never compared. */
  readonly model: string;
  /** Most texts of one `embed`. */
  readonly textsMax: number;
  /** Most characters read of a text; the caller cuts longer ones. */
  readonly textCharactersMax: number;
  /** Known traits of its vectors; undefined: measured with a few texts before the first use. */
  readonly traits?: EmbedderTraits;
  /**
   * One vector for each text, in their order, all of one length. The length of a vector (its norm) means nothing.
   * Empty for no texts. Calls may overlap.
   * @throws ToolLayerError E3005 when the model cannot be asked, with the cause; the reason of the signal when aborted
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>;
  /** Ends running calls and refuses later ones. Idempotent. */
  close(): Promise<void>;
}

/** Traits of a model's vectors. Models differ in how close they put unrelated texts. */
export interface EmbedderTraits {
  /** Numbers in a vector, 1 to 8192. */
  readonly dimensions: number;
  /**
   * Boundary between related and unrelated: the share of related request-tool pairs below it equals the share of
   * unrelated pairs above it.
   */
  readonly boundaryCosine: number;
  /** Median cosine between a request and a tool that serves it. */
  readonly relatedCosine: number;
}
