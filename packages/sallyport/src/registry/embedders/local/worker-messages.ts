/** A request to the worker. */
export interface EmbedRequest {
  readonly id: number;
  readonly texts: readonly string[];
}

/** The worker's answer: all vectors in one buffer, concatenated. */
export type EmbedAnswer =
  | { readonly id: number; readonly vectors: Float32Array }
  | { readonly id: number; readonly error: string };
