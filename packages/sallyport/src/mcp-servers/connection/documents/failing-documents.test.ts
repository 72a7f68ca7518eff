import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { sha256 } from '@sallyport/std/sha256';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DocumentServer } from '../../../bridges/document-server.port.ts';
import type { DocumentCache, RememberedAnswer } from '../../../bridges/document-stores.port.ts';
import type { DocumentUpdate } from '../../../bridges/document-updates.port.ts';
import {
  createDocuments,
  type DocumentParts,
  type DocumentRequest,
  type Documents,
} from '../../../bridges/documents.ts';
import { readDocumentRef } from '../../../domain/document/document-ref.ts';
import type { WantedDocument } from '../../../domain/document/given-document.ts';
import { memoryDocumentCache } from '../../../storage/memory/memory-document-cache.ts';
import { silentLog } from '../../../telemetry/log.ts';
import { type DocumentHttpServer, startDocumentHttpServer } from '../../test-servers/document-http-server.ts';
import { failureOf, fixture } from '../../test-servers/upstreams.fixture.ts';
import type { Upstreams } from '../../upstreams.ts';
import { upstreamDocuments } from './upstream-documents.ts';

const MINUTE_MS = 60_000;
const SPEC_KEY = 'doc:cache:get_source_of_truth:spec:latest';
const SHARED = { tenantId: 'acme', scope: '' };

let server: DocumentHttpServer;
let upstreams: Upstreams;
let now: number;
let cache: DocumentCache;
let documents: Documents;
let changed: (update: DocumentUpdate | undefined) => void;
const clock: Clock = { now: () => now, monotonic: () => now };

beforeAll(async () => {
  server = await startDocumentHttpServer();
  ({ upstreams } = fixture(createBubblewrapDriver()));
  for (const tenant of ['catalog', 'shut'])
    await upstreams.add(tenant, { name: 'documents', transport: { type: 'http', url: server.url } });
});
afterAll(async () => {
  await upstreams.close();
  await server[Symbol.asyncDispose]();
});
beforeEach(() => {
  now = 1_800_000_000_000;
  server.behaviour = 'well';
  server.answersMax = 100;
  for (const id of ['spec', 'guide', 'secret', 'old']) server.remove(id);
  server.put('spec', 'first');
  server.put('spec', 'second');
  server.put('guide', 'the way to go');
  server.asked.length = 0;
  cache = memoryDocumentCache({ bytesMax: 1_000_000 });
  documents = make();
});

const named = (name = 'documents'): DocumentServer => upstreamDocuments(upstreams, { name, catalogTenant: 'catalog' });

function make(parts: Partial<DocumentParts> = {}): Documents {
  return createDocuments({
    ...{ server: named(), cache, clock, log: silentLog },
    updates: {
      subscribe: (listener) => {
        changed = listener;
        return { [Symbol.dispose]: () => undefined };
      },
    },
    ...parts,
    settings: { retryMs: 0, ...parts.settings },
  });
}

const wanted = (text: string, more: Partial<WantedDocument> = {}): WantedDocument => ({
  ...(readDocumentRef(text) ?? { ref: text }),
  isQuestion: false,
  mode: 'read',
  isPinned: true,
  ...more,
});

const requestOf = (texts: readonly string[], more: Partial<DocumentRequest> = {}): DocumentRequest => ({
  wanted: texts.map((text) => wanted(text)),
  pins: [],
  reader: { tenantId: 'acme', agentDid: 'did:a', secrets: new Map() },
  checkAccess: async () => undefined,
  signal: new AbortController().signal,
  ...more,
});

const read = (texts: readonly string[], more: Partial<DocumentRequest> = {}, from = documents) =>
  from.read(requestOf(texts, more));
const contents = async (...given: Parameters<typeof read>): Promise<string[]> =>
  (await read(...given)).documents.map(({ content }) => content);
const codes = async (...given: Parameters<typeof read>): Promise<string[]> =>
  (await read(...given)).warnings.map(({ code }) => code);
const toolsAsked = (): string[] => server.asked.map(({ tool }) => tool);
const codeOf = async (...given: Parameters<typeof read>) => (await failureOf(read(...given))).code;

describe('entries of the cache that somebody else wrote', () => {
  const forged = (answer: object, storedAt = 1_800_000_000_000): RememberedAnswer =>
    ({ answer, storedAt }) as RememberedAnswer;
  const spec = (more: object = {}) => ({
    document_id: 'spec',
    version: '2',
    uri: 'document://spec',
    content: 'forged',
    content_sha256: sha256('second'),
    ...more,
  });

  test.each([
    ['a content that does not fit its hash', forged(spec())],
    ['a content without a hash', forged({ document_id: 'spec', version: '2', content: 'forged' })],
    ['nothing of a document', forged({})],
    ['a list', forged([])],
    ['another type', forged(spec({ version: 2, content_sha256: sha256('forged') }))],
    ['a time far ahead', forged(spec({ content_sha256: sha256('forged') }), 9_999_999_999_999)],
    ['no time', forged(spec({ content_sha256: sha256('forged') }), Number.NaN)],
  ])('DOC-02 %s is dropped, and the server asked', async (_, entry) => {
    await cache.put(SHARED, SPEC_KEY, entry, MINUTE_MS);
    expect(await contents(['spec'])).toEqual(['second']);
    expect((await cache.get(SHARED, SPEC_KEY))?.answer).toMatchObject({ content: 'second' });
  });

  test('DOC-04 a document in the place of another is checked as what it is', async () => {
    server.put('secret', 'secret');
    await read(['secret']);
    const entry = await cache.get(SHARED, 'doc:cache:get_source_of_truth:secret:latest');
    if (entry !== undefined) await cache.put(SHARED, SPEC_KEY, entry, MINUTE_MS);
    const checkAccess = async (documentId: string): Promise<void> => {
      if (documentId === 'secret') throw new ToolLayerError('E3603', 'no');
    };
    expect(await codeOf(['spec'], { checkAccess })).toBe('E3603');
  });
});

