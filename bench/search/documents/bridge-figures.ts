import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { KiB, MiB } from '@sallyport/std/bytes';
import { systemClock } from '@sallyport/std/clock';
import { DOCUMENT_DEFAULTS } from '../../../packages/sallyport/src/bridges/documents/documents.fixture.ts';
import { createDocuments, type Documents } from '../../../packages/sallyport/src/bridges/documents.ts';
import { upstreamDocuments } from '../../../packages/sallyport/src/mcp-servers/connection/documents/upstream-documents.ts';
import { startDocumentHttpServer } from '../../../packages/sallyport/src/mcp-servers/test-servers/document-http-server.ts';
import { fixture, TENANT } from '../../../packages/sallyport/src/mcp-servers/test-servers/upstreams.fixture.ts';
import { memoryDocumentCache } from '../../../packages/sallyport/src/storage/memory/memory-document-cache.ts';
import { silentLog } from '../../../packages/sallyport/src/telemetry/log.ts';
import { ROUNDS } from '../../report/benchmark.ts';
import { besidePeer, type Figure, figureOf } from '../../report/figure.ts';
import { median } from '../../report/statistics.ts';

/** Documents of 4 KiB, each missed once in a round. */
const DOCUMENTS = 200;
const CONTENT = 'text '.repeat((4 * KiB) / 5);
/** Hits timed together: the clock is coarser than one, and code is compiled as it is used. */
const HITS = 20_000;
const READER = { tenantId: TENANT, agentDid: 'did:example:bench', secrets: new Map<string, string>() };

/** What the bridge of documents adds to its cache and to its server. */
export async function bridgeFigures(): Promise<readonly Figure[]> {
  await using opened = new AsyncDisposableStack();
  const http = opened.use(await startDocumentHttpServer());
  const ids = Array.from({ length: DOCUMENTS }, (_, at) => `document-${at}`);
  for (const id of ids) http.put(id, CONTENT);
  const upstreams = opened.adopt(fixture(createBubblewrapDriver()).upstreams, (each) => each.close());
  await upstreams.add(TENANT, { name: 'documents', transport: { type: 'http', url: http.url } });
  const server = upstreamDocuments(upstreams, { name: 'documents', catalogTenant: TENANT });
  const { signal } = new AbortController();
  const times = { hit: [] as number[], cache: [] as number[], miss: [] as number[], server: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    const cache = memoryDocumentCache({ bytesMax: 64 * MiB });
    using bridge = createDocuments({
      ...{ server, cache, clock: systemClock, log: silentLog, settings: DOCUMENT_DEFAULTS },
    });
    for (const id of ids) {
      times.miss.push(await usOf(() => read(bridge, id, signal)));
      const asked = { document_refs: [id] };
      times.server.push(
        await usOf(() => server.call(READER, 'get_source_of_truth', asked, { signal, timeoutMs: 30_000 })),
      );
    }
    const [id = ''] = ids;
    const key = `doc:cache:get_source_of_truth:${id}:latest`;
    if ((await cache.get({ tenantId: TENANT, scope: '' }, key)) === undefined)
      throw new Error('Nothing is remembered.');
    for (let turn = 0; turn < ROUNDS; turn += 1) {
      times.hit.push(await usOf(() => read(bridge, id, signal), HITS));
      times.cache.push(await usOf(() => cache.get({ tenantId: TENANT, scope: '' }, key), HITS));
    }
  }
  const [cacheUs, serverUs] = [median(times.cache) ?? 0, median(times.server) ?? 0];
  const hit = figureOf('document from the bridge, remembered, p50', 'µs', median(times.hit), { atMost: 2 * cacheUs });
  const miss = figureOf('the same, not remembered, p50', 'µs', median(times.miss), { atMost: 1.3 * serverUs });
  return [besidePeer(hit, 'its cache in memory', cacheUs), besidePeer(miss, 'the MCP server over HTTP', serverUs)];
}

async function read(bridge: Documents, ref: string, signal: AbortSignal): Promise<void> {
  const wanted = [{ ref, isQuestion: false, mode: 'read', isPinned: false } as const];
  const checkAccess = () => undefined;
  const { documents } = await bridge.read({ wanted, reader: READER, pins: [], checkAccess, signal });
  if (documents.length !== 1) throw new Error(`${ref} was not read.`);
}

/** Time of one of so many runs, in µs. */
async function usOf(work: () => unknown, runs = 1): Promise<number> {
  const began = performance.now();
  for (let run = 0; run < runs; run += 1) await work();
  return ((performance.now() - began) * 1000) / runs;
}
