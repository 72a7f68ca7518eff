/** Settings of the server and model. */
export interface OpenAiLanguageModelSettings {
  /** Address of the server, with or without its `/v1`. */
  readonly url: string;
  /** As the server calls it, such as `gpt-4o-mini`. */
  readonly model: string;
  /** Reads the key for each request; undefined when none is needed. */
  readonly apiKey?: () => Promise<string | undefined>;
  /** Sent when present; some models accept none. 0 gives equal answers to equal prompts. */
  readonly temperature?: number;
}
