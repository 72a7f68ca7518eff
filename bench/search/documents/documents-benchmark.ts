import { join } from 'node:path';
import { systemClock } from '@sallyport/std/clock';
import { Pool } from 'pg';
import { createDocumentServer, createMeaning } from '../../../packages/sallyport/src/reference-servers/documents.ts';
import { DOCUMENT_SERVER_DEFAULTS } from '../../../packages/sallyport/src/reference-servers/settings.ts';
import type { Embedder } from '../../../packages/sallyport/src/registry/embedder.port.ts';
import { createLocalEmbedder } from '../../../packages/sallyport/src/registry/embedders/local/local-embedder.ts';
import { memoryDocumentUpdates } from '../../../packages/sallyport/src/storage/memory/memory-document-updates.ts';
import { memoryVectorIndex } from '../../../packages/sallyport/src/storage/memory/memory-vector-index.ts';
import { startEmbeddedPostgres } from '../../../packages/sallyport/src/storage/postgres/embedded-postgres.ts';
import { poolTarget } from '../../../packages/sallyport/src/storage/postgres/postgres-connection.ts';
import {
  openPostgres,
  type PostgresDatabase,
} from '../../../packages/sallyport/src/storage/postgres/postgres-database.ts';
import { silentLog } from '../../../packages/sallyport/src/telemetry/log.ts';
import { temporaryFolder } from '../../processes/temporary-folder.ts';
import { type BenchmarkRun, ROUNDS } from '../../report/benchmark.ts';
import { besidePeer, type Figure, figureOf } from '../../report/figure.ts';
import { median } from '../../report/statistics.ts';
import { bridgeFigures } from './bridge-figures.ts';
import { madeDocuments } from './corpus.ts';
import { overlapFigures } from './overlap-recall.ts';

const DOCUMENTS = 10_000;
/** Writers at once. */
const WRITERS = 8;
const QUERIES = [
  'who may change a policy',
  'how long is a checkpoint kept',
  'sandbox without network',
  'rotate the key of a token',
  'upstream server ends while a call runs',
];
const PEER = "PostgreSQL's own full-text search";
const CALLER = { tenantId: 'bench', agentDid: 'did:example:bench' };

/** Opens document servers over one database. */
export type OpenServer = (embedder?: Embedder) => ReturnType<typeof createDocumentServer>;

/** The bridge of documents, search over ten thousand of them beside the database alone, and the recall of overlaps. */
export async function runDocuments({ seconds, report }: BenchmarkRun): Promise<readonly Figure[]> {
  report('reading through the bridge');
  const bridge = await bridgeFigures();
  await using opened = new AsyncDisposableStack();
  const folder = opened.use(await temporaryFolder());
  const dataFolder = join(folder.path, 'postgres');
  const { connection } = opened.use(await startEmbeddedPostgres({ dataFolder, log: silentLog }));
  const database = opened.use(await openPostgres({ connection, log: silentLog }));
  const pool = opened.adopt(new Pool({ ...poolTarget(connection), max: 2 }), (each) => each.end());
  const open = opener(opened, database);
  const documents = madeDocuments(DOCUMENTS);
  report('ingesting');
  const ingestedS = await ingestAll(open(), documents);
  await makePeer(pool, documents);
  const words = open();
  const both = open(quickEmbedder());
  report('reading the passages');
  while (!(await isEmbedded(both))) report('reading the passages');
  const ms = (seconds * 1000) / ROUNDS;
  const found = { words: [] as number[], both: [] as number[], peer: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    report(`searching, round ${round + 1} of ${ROUNDS}`);
    found.words.push(await p50(ms, (query) => search(words, query)));
    found.both.push(await p50(ms, (query) => search(both, query)));
    found.peer.push(await p50(ms, (query) => askPeer(pool, query)));
  }
  report('comparing texts');
  const local = opened.adopt(createLocalEmbedder(), (each) => each.close());
  const peer = median(found.peer);
  return [
    ...bridge,
    figureOf('ingest 10 000 documents, 8 at once', 's', ingestedS),
    besidePeer(figureOf('search 10 000 documents by words, p50', 'ms', median(found.words)), PEER, peer),
    besidePeer(figureOf('search them by words and meaning, p50', 'ms', median(found.both)), PEER, peer),
    ...(await overlapFigures(open(local))),
  ];
}

