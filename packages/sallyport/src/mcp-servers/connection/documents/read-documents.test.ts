import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { sha256 } from '@sallyport/std/sha256';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DocumentServer } from '../../../bridges/document-server.port.ts';
import type { DocumentCache } from '../../../bridges/document-stores.port.ts';
import type { DocumentUpdate } from '../../../bridges/document-updates.port.ts';
import {
  createDocuments,
  type DocumentParts,
  type DocumentRequest,
  type Documents,
} from '../../../bridges/documents.ts';
import { readDocumentRef } from '../../../domain/document/document-ref.ts';
import type { DocumentPin, WantedDocument } from '../../../domain/document/given-document.ts';
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

describe('reading documents', () => {
  test('DOC-01.3 all that are missing come in one request for each tool', async () => {
    const asked = ['spec', 'document://guide', 'spec@1', 'doc://guide@1'];
    const { documents: found } = await read(asked);
    expect(found.map(({ document_id, version, content }) => [document_id, version, content])).toEqual([
      ['spec', '2', 'second'],
      ['guide', '1', 'the way to go'],
      ['spec', '1', 'first'],
    ]);
    expect(toolsAsked().sort()).toEqual(['get_document_version', 'get_source_of_truth']);
  });

  test('DOC-01.1 a pattern and a question are answered by the server', async () => {
    const question = wanted('the way', { isQuestion: true });
    expect(await contents([], { wanted: [wanted('gui*'), wanted('spec'), question] })).toEqual([
      'the way to go',
      'second',
    ]);
    expect(server.asked).toEqual([
      { tool: 'get_source_of_truth', args: { document_refs: ['gui*', 'spec'], query: 'the way' } },
    ]);
  });

  test('DOC-01.3 an answer that was full before it held all is asked for the rest', async () => {
    server.answersMax = 1;
    expect(await contents(['spec', 'guide'])).toEqual(['second', 'the way to go']);
    expect(await contents(['spec@1', 'guide@1'])).toEqual(['first', 'the way to go']);
    server.answersMax = 0;
    now += 10 * MINUTE_MS;
    expect(await codeOf(['guide'], { wanted: [wanted('the way', { isQuestion: true })] })).toBe('E3606');
  });

  test('DOC-03 an unknown one is E3601, an unknown version E3604, and neither is remembered', async () => {
    expect(await codeOf(['none'])).toBe('E3601');
    expect(await codeOf(['none@1'])).toBe('E3601');
    expect(await codeOf(['spec@9'])).toBe('E3604');
    server.put('none', 'now there');
    expect(await contents(['none'])).toEqual(['now there']);
    server.remove('none');
  });

  test('more bytes than a call may have are E3102', async () => {
    documents = make({ settings: { callBytesMax: 6 } });
    expect(await contents(['spec'])).toEqual(['second']);
    expect(await codeOf(['spec', 'guide'])).toBe('E3102');
  });
});

describe('remembered answers', () => {
  test('DOC-02.1 the newest version is remembered for 300 s under its key, its status for 600 s', async () => {
    await read(['spec']);
    expect((await cache.get(SHARED, SPEC_KEY))?.answer).toMatchObject({ document_id: 'spec', version: '2' });
    now += 299_999;
    await read(['spec']);
    expect(toolsAsked()).toEqual(['get_source_of_truth']);
    server.put('spec', 'third');
    now += 1;
    expect(await contents(['spec'])).toEqual(['third']);
    await read(['spec@3']);
    expect(await cache.get(SHARED, 'doc:cache:get_document_metadata:spec:latest')).toBeDefined();
    now += 599_999;
    await read(['spec@3']);
    expect(toolsAsked().slice(2)).toEqual(['get_document_metadata']);
    now += 1;
    await read(['spec@3']);
    expect(toolsAsked().slice(3)).toEqual(['get_document_metadata']);
  });

  test('DOC-02.2 a version is fetched once, however old it is', async () => {
    await read(['spec@1']);
    now += 1000 * MINUTE_MS;
    expect(await contents(['spec@1'])).toEqual(['first']);
    expect(toolsAsked()).toEqual(['get_document_version', 'get_document_metadata']);
  });

  test('DOC-02.3 a change of one document drops it, and what was resolved to another one', async () => {
    await read(['spec', 'guide', 'gui*']);
    server.put('spec', 'third');
    now += 1;
    changed({ tenantId: 'acme', documentId: 'spec', version: '3' });
    now += 1;
    expect(await contents(['spec', 'guide', 'gui*'])).toEqual(['third', 'the way to go']);
    expect(server.asked.at(-1)?.args).toEqual({ document_refs: ['spec', 'gui*'] });
    server.asked.length = 0;
    changed({ tenantId: 'other', documentId: 'spec', version: '9' });
    await read(['spec', 'gui*']);
    expect(toolsAsked()).toEqual([]);
  });

  test('DOC-02.3 when changes were missed, everything is asked for again', async () => {
    await read(['spec']);
    now += 1;
    changed(undefined);
    await read(['spec']);
    expect(toolsAsked()).toEqual(['get_source_of_truth', 'get_source_of_truth']);
  });

  test('DOC-02.3 what was asked for before a change is not remembered after it', async () => {
    const slow: DocumentServer = {
      ...named(),
      async call(...given) {
        const answer = await named().call(...given);
        changed({ tenantId: 'acme', documentId: 'spec', version: '3' });
        return answer;
      },
    };
    expect(await contents(['spec'], {}, make({ server: slow }))).toEqual(['second']);
    expect(await cache.get(SHARED, SPEC_KEY)).toBeUndefined();
  });

  test('PRM-10 a tenant gets nothing that another one had remembered', async () => {
    await read(['spec', 'spec@1']);
    await read(['spec', 'spec@1'], { reader: { tenantId: 'other', agentDid: 'did:a', secrets: new Map() } });
    expect(toolsAsked()).toHaveLength(4);
  });

  test('DOC-02 where callers have connections of their own, so have their answers', () => {
    const { scopeOf } = upstreamDocuments(
      { ...upstreams, definition: () => ({ per_caller: true }) as ReturnType<Upstreams['definition']> },
      { name: 'documents', catalogTenant: 'catalog' },
    );
    const scopes = ['u', 'v', undefined].map((userDid) =>
      scopeOf({ tenantId: 'acme', agentDid: 'did:a', secrets: new Map(), ...(userDid && { userDid }) }),
    );
    expect(new Set([...scopes, '']).size).toBe(4);
    expect(named().scopeOf({ tenantId: 'acme', agentDid: 'did:a', secrets: new Map() })).toBe('');
  });
});

