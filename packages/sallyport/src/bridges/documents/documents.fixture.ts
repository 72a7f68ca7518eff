import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { readDocumentRef } from '../../domain/document/document-ref.ts';
import type { WantedDocument } from '../../domain/document/given-document.ts';
import { defaultsOf } from '../../domain/settings/setting.ts';
import { memoryDocumentCache } from '../../storage/memory/memory-document-cache.ts';
import { type Log, silentLog } from '../../telemetry/log.ts';
import type { DocumentServer } from '../document-server.port.ts';
import type { DocumentUpdate } from '../document-updates.port.ts';
import { createDocuments, type DocumentParts, type DocumentRequest, type Documents } from '../documents.ts';
import { DOCUMENT_SETTINGS, type DocumentSettings } from './settings.ts';

type Members = Readonly<Record<string, unknown>>;
type ErrorOptions = ConstructorParameters<typeof ToolLayerError>[2];

/** A document as servers answer with it. */
export const document = (document_id: string, version = '1', more: Members = {}): Members => ({
  ...{ document_id, version, content: `${document_id}@${version}` },
  ...more,
});

/** Values of the settings where nobody sets others. */
export const DOCUMENT_DEFAULTS = defaultsOf(DOCUMENT_SETTINGS);

/** Parts that differ from those of the fixtures. */
export interface DocumentChanges extends Partial<Omit<DocumentParts, 'settings'>> {
  readonly settings?: Partial<DocumentSettings>;
}

/** Answers of a server, one for each request, of which the last one is given again; an error is thrown. */
export type Answers = readonly (Members | Error)[];

/** Documents over a server in this process that answers as the test says. */
export class ServedDocuments {
  readonly asked: [tool: string, args: Members][] = [];
  readonly logged: string[] = [];
  /** What the server answers from now on; a change of it begins anew. */
  answers: Answers = [];
  now = 1_800_000_000_000;
  changed: (update: DocumentUpdate | undefined) => void = () => undefined;
  subscriptions = 0;
  /** Called with each request, before it is answered. */
  onAsked: () => void = () => undefined;
  readonly documents: Documents;

  constructor({ settings, ...parts }: DocumentChanges = {}) {
    const log: Log = { ...silentLog, warn: (event) => void this.logged.push(event) };
    this.documents = createDocuments({
      server: serverOf(() => {
        this.onAsked();
        return this.answers;
      }, this.asked),
      cache: memoryDocumentCache({ bytesMax: 1_000_000 }),
      ...{ clock: { now: () => this.now, monotonic: () => this.now }, log },
      updates: {
        subscribe: (listener) => {
          this.changed = listener;
          this.subscriptions += 1;
          return {
            [Symbol.dispose]: () => {
              this.subscriptions -= 1;
            },
          };
        },
      },
      ...parts,
      settings: { ...DOCUMENT_DEFAULTS, retriesMax: 0, retryMs: 0, ...settings },
    });
  }

  read(texts: readonly (string | WantedDocument)[], more: Partial<DocumentRequest> = {}) {
    return this.documents.read({
      wanted: texts.map((text) => (typeof text === 'string' ? wanted(text) : text)),
      pins: [],
      reader: { tenantId: 'acme', agentDid: 'did:example:a', secrets: new Map() },
      checkAccess: () => undefined,
      signal: new AbortController().signal,
      ...more,
    });
  }

  /** Names and versions of what is read, with `answers`. */
  async found(...given: Parameters<ServedDocuments['read']>): Promise<readonly string[]> {
    return (await this.read(...given)).documents.map(({ document_id, version }) => `${document_id}@${version}`);
  }

  /** The requests since the last time that they were asked for. */
  requests(): readonly (readonly [tool: string, args: Members])[] {
    return this.asked.splice(0);
  }
}

/** A server in this process. @param scope of all its readers */
export function serverOf(answers: () => Answers, asked: [string, Members][] = [], scope = ''): DocumentServer {
  let given: Answers = [];
  let at = 0;
  return {
    scopeOf: () => scope,
    async call(_reader, tool, args) {
      asked.push([tool, args]);
      const now = answers();
      if (given !== now) [given, at] = [now, 0];
      const answer = given[Math.min(at, given.length - 1)] ?? {};
      at += 1;
      if (answer instanceof Error) throw answer;
      return { structuredContent: answer };
    },
  };
}

/** A document that a call asks for. */
export const wanted = (text: string, more: Partial<WantedDocument> = {}): WantedDocument => ({
  ...(readDocumentRef(text) ?? { ref: text }),
  ...{ isQuestion: false, mode: 'read', isPinned: true },
  ...more,
});

/** A failure of the server. */
export const failed = (code: ToolLayerError['code'], more: ErrorOptions = {}): ToolLayerError =>
  new ToolLayerError(code, 'no', more);

/** A layer without documents and contexts, whose calls have no clients. */
export const NOTHING_BRIDGED = {
  clients: { clientOf: () => undefined, ask: async () => ({ unasked: 'nobody is there' }), completed: () => {} },
  context: { sessionContext: async () => undefined },
  documents: {
    bridge: { read: () => Promise.reject(new Error('there are no documents')), [Symbol.dispose]: () => {} },
    pins: { put: async () => {}, find: async () => undefined, forget: async () => 0 },
    serverAt: () => undefined,
    isPinning: false,
  },
};
