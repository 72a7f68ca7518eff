import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { afterEach, expect, test } from 'vitest';
import { createEgressGuard } from '../../external/egress-guard.ts';
import { createOutboundHttp } from '../../external/outbound-http.ts';
import { failureOf, fixture, TENANT, textOf } from '../test-servers/upstreams.fixture.ts';

let opened = new AsyncDisposableStack();
afterEach(async () => {
  await opened.disposeAsync();
  opened = new AsyncDisposableStack();
});

const RESULTS: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'plain', version: '1' },
  },
  'tools/list': { tools: [{ name: 't', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'ok' }] },
};

/** Starts a server of the older protocol; returns its port and the methods of the requests that it received. */
async function start(): Promise<{ readonly port: number; readonly asked: string[] }> {
  const asked: string[] = [];
  const http = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { id, method } = (body === '' ? {} : JSON.parse(body)) as { id?: number; method?: string };
    if (method === undefined) return response.writeHead(405).end();
    asked.push(method);
    if (id === undefined) return response.writeHead(202).end();
    const result = RESULTS[method];
    const end = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, ...end })}\n\n`);
  }).listen(0, '127.0.0.1');
  await once(http, 'listening');
  opened.defer(() => {
    http.closeAllConnections();
    http.close();
  });
  return { port: (http.address() as AddressInfo).port, asked };
}

function guarded() {
  // Every name resolves to this machine, as a name of an attacker could.
  const guard = createEgressGuard({ resolveHost: async () => [{ address: '127.0.0.1', family: 4 }] });
  const outbound = opened.use(createOutboundHttp({ guard }));
  const { upstreams } = fixture(createBubblewrapDriver(), { outbound });
  opened.defer(() => upstreams.close());
  return upstreams;
}

const definition = (host: string, port: number) =>
  ({ name: 'remote', transport: { type: 'http', url: `http://${host}:${port}/mcp` } }) as const;

test('EXE-07 an HTTP upstream is reached over the guarded way out at the address that its definition names', async () => {
  const { port } = await start();
  const upstreams = guarded();
  for (const host of ['127.0.0.1', 'localhost']) {
    expect((await upstreams.add(TENANT, definition(host, port))).tools).toHaveLength(1);
    expect(textOf(await upstreams.call(TENANT, 'remote', 't', {}, { timeoutMs: 10_000 }))).toBe('ok');
  }
});

test('a name that leads to an address that is not public is refused before anything is sent', async () => {
  const { port, asked } = await start();
  const failure = await failureOf(guarded().add(TENANT, definition('tools.example', port)));
  expect(failure.code).toBe('E3104');
  expect(asked).toEqual([]);
});