describe('access', () => {
  test('DOC-04.1 is checked before anything is asked for, and again for what is remembered', async () => {
    const seen: string[] = [];
    const checkAccess = async (documentId: string, mode: string): Promise<void> => {
      seen.push(`${mode} ${documentId}`);
      if (documentId === 'spec') throw new ToolLayerError('E3603', 'no');
    };
    expect(await codeOf(['guide', 'spec'], { checkAccess })).toBe('E3603');
    expect(server.asked).toEqual([]);
    await read(['spec']);
    server.asked.length = 0;
    expect(await codeOf(['spec'], { checkAccess })).toBe('E3603');
    expect(await codeOf(['spec@2'], { checkAccess })).toBe('E3603');
    expect([server.asked, seen]).toEqual([[], ['read guide', 'read spec', 'read spec', 'read spec']]);
  });

  test('DOC-04.1 is checked for what the server chose: an answer to a pattern, and a successor', async () => {
    server.put('secret', 'secret');
    server.put('old', 'old');
    server.deprecate('old', 'secret');
    const checkAccess = async (documentId: string): Promise<void> => {
      if (documentId === 'secret') throw new ToolLayerError('E3603', 'no');
    };
    for (const ref of ['sec*', 'old']) expect(await codeOf([ref], { checkAccess })).toBe('E3603');
    expect(await codes(['old'])).toEqual(['document_replaced']);
  });
});

describe('pins', () => {
  const pinsOf = async (...given: Parameters<typeof read>): Promise<readonly DocumentPin[]> =>
    (await read(...given)).pins;

  test('DOC-04.2 a pinned version is read again whatever the newest one is', async () => {
    const pins = await pinsOf(['spec', 'gui*']);
    server.put('spec', 'third');
    server.put('guides', 'other ways');
    const fresh = make({ cache: memoryDocumentCache({ bytesMax: 1e6 }) });
    expect(await contents(['spec', 'gui*'], { pins }, fresh)).toEqual(['second', 'the way to go']);
    expect(await contents(['spec'], { pins, wanted: [wanted('spec', { isPinned: false })] }, fresh)).toEqual(['third']);
    server.remove('guides');
  });

  test('DOC-04.4 a deprecated one is a warning, one that is gone is E3604', async () => {
    const pins = await pinsOf(['spec']);
    server.deprecate('spec', 'guide');
    expect(await codes(['spec'], { pins }, make())).toEqual(['document_deprecated']);
    changed({ tenantId: 'acme', documentId: 'spec', version: '2' });
    expect(await codes(['spec'], { pins })).toEqual(['document_deprecated']);
    expect(await contents(['spec'], { pins })).toEqual(['second']);
    server.remove('spec', '2');
    expect(await codeOf(['spec'], { pins }, make())).toBe('E3604');
    server.remove('spec');
    expect(await codeOf(['spec'], { pins }, make())).toBe('E3604');
    changed({ tenantId: 'acme', documentId: 'spec', version: '2' });
    expect(await codeOf(['spec'], { pins })).toBe('E3604');
  });

  test('DOC-04.2 a server that changes the content of a version is not believed', async () => {
    const [pin] = await pinsOf(['spec']);
    if (pin === undefined) throw new Error('nothing was pinned');
    const pins = [{ ...pin, sha256: sha256('what it was') }];
    expect(await codeOf(['spec'], { pins })).toBe('E3604');
  });
});
