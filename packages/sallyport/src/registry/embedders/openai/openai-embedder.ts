import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Embedder } from '../../embedder.port.ts';
import { postJson, vectorIn } from '../../search/vectors/post-json.ts';

/** Settings of the server and model. */
export interface OpenAiSettings {
  /** Address of the server, with or without its `/v1`. */
  readonly url: string;
  /** Such as `text-embedding-3-small`. */
  readonly model: string;
  /** Reads the key for each request; undefined when none is needed. */
  readonly apiKey: () => Promise<string | undefined>;
}

const TEXTS_MAX = 64;
const TEXT_CHARACTERS_MAX = 8000;

/**
 * Any server that implements OpenAI's `POST /v1/embeddings`.
 * @throws ToolLayerError E3801 for an invalid URL
 */
export function createOpenAiEmbedder({ url, model, apiKey }: OpenAiSettings): Embedder {
  const address = addressOf(url);
  const closing = new AbortController();
  return {
    model: `openai:${model}`,
    textsMax: TEXTS_MAX,
    textCharactersMax: TEXT_CHARACTERS_MAX,
    async embed(texts, signal) {
      signal.throwIfAborted();
      if (texts.length === 0) return [];
      const key = await apiKey();
      const answer = await postJson({
        url: address,
        ...(key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } }),
        body: { model, input: texts, encoding_format: 'float' },
        signal: AbortSignal.any([signal, closing.signal]),
      });
      return inOrder(answer, texts.length);
    },
    async close() {
      closing.abort(new ToolLayerError('E3005', 'The layer is being closed.'));
    },
  };
}

/** Servers may answer in another order; `index` identifies the text. */
function inOrder(answer: unknown, count: number): readonly Float32Array[] {
  const rows = (answer as { data?: unknown } | null)?.data;
  if (!Array.isArray(rows)) return [];
  const vectors: Float32Array[] = Array.from({ length: count }, () => new Float32Array());
  rows.forEach((row: { index?: unknown; embedding?: unknown } | null, place) => {
    const at = typeof row?.index === 'number' ? row.index : place;
    if (at in vectors) vectors[at] = vectorIn(row?.embedding);
  });
  return vectors;
}

function addressOf(url: string): URL {
  const base = URL.parse(url.endsWith('/') ? url : `${url}/`);
  if (base === null || !/^https?:$/.test(base.protocol))
    throw new ToolLayerError('E3801', `search.embedder_url is no http address: ${url.slice(0, 200)}`);
  return new URL(/\/v1\/$/.test(base.pathname) ? 'embeddings' : 'v1/embeddings', base);
}
