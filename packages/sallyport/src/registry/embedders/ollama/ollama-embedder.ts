import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Embedder } from '../../embedder.port.ts';
import { postJson, vectorIn } from '../../search/vectors/post-json.ts';

/** Settings of the server and model. */
export interface OllamaSettings {
  /** Address of the server; http://127.0.0.1:11434 by its own default. */
  readonly url: string;
  /** Such as `nomic-embed-text`. */
  readonly model: string;
}

const TEXTS_MAX = 32;
const TEXT_CHARACTERS_MAX = 8000;

/**
 * A model run by Ollama, through `POST /api/embed`.
 * @throws ToolLayerError E3801 for an invalid URL
 */
export function createOllamaEmbedder({ url, model }: OllamaSettings): Embedder {
  const address = addressOf(url);
  const closing = new AbortController();
  return {
    model: `ollama:${model}`,
    textsMax: TEXTS_MAX,
    textCharactersMax: TEXT_CHARACTERS_MAX,
    async embed(texts, signal) {
      signal.throwIfAborted();
      if (texts.length === 0) return [];
      const both = AbortSignal.any([signal, closing.signal]);
      const answer = await postJson({ url: address, body: { model, input: texts, truncate: true }, signal: both });
      const embeddings = (answer as { embeddings?: unknown } | null)?.embeddings;
      return Array.isArray(embeddings) ? embeddings.map(vectorIn) : [];
    },
    async close() {
      closing.abort(new ToolLayerError('E3005', 'The layer is being closed.'));
    },
  };
}

function addressOf(url: string): URL {
  const base = URL.parse(url.endsWith('/') ? url : `${url}/`);
  if (base === null || !/^https?:$/.test(base.protocol))
    throw new ToolLayerError('E3801', `search.embedder_url is no http address: ${url.slice(0, 200)}`);
  return new URL('api/embed', base);
}
