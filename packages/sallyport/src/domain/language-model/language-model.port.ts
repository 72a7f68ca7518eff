/** One prompt: the layer's instructions, and the text to judge. */
export interface LanguageModelPrompt {
  /** Instructions; never holds text of a caller or a tool. */
  readonly system: string;
  readonly user: string;
}

/** A model that answers text with text. Its answer is untrusted: it has read the caller's text. */
export interface LanguageModel {
  /** Server and model, as the audit names them; never a key. */
  readonly name: string;
  /**
   * The whole answer to one prompt, as the model gave it; no conversation is kept.
   * @throws ToolLayerError E3301, E3302 for the key, E3304, E3307, E3308, E3309 and E3310 for the server; the reason of
   *   the signal when it is aborted
   */
  complete(prompt: LanguageModelPrompt, signal: AbortSignal): Promise<string>;
}
