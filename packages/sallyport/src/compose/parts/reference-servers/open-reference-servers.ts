import type { SandboxDriver } from '@sallyport/sandbox';
import type { DocumentUpdates } from '../../../bridges/document-updates.port.ts';
import type { CallOwner } from '../../../domain/invocation/call-owner.ts';
import { valuesOf } from '../../../domain/settings/setting.ts';
import { createPageConverter } from '../../../executors/web/page/page-converter.ts';
import type { EmbeddedServer, EmbeddedServers } from '../../../mcp-servers/embedded-server.port.ts';
import { createContextServer } from '../../../reference-servers/context-server.ts';
import { CONTEXT_SERVER_SETTINGS } from '../../../reference-servers/context-settings.ts';
import { createDocumentServer, createMeaning } from '../../../reference-servers/documents.ts';
import { DOCUMENT_SERVER_SETTINGS } from '../../../reference-servers/settings.ts';
import type { Embedder } from '../../../registry/embedder.port.ts';
import { memoryVectorIndex } from '../../../storage/memory/memory-vector-index.ts';
import type { Ingredients } from '../ingredients.ts';
import { openDocumentUpdates, type Storage } from '../open-storage.ts';
import { documentFiles } from './document-files.ts';
import { documentReader } from './document-reader.ts';

/** What reference servers use of the layer. */
export interface ReferenceServerNeeds {
  /** Absent: documents are found by words alone. */
  readonly embedder: Embedder | undefined;
  readonly driver: SandboxDriver;
  /** Called when a context of the owner may have been changed in this process. */
  readonly onContextChanged: (owner: CallOwner) => void;
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
  from: ReferenceServerIngredients,
  storage: Storage,
  needs: ReferenceServerNeeds,
): Promise<ReferenceServers> {
  const documents = await openDocuments(opened, from, storage, needs);
  const context = contextOf(from, storage, needs);
  const { server, updates } = documents ?? {};
  return {
    servers: {
      ...(server === undefined ? {} : { documents: server }),
      ...(context === undefined ? {} : { context }),
    },
    ...(updates === undefined ? {} : { documentUpdates: updates }),
  };
}

type ReferenceServerIngredients = Pick<Ingredients, 'settings' | 'clock' | 'log' | 'closed'>;

async function openDocuments(
  opened: AsyncDisposableStack,
  { settings, clock, log, closed }: ReferenceServerIngredients,
  storage: Storage,
  { embedder, driver }: ReferenceServerNeeds,
): Promise<{ readonly server: EmbeddedServer; readonly updates: DocumentUpdates } | undefined> {
  const own = valuesOf(DOCUMENT_SERVER_SETTINGS, settings);
  if (own.embedded === 'off') return undefined;
  const { documentStore: store, vectorStore: vectors } = storage.database;
  const updates = opened.use(await openDocumentUpdates(storage));
  const index = memoryVectorIndex();
  const meaning =
    embedder === undefined ? undefined : opened.use(createMeaning({ store, embedder, index, vectors, clock, log }));
  const reader = documentReader(opened.use(createPageConverter()), driver);
  const files = documentFiles(settings, closed);
  const server = opened.use(
    createDocumentServer({ store, reader, files, meaning, updates, settings: own, clock, log }),
  );
  return { server, updates };
}

function contextOf(
  { settings, clock }: ReferenceServerIngredients,
  { database }: Storage,
  { onContextChanged: onChanged }: ReferenceServerNeeds,
): EmbeddedServer | undefined {
  const own = valuesOf(CONTEXT_SERVER_SETTINGS, settings);
  if (own.embedded === 'off') return undefined;
  return createContextServer({ store: database.contextStore, clock, settings: own, onChanged });
}
