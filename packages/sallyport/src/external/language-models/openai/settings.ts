/** Which server and model. */
export interface OpenAiLanguageModelSettings {
  /** Address of the server, with or without its `/v1`. */
  readonly url: string;
  /** As the server calls it, such as `gpt-4o-mini`. */
  readonly model: string;
  /** The key, read anew for each request; undefined where none is needed. */
  readonly apiKey?: () => Promise<string | undefined>;
  /** Sent when it is there; some models take none. 0 lets the same prompt get the same answer. */
  readonly temperature?: number;
}
