import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { SecretStore } from '../external/secret-store.port.ts';
import type { Embedder } from '../registry/embedder.port.ts';
import { createLocalEmbedder } from '../registry/embedders/local/local-embedder.ts';
import { createOllamaEmbedder } from '../registry/embedders/ollama/ollama-embedder.ts';
import { createOpenAiEmbedder } from '../registry/embedders/openai/openai-embedder.ts';
import type { Registry } from '../registry/registry.ts';
import { createToolSearch, type ToolSearch } from '../registry/tool-search.ts';
import type { VectorIndex } from '../registry/vectors.port.ts';
import { memoryVectorIndex } from '../storage/memory/memory-vector-index.ts';
import type { PostgresDatabase } from '../storage/postgres/postgres-database.ts';
import type { Log } from '../telemetry/log.ts';
import type { Settings } from './settings.ts';

/** Dependencies of the search. */
export interface SearchIngredients {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  readonly database: Pick<PostgresDatabase, 'vectorStore' | 'vectorIndex'>;
  readonly registry: Registry;
  /** Closed with the search; absent: tools are found by words alone. */
  readonly embedder: Embedder | undefined;
}

/**
 * The search over the tools of a loaded registry. Nothing runs until a tool changes or somebody searches.
 * @throws ToolLayerError E3801 for settings that cannot be met
 */
export async function openSearch(from: SearchIngredients): Promise<ToolSearch> {
  const { settings, clock, log, database, registry, embedder } = from;
  const index = await vectorIndexOf(from);
  return createToolSearch({
    tools: (tenantId) => registry.manifests(tenantId),
    onChanged: (listener) => registry.onChanged(listener),
    ...(embedder === undefined ? {} : { embedder }),
    index,
    vectors: database.vectorStore,
    threshold: settings['search.threshold'],
    clock,
    log,
  });
}

async function vectorIndexOf({ settings, database }: SearchIngredients): Promise<VectorIndex> {
  if (settings['search.vector_index'] === 'process') return memoryVectorIndex();
  const index = await database.vectorIndex();
  if (index !== undefined) return index;
  throw new ToolLayerError(
    'E3801',
    'search.vector_index is pgvector, but the database server has no extension "vector". Install it there, or set process.',
  );
}

/** The embedder of the settings; it starts when it is first asked. */
export function embedderOf(settings: Settings, secrets: SecretStore): Embedder | undefined {
  const secret = settings['search.embedder_secret'];
  const url = settings['search.embedder_url'];
  const model = settings['search.embedder_model'];
  switch (settings['search.embedder']) {
    case 'none':
      return undefined;
    case 'local':
      return createLocalEmbedder();
    case 'ollama':
      return createOllamaEmbedder({ url: url || 'http://127.0.0.1:11434', model: model || 'nomic-embed-text' });
    case 'openai':
      return createOpenAiEmbedder({
        url: url || 'https://api.openai.com',
        model: model || 'text-embedding-3-small',
        apiKey: async () =>
          secret === '' ? undefined : (await secrets.read(settings['tenant.default'], [secret])).get(secret),
      });
  }
}
