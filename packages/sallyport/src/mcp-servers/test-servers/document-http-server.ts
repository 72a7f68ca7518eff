// A small document server over streamable HTTP, whose documents and faults a test sets. Only for tests.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { sha256 } from '@sallyport/std/sha256';

type Json = Readonly<Record<string, unknown>>;

/** How it treats calls of tools: `lost` closes the connection in the middle of the call. */
export type Behaviour = 'well' | 'hanging' | 'lost' | 'rubbish' | 'other-content' | 'other-document' | 'refusing';

/** One that listens on the loopback. */
export interface DocumentHttpServer extends AsyncDisposable {
  readonly url: string;
  behaviour: Behaviour;
  /** Tool calls so far. */
  readonly asked: { readonly tool: string; readonly args: Json }[];
  /** Most documents of one answer. */
  answersMax: number;
  /** Adds a version of a document. */
  put(id: string, content: string): void;
  deprecate(id: string, successor?: string): void;
  /** Removes a document, or one version of it. */
  remove(id: string, version?: string): void;
}

interface Stored {
  readonly versions: Map<string, string>;
  deprecation?: { readonly reason: string; readonly deprecated_at: string; readonly successor_id?: string };
}

const SEVEN = [
  'get_source_of_truth',
  'search_documents',
  'find_overlaps',
  'get_document_metadata',
  'get_document_version',
  'ingest_document',
  'deprecate_document',
];
const TOOLS = [
  ...SEVEN.map((name) => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' } })),
  {
    name: 'count',
    description: 'Counts documents.',
    annotations: { readOnlyHint: true },
    inputSchema: {
      type: 'object',
      properties: { texts: { type: 'array', items: { type: 'object' }, 'x-documents': true }, n: { type: 'number' } },
      additionalProperties: false,
    },
  },
];

export async function startDocumentHttpServer(): Promise<DocumentHttpServer> {
  const stored = new Map<string, Stored>();
  const server = createServer((request, response) => void serve(state, stored, request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const state: DocumentHttpServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    behaviour: 'well',
    asked: [],
    answersMax: 100,
    put(id, content) {
      const { versions } = stored.get(id) ?? { versions: new Map<string, string>() };
      stored.set(id, { versions: versions.set(String(versions.size + 1), content) });
    },
    deprecate(id, successor) {
      const known = stored.get(id);
      if (known === undefined) throw new Error(`there is no document ${id}`);
      const successorId = successor === undefined ? {} : { successor_id: successor };
      known.deprecation = { reason: 'old', deprecated_at: '2026-01-01T00:00:00.000Z', ...successorId };
    },
    remove(id, version) {
      if (version === undefined) stored.delete(id);
      else stored.get(id)?.versions.delete(version);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return state;
}

async function serve(
  state: DocumentHttpServer,
  stored: ReadonlyMap<string, Stored>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<unknown> {
  if (request.method !== 'POST') return response.writeHead(405).end();
  const { id, method, params = {} } = JSON.parse(await text(request)) as Json & { readonly params?: Json };
  if (id === undefined) return response.writeHead(202).end();
  const send = (answer: object): unknown =>
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  if (method === 'tools/list') return send({ result: { tools: TOOLS } });
  if (method === 'initialize') {
    const { protocolVersion } = params as { readonly protocolVersion?: string };
    const serverInfo = { name: 'documents', version: '1.0.0' };
    return send({ result: { protocolVersion, capabilities: { tools: {} }, serverInfo } });
  }
  if (method !== 'tools/call') return send({ error: { code: -32601, message: 'Method not found' } });
  const { name: tool, arguments: args = {} } = params as { readonly name: string; readonly arguments?: Json };
  state.asked.push({ tool, args });
  if (state.behaviour === 'hanging') return undefined;
  if (state.behaviour === 'lost') return request.socket.destroy();
  if (state.behaviour === 'refusing') return send({ result: { isError: true, content: [] } });
  if (state.behaviour === 'rubbish') return send({ result: { content: [{ type: 'text', text: '}' }] } });
  const structuredContent = answerTo(state, stored, tool, args);
  return send({ result: { content: [{ type: 'text', text: 'in the structured content' }], structuredContent } });
}

function answerTo(state: DocumentHttpServer, stored: ReadonlyMap<string, Stored>, tool: string, args: Json): Json {
  if (tool === 'count') return { count: (args['texts'] as readonly unknown[] | undefined)?.length ?? 0, given: args };
  const {
    document_refs: refs = [],
    query,
    documents: versions = [],
    document_ids: ids = [],
  } = args as {
    readonly document_refs?: readonly string[];
    readonly query?: string;
    readonly documents?: readonly { readonly document_id: string; readonly version: string }[];
    readonly document_ids?: readonly string[];
  };
  const wanted = [
    ...refs.map((ref) => ({ ref, id: standingFor(stored, ref), version: undefined })),
    ...(query === undefined ? [] : [{ ref: query, id: answering(stored, query), version: undefined }]),
    ...versions.map(({ document_id: id, version }) => ({ ref: `${id}@${version}`, id, version })),
    ...ids.map((id) => ({ ref: id, id, version: undefined })),
  ];
  const documents: Json[] = [];
  const missing: Json[] = [];
  for (const { ref, id, version } of wanted) {
    const found = stored.get(id);
    const content = found?.versions.get(version ?? String(found.versions.size));
    if (found === undefined) missing.push({ ref, reason: 'not_found', message: 'no such document' });
    else if (content === undefined) missing.push({ ref, reason: 'version_not_found', message: 'no such version' });
    else if (documents.length >= state.answersMax) missing.push({ ref, reason: 'answer_full', message: 'full' });
    else documents.push(documentOf(state, found, { ref, id, version, content }, tool));
  }
  return { documents, missing };
}

/** A deprecated document leads to its successor; a pattern to the last that fits. */
function standingFor(stored: ReadonlyMap<string, Stored>, ref: string): string {
  const successor = stored.get(ref)?.deprecation?.successor_id;
  if (successor !== undefined) return successor;
  if (!ref.includes('*')) return ref;
  const stem = ref.slice(0, ref.indexOf('*'));
  return [...stored.keys()].findLast((id) => id.startsWith(stem)) ?? ref;
}

const answering = (stored: ReadonlyMap<string, Stored>, query: string): string =>
  [...stored].find(([, { versions }]) => [...versions.values()].some((content) => content.includes(query)))?.[0] ?? '';

function documentOf(
  { behaviour }: DocumentHttpServer,
  { versions, deprecation }: Stored,
  asked: { readonly ref: string; readonly id: string; readonly version: string | undefined; readonly content: string },
  tool: string,
): Json {
  const content = behaviour === 'other-content' ? `${asked.content} (changed)` : asked.content;
  return {
    ...(tool === 'get_source_of_truth' ? { ref: asked.ref } : {}),
    document_id: behaviour === 'other-document' ? 'secret' : asked.id,
    version: asked.version ?? String(versions.size),
    uri: `document://${asked.id}`,
    title: asked.id,
    content_type: 'text/markdown',
    content_sha256: sha256(asked.content),
    status: deprecation === undefined ? 'active' : 'deprecated',
    ...(deprecation === undefined ? {} : { deprecation }),
    ...(tool === 'get_document_metadata' ? {} : { content }),
  };
}
