import { systemClock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DocumentUpdate, DocumentUpdates } from '../../bridges/document-updates.port.ts';
import { conceptEmbedder } from '../../registry/search/search.fixture.ts';
import { memoryDocumentUpdates } from '../../storage/memory/memory-document-updates.ts';
import { memoryVectorIndex } from '../../storage/memory/memory-vector-index.ts';
import { openPostgres, type PostgresDatabase } from '../../storage/postgres/postgres-database.ts';
import { embeddedDatabases } from '../../storage/postgres/postgres-databases.fixture.ts';
import { silentLog } from '../../telemetry/log.ts';
import { createDocumentServer, createMeaning } from '../documents.ts';
import { DOCUMENT_SERVER_DEFAULTS } from '../settings.ts';
import { tenantOf } from './document-tenant.fixture.ts';
import { passageHashes } from './passages.ts';

const opened = new AsyncDisposableStack();
const embedder = conceptEmbedder();
const index = memoryVectorIndex();
let database: PostgresDatabase;

beforeAll(async () => {
  const databases = opened.adopt(await embeddedDatabases(), (each) => each.close());
  database = opened.use(await openPostgres({ connection: await databases.fresh(), log: silentLog }));
});
afterAll(() => opened.disposeAsync());

/** A server over the database; PDF, Word and files of the machine are of no concern here. */
function open(updates: DocumentUpdates = memoryDocumentUpdates()) {
  const { documentStore: store, vectorStore: vectors } = database;
  const parts = { store, clock: systemClock, log: silentLog };
  const meaning = opened.use(createMeaning({ ...parts, embedder, index, vectors }));
  const nothing = { read: () => Promise.reject(new Error('nothing is read here')) };
  const settings = DOCUMENT_SERVER_DEFAULTS;
  return opened.use(createDocumentServer({ ...parts, reader: nothing, files: nothing, meaning, updates, settings }));
}

/** Vectors that are kept of texts under the title `kit`. */
const kept = async (...contents: readonly string[]): Promise<number> => {
  const { dimensions } = { dimensions: 5, ...embedder.traits };
  const hashes = contents.flatMap((content) => passageHashes('kit', content));
  return (await database.vectorStore.get(embedder.model, dimensions, hashes)).length;
};

test('DOC-01.5 a deleted document is read and found by nobody, and its vectors are gone, those of earlier versions too', async () => {
  const { ingest, search, remove, truth, versions, metadata, tenantId } = tenantOf(open(), 'whole');
  const contents = ['Take an umbrella.', 'Take a camera.'];
  for (const content of contents) {
    await ingest({ document_id: 'kit', content });
    expect(await search('photo and forecast')).toMatchObject({ results: [{ document: { document_id: 'kit' } }] });
  }
  expect(await kept(...contents)).toBe(2);
  expect(await remove({ document_id: 'kit' })).toEqual({ document_id: 'kit', versions_deleted: 2 });
  expect(await kept(...contents)).toBe(0);
  expect(await search('photo and forecast')).toEqual({ results: [], mode: 'hybrid' });
  const queries = await embedder.embed(['photo'], new AbortController().signal);
  expect(await index.search(tenantId, { queries, cosineMin: 0.1, toolsMax: 9, also: [] })).toEqual(new Map());
  for (const answer of [
    await truth({ document_refs: ['kit'] }),
    await metadata({ document_id: 'kit' }),
    await versions({ document_id: 'kit', version: '1' }),
  ])
    expect(answer).toMatchObject({ documents: [], missing: [{ reason: 'not_found' }] });
  await expect(remove({ document_id: 'kit' })).rejects.toThrow('There is no document kit.');
});

test('DOC-01.5 one version is deleted with the vectors that the newest one has not, and the newest is refused', async () => {
  const { ingest, search, remove, versions } = tenantOf(open(), 'one');
  const [first, second] = ['Send a letter.', 'Send a letter.\n\n# More\n\nPay in euro.'];
  for (const content of [first, second]) {
    await ingest({ document_id: 'kit', title: 'kit', content });
    await search('money');
  }
  await expect(remove({ document_id: 'kit', version: '2' })).rejects.toThrow('Ingest a new version first');
  for (const version of ['3', 'last'])
    await expect(remove({ document_id: 'kit', version })).rejects.toThrow('no version');
  expect(await remove({ document_id: 'kit', version: '1' })).toMatchObject({ versions_deleted: 1 });
  expect(await kept(first, second)).toBe(2);
  const documents = [1, 2].map((version) => ({ document_id: 'kit', version: String(version) }));
  expect(await versions({ documents })).toMatchObject({
    documents: [{ version: '2', content: second }],
    missing: [{ ref: 'kit@1', reason: 'version_not_found' }],
  });
});

test('DOC-02.3 DOC-02.4 a deletion is published before it is answered; one that could not be is published when it is asked for again', async () => {
  const updates = memoryDocumentUpdates();
  const published: DocumentUpdate[] = [];
  let isDown = true;
  const publish = async (update: DocumentUpdate): Promise<void> => {
    if (isDown) throw new ToolLayerError('E3812', 'The other instances cannot be notified.');
    published.push(update);
  };
  const { ingest, remove } = tenantOf(open({ ...updates, publish }), 'told');
  for (const content of ['One.', 'Two.', 'Three.']) await ingest({ document_id: 'kit', content });
  await expect(remove({ document_id: 'kit', version: '1' })).rejects.toMatchObject({ code: 'E3812' });
  isDown = false;
  await remove({ document_id: 'kit', version: '2' });
  isDown = true;
  await expect(remove({ document_id: 'kit' })).rejects.toMatchObject({ code: 'E3812' });
  isDown = false;
  await expect(remove({ document_id: 'kit' })).rejects.toThrow('There is no document');
  const update = { tenantId: 'told', documentId: 'kit', deleted: true };
  expect(published).toEqual([
    { ...update, version: '3' },
    { ...update, version: '' },
  ]);
});
