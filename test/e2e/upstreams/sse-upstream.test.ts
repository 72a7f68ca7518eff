import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { HttpTransport } from '../../../packages/sallyport/api/schemas/upstream.ts';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import { type OpenLayer, openLayer } from '../layer.fixture.ts';

const SECRET = 'sse-secret-0123456789';
let open: OpenLayer;
const servers: SseServer[] = [];
beforeAll(async () => {
  open = await openLayer({}, { SALLYPORT_SECRET_SSE_KEY: SECRET });
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  for (const { server } of servers) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

interface SseServer {
  readonly server: Server;
  readonly url: string;
  readonly authorizations: Set<string | undefined>;
  /** Ends every event stream. */
  drop(): void;
}

/**
 * Starts a server of protocol 2024-11-05 over HTTP+SSE; `endpoint` changes the URL that the server names for messages.
 */
async function sseServer(endpoint?: (own: string) => string): Promise<SseServer> {
  const streams = new Map<string, ServerResponse>();
  const authorizations = new Set<string | undefined>();
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (url.pathname === '/sse' && request.method === 'GET') {
      authorizations.add(request.headers.authorization);
      const session = String(streams.size);
      streams.set(session, response);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const own = `/messages?session=${session}`;
      response.write(`event: endpoint\ndata: ${endpoint?.(own) ?? own}\n\n`);
      return;
    }
    const stream = streams.get(url.searchParams.get('session') ?? '');
    if (request.method !== 'POST' || stream === undefined) {
      response.writeHead(url.pathname === '/sse' ? 405 : 404).end();
      return;
    }
    let body = '';
    for await (const chunk of request) body += chunk;
    const message = JSON.parse(body) as { id?: number; method: string };
    response.writeHead(202).end();
    const result = answers(request.headers.authorization)[message.method];
    if (message.id === undefined) return;
    const answer = result === undefined ? { error: { code: -32601, message: 'none' } } : { result };
    const text = JSON.stringify({ jsonrpc: '2.0', id: message.id, ...answer }).replace('"LONG"', '9007199254740993');
    stream.write(`event: message\ndata: ${text}\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const opened = {
    server,
    authorizations,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`,
    drop: () => {
      for (const stream of streams.values()) stream.destroy();
    },
  };
  servers.push(opened);
  return opened;
}

const answers = (authorization: string | undefined): Readonly<Record<string, unknown>> => ({
  initialize: {
    protocolVersion: '2024-11-05',
    capabilities: { tools: {} },
    serverInfo: { name: 'old', version: '1.0.0' },
  },
  'tools/list': { tools: [{ name: 'say', description: 'Says who asked.', inputSchema: { type: 'object' } }] },
  'tools/call': {
    content: [{ type: 'text', text: `asked by ${authorization ?? 'nobody'}` }],
    structuredContent: { account: 'LONG' },
  },
});

const add = (name: string, transport: HttpTransport) =>
  open.layer.ask('upstreams.add', { upstream: { name, transport } }, LOCAL_CALLER);
const say = (name: string) =>
  open.layer.invoke({ tool_id: `${name}__say`, parameters: {}, capability_token: open.token });
const stateOf = async (name: string) => (await open.layer.ask('upstreams.get', { name }, LOCAL_CALLER)).upstream;

test('VAL-03.5 EXE-07 a server that knows only HTTP+SSE is connected by name and when it refuses streamable HTTP', async () => {
  for (const type of ['sse', 'http'] as const) {
    const server = await sseServer();
    const added = await add(`old-${type}`, { type, url: server.url });
    expect(added.upstream).toMatchObject({ state: 'ready', tool_count: 1, protocol_version: '2024-11-05' });
    const said = await say(`old-${type}`);
    expect(JSON.stringify(said)).toContain('asked by nobody');
    expect(said.warnings).toMatchObject([
      { code: 'result_rounded', details: { places: ['/structuredContent/account'] } },
    ]);
  }
});

test('EXE-07 over HTTP+SSE secrets are sent and not shown, and a lost stream is opened anew as another session', async () => {
  const server = await sseServer();
  await add('keyed', { type: 'sse', url: server.url, headers: { Authorization: 'Bearer {{sse_key}}' } });
  expect([...server.authorizations]).toEqual([`Bearer ${SECRET}`]);
  const said = JSON.stringify(await say('keyed'));
  expect(said).toContain('asked by');
  expect(said).not.toContain(SECRET);
  server.drop();
  while ((await stateOf('keyed')).restart_count === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  expect((await say('keyed')).status).toBe('success');
});

test('EXE-07 an HTTP+SSE server cannot have messages sent to another origin, and one that has neither way is told of', async () => {
  const elsewhere = await sseServer();
  const hostile = await sseServer((own) => new URL(own, elsewhere.url).href);
  await expect(add('hostile', { type: 'sse', url: hostile.url })).rejects.toThrow(/origin/);
  const neither = new URL('/nothing', elsewhere.url).href;
  await expect(add('neither', { type: 'http', url: neither })).rejects.toThrow(/HTTP 404/);
});