describe('the cache is down', () => {
  const down = async (): Promise<never> => Promise.reject(new ToolLayerError('E3607', 'down'));

  test('DOC-03.4 E3607 is a warning, and the server is asked', async () => {
    documents = make({ cache: { get: down, put: down, drop: down } });
    for (let turn = 0; turn < 2; turn += 1) {
      expect(await codes(['spec', 'guide'])).toEqual(['E3607']);
      changed({ tenantId: 'acme', documentId: 'spec', version: '2' });
    }
    expect(toolsAsked()).toEqual(['get_source_of_truth', 'get_source_of_truth']);
  });
});

describe('a server that fails', () => {
  test.each([
    ['lost', 'E3602', 4],
    ['rubbish', 'E3606', 4],
    ['other-content', 'E3606', 1],
    ['refusing', 'E3602', 1],
  ] as const)('DOC-03 %s: %s after %i requests', async (behaviour, code, requests) => {
    server.behaviour = behaviour;
    expect(await codeOf(['spec'])).toBe(code);
    expect(server.asked).toHaveLength(requests);
    server.asked.length = 0;
    expect(await codeOf(['spec@1'])).toBe(code);
    expect(server.asked).toHaveLength(requests);
  });

  test('DOC-03.3 one that does not answer is E3605, and not asked again', async () => {
    server.behaviour = 'hanging';
    documents = make({ settings: { requestMs: 50 } });
    expect(await codeOf(['spec'])).toBe('E3605');
    expect(server.asked).toHaveLength(1);
  });

  test('DOC-03.3 one that answers with another version than it was asked for is E3606', async () => {
    server.behaviour = 'other-document';
    expect(await codeOf(['spec@1'])).toBe('E3606');
  });

  test('DOC-03.2 one that recovers meanwhile answers the next request', async () => {
    let left = 3;
    const flaky: DocumentServer = {
      ...named(),
      call(...given) {
        server.behaviour = left > 0 ? 'lost' : 'well';
        left -= 1;
        return named().call(...given);
      },
    };
    expect(await contents(['spec'], {}, make({ server: flaky }))).toEqual(['second']);
    left = 4;
    expect(await codeOf(['guide'], {}, make({ server: flaky }))).toBe('E3602');
  });

  test('DOC-03 a call that ends meanwhile ends the reading, with its reason', async () => {
    server.behaviour = 'hanging';
    const cancelled = new ToolLayerError('E3805', 'cancelled');
    const end = new AbortController();
    const reading = read(['spec'], { signal: end.signal });
    await expect.poll(() => server.asked.length).toBe(1);
    end.abort(cancelled);
    expect(await failureOf(reading)).toBe(cancelled);
  });

  test('DOC-03.1 an old answer is given with a warning, then the other source is asked', async () => {
    await read(['spec']);
    now += 60 * MINUTE_MS;
    server.behaviour = 'lost';
    expect(await contents(['spec'])).toEqual(['second']);
    expect(await codes(['spec'])).toEqual(['document_stale']);
    expect(await codeOf(['spec', 'guide'])).toBe('E3602');
    const direct: DocumentServer = {
      scopeOf: () => '',
      async call(_reader, tool, args) {
        server.behaviour = 'well';
        const answer = await named().call({ tenantId: 'acme', agentDid: 'did:a', secrets: new Map() }, tool, args, {
          signal: new AbortController().signal,
          timeoutMs: 1000,
        });
        server.behaviour = 'lost';
        return answer;
      },
    };
    documents = make({ direct });
    expect(await contents(['spec', 'guide', 'guide@1'])).toEqual(['second', 'the way to go']);
    expect(await codeOf(['none'])).toBe('E3601');
    now += 24 * 60 * MINUTE_MS;
    expect(await codeOf(['spec'], {}, make())).toBe('E3602');
  });

  test('DOC-03.1 a version that is here is given without its status', async () => {
    await read(['spec@1']);
    server.behaviour = 'lost';
    expect(await contents(['spec@1'])).toEqual(['first']);
  });

  test('DOC-03 what an operator shut is asked nowhere else', async () => {
    await read(['spec']);
    await upstreams.restart('shut', 'documents', true);
    const asIfShut = upstreamDocuments(upstreams, { name: 'documents', catalogTenant: 'shut' });
    now += 60 * MINUTE_MS;
    const reading = read(['spec'], {}, make({ server: asIfShut, direct: named() }));
    expect(await failureOf(reading)).toMatchObject({ code: 'E3310', message: expect.stringContaining('disabled') });
  });

  test('DOC-03 without a server the message names the setting', async () => {
    const reading = read(['spec'], {}, make({ server: named('none') }));
    expect(await failureOf(reading)).toMatchObject({
      code: 'E3602',
      message: expect.stringContaining('document_bridge.upstream'),
    });
  });
});
