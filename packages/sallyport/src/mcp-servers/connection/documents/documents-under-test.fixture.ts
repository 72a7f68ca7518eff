import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { DocumentServer } from '../../../bridges/document-server.port.ts';
import type { DocumentCache } from '../../../bridges/document-stores.port.ts';
import type { DocumentUpdate } from '../../../bridges/document-updates.port.ts';
import { DOCUMENT_DEFAULTS, type DocumentChanges } from '../../../bridges/documents/documents.fixture.ts';
import { createDocuments, type DocumentRequest, type Documents } from '../../../bridges/documents.ts';
import { readDocumentRef } from '../../../domain/document/document-ref.ts';
import type { WantedDocument } from '../../../domain/document/given-document.ts';
import { memoryDocumentCache } from '../../../storage/memory/memory-document-cache.ts';
import { silentLog } from '../../../telemetry/log.ts';
import { type DocumentHttpServer, startDocumentHttpServer } from '../../test-servers/document-http-server.ts';
import { failureOf, fixture } from '../../test-servers/upstreams.fixture.ts';
import type { Upstreams } from '../../upstreams.ts';
import { upstreamDocuments } from './upstream-documents.ts';

export const MINUTE_MS = 60_000;
export const SPEC_KEY = 'doc:cache:get_source_of_truth:spec:latest';
export const SHARED = { tenantId: 'acme', scope: '' };

/** Documents over a real MCP server. Each test begins with a new cache and the same four documents at the server. */
export class DocumentsUnderTest {
  server!: DocumentHttpServer;
  upstreams!: Upstreams;
  now!: number;
  cache!: DocumentCache;
  documents!: Documents;
  /** Reports a change of a document; undefined when changes were missed. */
  changed!: (update: DocumentUpdate | undefined) => void;
  readonly clock = { now: () => this.now, monotonic: () => this.now };

  constructor() {
    beforeAll(async () => {
      this.server = await startDocumentHttpServer();
      ({ upstreams: this.upstreams } = fixture(createBubblewrapDriver()));
      for (const tenant of ['catalog', 'shut'])
        await this.upstreams.add(tenant, { name: 'documents', transport: { type: 'http', url: this.server.url } });
    });
    afterAll(async () => {
      await this.upstreams.close();
      await this.server[Symbol.asyncDispose]();
    });
    beforeEach(() => {
      this.now = 1_800_000_000_000;
      this.server.behaviour = 'well';
      this.server.answersMax = 100;
      for (const id of ['spec', 'guide', 'secret', 'old']) this.server.remove(id);
      this.server.put('spec', 'first');
      this.server.put('spec', 'second');
      this.server.put('guide', 'the way to go');
      this.server.asked.length = 0;
      this.cache = memoryDocumentCache({ bytesMax: 1_000_000 });
      this.documents = this.make();
    });
  }

  named(name = 'documents'): DocumentServer {
    return upstreamDocuments(this.upstreams, { name, catalogTenant: 'catalog' });
  }

  make({ settings, ...parts }: DocumentChanges = {}): Documents {
    return createDocuments({
      ...{ server: this.named(), cache: this.cache, clock: this.clock, log: silentLog },
      updates: {
        subscribe: (listener) => {
          this.changed = listener;
          return { [Symbol.dispose]: () => undefined };
        },
      },
      ...parts,
      settings: { ...DOCUMENT_DEFAULTS, retryMs: 0, ...settings },
    });
  }

  read(texts: readonly string[], more: Partial<DocumentRequest> = {}, from = this.documents) {
    return from.read(requestOf(texts, more));
  }

  async contents(...given: Parameters<DocumentsUnderTest['read']>): Promise<string[]> {
    return (await this.read(...given)).documents.map(({ content }) => content);
  }

  async codes(...given: Parameters<DocumentsUnderTest['read']>): Promise<string[]> {
    return (await this.read(...given)).warnings.map(({ code }) => code);
  }

  async codeOf(...given: Parameters<DocumentsUnderTest['read']>): Promise<string> {
    return (await failureOf(this.read(...given))).code;
  }

  toolsAsked(): string[] {
    return this.server.asked.map(({ tool }) => tool);
  }
}

export const wanted = (text: string, more: Partial<WantedDocument> = {}): WantedDocument => ({
  ...(readDocumentRef(text) ?? { ref: text }),
  isQuestion: false,
  mode: 'read',
  isPinned: true,
  ...more,
});

export const requestOf = (texts: readonly string[], more: Partial<DocumentRequest> = {}): DocumentRequest => ({
  wanted: texts.map((text) => wanted(text)),
  pins: [],
  reader: { tenantId: 'acme', agentDid: 'did:a', secrets: new Map() },
  checkAccess: async () => undefined,
  signal: new AbortController().signal,
  ...more,
});
