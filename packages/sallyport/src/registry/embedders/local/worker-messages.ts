/** What the worker is asked. */
export interface EmbedRequest {
  readonly id: number;
  readonly texts: readonly string[];
}

/** What it answers: all vectors in one buffer, one after the other. */
export type EmbedAnswer =
  | { readonly id: number; readonly vectors: Float32Array }
  | { readonly id: number; readonly error: string };
