import { systemClock } from '@sallyport/std/clock';
import type { ToolManifest } from '../../packages/sallyport/api/schemas/tool-manifest.ts';
import type { ToolVersion } from '../../packages/sallyport/src/domain/tool/tool-version.ts';
import type { Embedder } from '../../packages/sallyport/src/registry/embedder.port.ts';
import { queryTexts } from '../../packages/sallyport/src/registry/search/vectors/query-texts.ts';
import { toolTexts } from '../../packages/sallyport/src/registry/search/vectors/tool-texts.ts';
import { middleOf, unitVector } from '../../packages/sallyport/src/registry/search/vectors/unit-vector.ts';
import { createToolSearch, type ToolSearch } from '../../packages/sallyport/src/registry/tool-search.ts';
import type { VectorStore } from '../../packages/sallyport/src/registry/vectors.port.ts';
import {
  type MemoryVectorIndex,
  memoryVectorIndex,
} from '../../packages/sallyport/src/storage/memory/memory-vector-index.ts';
import { silentLog } from '../../packages/sallyport/src/telemetry/log.ts';

/** Tenant of all tools of a benchmark. */
export const TENANT = 'bench';

type Embed = (texts: readonly string[]) => Promise<readonly Float32Array[]>;

/** A search over tools that stay as they are. */
export interface SearchOfSet extends AsyncDisposable {
  readonly search: ToolSearch;
  readonly index: MemoryVectorIndex;
}

/** The search as the layer has it, with the settings' threshold; without an embedder keywords alone. It is left open. */
export async function searchOfSet(tools: readonly ToolVersion[], embedder?: Embedder): Promise<SearchOfSet> {
  const index = memoryVectorIndex();
  const search = createToolSearch({
    tools: () => tools,
    onChanged: () => ({ [Symbol.dispose]: () => undefined }),
    ...(embedder === undefined ? {} : { embedder: { ...embedder, close: async () => undefined } }),
    index,
    vectors: NO_STORE,
    threshold: 0.7,
    clock: systemClock,
    log: { ...silentLog, warn: (event, fields) => console.error(event, JSON.stringify(fields)) },
  });
  await search.search([TENANT], { text: 'anything', page: 1, pageSize: 1 });
  while (search.progress().pending > 0) await new Promise((resolve) => setTimeout(resolve, 50));
  return { search, index, [Symbol.asyncDispose]: () => search.close() };
}

/** Keeps nothing: a benchmark embeds once. */
const NO_STORE: VectorStore = { get: async () => [], put: async () => undefined, prune: async () => 0 };

/** As the search makes it. */
export async function vectorOfTool(manifest: ToolManifest, embed: Embed): Promise<Float32Array> {
  return middleOf((await embed(toolTexts(manifest).texts)).map(unit));
}

/** As the search makes them. */
export async function vectorOfQuery(query: string, embed: Embed): Promise<readonly Float32Array[]> {
  return (await embed(queryTexts(query))).map(unit);
}

const unit = (vector: Float32Array): Float32Array => unitVector(vector) ?? vector;

/** An embedder that asks another one once for each text, so that each way of searching costs no more. */
export function rememberingEmbedder(inner: Embedder): Embedder {
  const known = new Map<string, Float32Array>();
  return {
    ...inner,
    async embed(texts, signal) {
      const missing = [...new Set(texts.filter((text) => !known.has(text)))];
      for (let at = 0; at < missing.length; at += inner.textsMax) {
        const part = missing.slice(at, at + inner.textsMax);
        const vectors = await inner.embed(part, signal);
        for (const [place, text] of part.entries()) known.set(text, vectors[place] ?? new Float32Array());
      }
      return texts.map((text) => known.get(text) ?? new Float32Array());
    },
  };
}