function opener(opened: AsyncDisposableStack, database: PostgresDatabase): OpenServer {
  const { documentStore: store, vectorStore: vectors } = database;
  const clock = systemClock;
  const reader = { read: () => Promise.reject(new Error('Only text is measured.')) };
  return (embedder) => {
    const index = memoryVectorIndex();
    const parts = { store, index, vectors, clock, log: silentLog };
    const meaning = embedder === undefined ? undefined : opened.use(createMeaning({ ...parts, embedder }));
    const updates = memoryDocumentUpdates();
    const own = { store, reader, files: reader, meaning, updates };
    const server = { ...own, settings: DOCUMENT_SERVER_DEFAULTS, clock, log: silentLog };
    return opened.use(createDocumentServer(server));
  };
}

const call = (server: ReturnType<OpenServer>, tool: string, args: Record<string, unknown>) =>
  server.call(tool, args, CALLER, new AbortController().signal);

/** @returns seconds */
async function ingestAll(server: ReturnType<OpenServer>, documents: readonly string[]): Promise<number> {
  const begin = performance.now();
  const waiting = [...documents.entries()];
  const writer = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
      await call(server, 'ingest_document', { document_id: `d${next[0]}`, content: next[1] });
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
  return (performance.now() - begin) / 1000;
}

async function search(server: ReturnType<OpenServer>, query: string): Promise<void> {
  const { structuredContent } = await call(server, 'search_documents', { query });
  if ((structuredContent as { results: unknown[] }).results.length !== 10)
    throw new Error(`${query} finds too little.`);
}

async function isEmbedded(server: ReturnType<OpenServer>): Promise<boolean> {
  const begin = performance.now();
  await search(server, QUERIES[0] ?? '');
  return performance.now() - begin < 1_000;
}

/** The same contents in a table of their own. */
async function makePeer(pool: Pool, documents: readonly string[]): Promise<void> {
  await pool.query('create table sallyport.peer (id text primary key, content text not null, words tsvector not null)');
  await pool.query(
    "insert into sallyport.peer select id, content, to_tsvector('english', content) from unnest($1::text[], $2::text[]) as given (id, content)",
    [documents.map((_, at) => `d${at}`), documents],
  );
  await pool.query('create index peer_words on sallyport.peer using gin (words)');
  await pool.query('vacuum analyze sallyport.peer');
}

const PEER_QUERY = `
with wanted as (select replace(plainto_tsquery('english', $1)::text, ' & ', ' | ')::tsquery as query)
select id, content, ts_rank(words, query, 1) as score from sallyport.peer, wanted
where words @@ query order by score desc limit 10`;

async function askPeer(pool: Pool, query: string): Promise<void> {
  const { rows } = await pool.query({ name: 'peer', text: PEER_QUERY, values: [query] });
  if (rows.length !== 10) throw new Error(`${query} finds too little.`);
}

async function p50(ms: number, ask: (query: string) => Promise<void>): Promise<number> {
  const times: number[] = [];
  const end = performance.now() + ms;
  for (let at = 0; performance.now() < end || at < QUERIES.length; at += 1) {
    const begin = performance.now();
    await ask(QUERIES[at % QUERIES.length] ?? '');
    times.push(performance.now() - begin);
  }
  return median(times) ?? Number.NaN;
}

/** Takes no time itself: what a model takes is not measured here. Texts with the same words are near. */
function quickEmbedder(): Embedder {
  const dimensions = 512;
  return {
    model: 'quick',
    textsMax: 64,
    textCharactersMax: 2_000,
    traits: { dimensions, boundaryCosine: 0.3, relatedCosine: 0.6 },
    embed: async (texts) =>
      texts.map((text) => {
        const vector = new Float32Array(dimensions);
        for (const word of text.toLowerCase().match(/[a-z]{4,}/g) ?? ['none']) {
          let hash = 7;
          for (let at = 0; at < word.length; at += 1) hash = (Math.imul(hash, 31) + word.charCodeAt(at)) >>> 0;
          vector[hash % dimensions] = (vector[hash % dimensions] ?? 0) + 1;
        }
        return vector;
      }),
    close: async () => {},
  };
}
