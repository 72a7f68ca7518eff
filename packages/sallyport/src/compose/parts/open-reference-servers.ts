import type { SandboxDriver } from '@sallyport/sandbox';
import type { DocumentUpdates } from '../../bridges/document-updates.port.ts';
import { valuesOf } from '../../domain/settings/setting.ts';
import { createPageConverter } from '../../executors/web/page/page-converter.ts';
import type { EmbeddedServers } from '../../mcp-servers/embedded-server.port.ts';
import { createDocumentServer, createMeaning } from '../../reference-servers/documents.ts';
import { DOCUMENT_SERVER_SETTINGS } from '../../reference-servers/settings.ts';
import type { Embedder } from '../../registry/embedder.port.ts';
import { memoryVectorIndex } from '../../storage/memory/memory-vector-index.ts';
import { documentReader } from './document-reader.ts';
import type { Ingredients } from './ingredients.ts';
import { openDocumentUpdates, type Storage } from './open-storage.ts';

/** What reference servers use of the layer. */
export interface ReferenceServerNeeds {
  /** Absent: documents are found by words alone. */
  readonly embedder: Embedder | undefined;
  readonly driver: SandboxDriver;
}

/** The servers that run in this process, and what notifies of changes in them. */
export interface ReferenceServers {
  readonly servers: EmbeddedServers;
  /** Absent where there is no document server. */
  readonly documentUpdates?: DocumentUpdates;
}

/** Opens the reference servers. Nothing of them starts before they are called. */
export async function openReferenceServers(
  opened: AsyncDisposableStack,
  { settings, clock, log }: Pick<Ingredients, 'settings' | 'clock' | 'log'>,
  storage: Storage,
  { embedder, driver }: ReferenceServerNeeds,
): Promise<ReferenceServers> {
  const own = valuesOf(DOCUMENT_SERVER_SETTINGS, settings);
  if (own.embedded === 'off') return { servers: {} };
  const { documentStore: store, vectorStore: vectors } = storage.database;
  const updates = opened.use(await openDocumentUpdates(storage));
  const index = memoryVectorIndex();
  const meaning =
    embedder === undefined ? undefined : opened.use(createMeaning({ store, embedder, index, vectors, clock, log }));
  const reader = documentReader(opened.use(createPageConverter()), driver);
  const documents = opened.use(createDocumentServer({ store, reader, meaning, updates, settings: own, clock, log }));
  return { servers: { documents }, documentUpdates: updates };
}
