import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { MiB } from '@sallyport/std/bytes';
import { afterEach, expect, test } from 'vitest';
import type { UpstreamDefinition } from '../../../api/schemas/upstream.ts';
import { failureOf, fixture, REPOSITORY, TENANT, textOf, until } from '../test-servers/upstreams.fixture.ts';
import type { Upstreams, UpstreamsParts } from '../upstreams.ts';

const EVERYTHING = 'node_modules/@modelcontextprotocol/server-everything/dist/index.js';
const opened: { close(): Promise<unknown> | unknown }[] = [];
afterEach(async () => {
  for (const thing of opened.splice(0).reverse()) await thing.close();
});

function make(parts: Partial<UpstreamsParts> = {}): Upstreams {
  const { upstreams } = fixture(createBubblewrapDriver(), parts);
  opened.push(upstreams);
  return upstreams;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

async function everything(port: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
    cwd: REPOSITORY,
    env: { PATH: process.env['PATH'], PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(child, 'exit');
  opened.push({
    close() {
      child.kill('SIGKILL');
      return exited;
    },
  });
  await new Promise<void>((resolve) => {
    child.stderr?.on('data', (text) => String(text).includes('listening on port') && resolve());
  });
  return child;
}

type Answer = (request: IncomingMessage, response: ServerResponse, message: Record<string, unknown>) => void;

/** A server of the older protocol with JSON answers; an answer of `special` replaces the usual one. */
async function server(special: (message: Record<string, unknown>) => Answer | undefined): Promise<UpstreamDefinition> {
  const http: Server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const message = (body === '' ? { method: request.method } : JSON.parse(body)) as Record<string, unknown>;
    const answer = special(message) ?? standard;
    answer(request, response, message);
  }).listen(0, '127.0.0.1');
  await once(http, 'listening');
  opened.push({
    close() {
      http.closeAllConnections();
      http.close();
    },
  });
  const { port } = http.address() as AddressInfo;
  return { name: 'remote', transport: { type: 'http', url: `http://127.0.0.1:${port}/mcp` } };
}

const json = (response: ServerResponse, value: object, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', ...value }));
};
const standard: Answer = (_request, response, { id, method }) => {
  if (method === 'initialize') {
    json(response, {
      id,
      result: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'plain', version: '1' },
      },
    });
  } else if (method === 'tools/list')
    json(response, { id, result: { tools: [{ name: 't', inputSchema: { type: 'object' } }] } });
  else if (method === 'tools/call') json(response, { id, result: { content: [{ type: 'text', text: 'ok' }] } });
  else if (method === 'server/discover') json(response, { id, error: { code: -32601, message: 'Method not found' } });
  else if (method === 'GET') response.writeHead(405).end();
  else response.writeHead(202).end();
};
const only =
  (wanted: string, answer: Answer) =>
  ({ method }: Record<string, unknown>) =>
    method === wanted ? answer : undefined;

test('API-03.4 EXE-07.2 EXE-07.5 the real server-everything over streamable HTTP is called, with progress, and found again after its end', async () => {
  const port = await freePort();
  const child = await everything(port);
  const upstreams = make({ settings: { firstBackoffMs: 20 } });
  const url = `http://127.0.0.1:${port}/mcp`;
  const { status, tools } = await upstreams.add(TENANT, { name: 'everything', transport: { type: 'http', url } });
  expect(status).toMatchObject({ state: 'ready', transport: 'http', protocol_version: '2025-11-25' });
  expect(tools.map(({ name }) => name)).toContain('echo');
  const echo = () => upstreams.call(TENANT, 'everything', 'echo', { message: 'far' }, { timeoutMs: 20_000 });
  expect(textOf(await echo())).toBe('Echo: far');
  const steps: number[] = [];
  await upstreams.call(
    TENANT,
    'everything',
    'trigger-long-running-operation',
    { duration: 0.2, steps: 2 },
    { timeoutMs: 20_000, onProgress: ({ progress }) => steps.push(progress) },
  );
  expect(steps).toEqual([1, 2]);

  child.kill('SIGKILL');
  await once(child, 'exit');
  const down = await failureOf(echo());
  expect([down.code, down.failure.details]).toEqual(['E3310', { reached: false }]);
  await everything(port);
  await until(() => upstreams.statuses(TENANT)[0]?.state === 'ready');
  expect(textOf(await echo())).toBe('Echo: far');
});

test('VAL-03.5 whole numbers that are rounded are noticed in a JSON body and in an event, however it is sent', async () => {
  const result = '{"content":[],"structuredContent":{"a":[1,9007199254740993]}}';
  const types = ['application/json', 'text/event-stream'];
  const message = (id: unknown): string => `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
  const ways: ((id: unknown) => readonly string[])[] = [
    (id) => [message(id)],
    (id) => [`: comment\r\nevent: message\r\ndata: ${message(id)}\r\n`, '\r\n'],
    (id) => [`data: ${message(id).slice(0, 70)}`, `${message(id).slice(70)}\n\nid`, ': 1\n\n'],
    (id) => [`data: ${message(id).replace('"result"', '\ndata:"result"')}\n\n`],
  ];
  const upstreams = make();
  let parts: (id: unknown) => readonly string[] = () => [];
  const answer: Answer = async (_request, response, { id }) => {
    response.writeHead(200, { 'content-type': types[parts === ways[0] ? 0 : 1] });
    for (const part of parts(id)) await new Promise((sent) => response.write(part, sent));
    response.end();
  };
  await upstreams.add(TENANT, await server(only('tools/call', answer)));
  for (parts of ways) {
    const seen: unknown[] = [];
    const options = { timeoutMs: 5_000, onRounded: (places: unknown) => seen.push(places) };
    const said = await upstreams.call(TENANT, 'remote', 't', {}, options);
    expect([said.structuredContent, seen]).toEqual([{ a: [1, 9007199254740992] }, [['/structuredContent/a/1']]]);
  }
});

test('headers carry secrets by their name, and no message shows them', async () => {
  const seen: unknown[] = [];
  const upstreams = make({ secrets: { read: async () => new Map([['TOKEN', 't0p-secret']]) } });
  const definition = await server(() => (request, response, message) => {
    seen.push(request.headers.authorization);
    if (message['method'] === 'tools/call')
      response.writeHead(403).end(`no access for ${request.headers.authorization}`);
    else standard(request, response, message);
  });
  const transport = { ...definition.transport, headers: { Authorization: 'Bearer {{TOKEN}}' } };
  await upstreams.add(TENANT, { ...definition, transport } as UpstreamDefinition);
  expect(new Set(seen)).toEqual(new Set(['Bearer t0p-secret']));
  const refused = await failureOf(upstreams.call(TENANT, 'remote', 't', {}, { timeoutMs: 5_000 }));
  expect(refused.code).toBe('E3307');
  expect(refused.message).toContain('no access for');
  expect(refused.message).not.toContain('t0p-secret');
});

test('a redirect is refused, wherever it leads', async () => {
  const upstreams = make();
  const definition = await server(
    () => (_request, response) => response.writeHead(307, { location: '/elsewhere' }).end(),
  );
  const refused = await failureOf(upstreams.add(TENANT, definition));
  expect(refused.code).toBe('E3309');
  expect(refused.message).toContain('redirects are not followed');
});

test.each([
  ['nothing listens', undefined, 'E3310', /cannot be reached \(ECONNREFUSED\)/],
  ['it wants a credential', 401, 'E3307', /HTTP 401.*Check the headers/s],
  ['it is broken', 500, 'E3304', /HTTP 500/],
  ['it is no MCP server', 404, 'E3309', /HTTP 404/],
] as const)('a server where %s is not added', async (_what, status, code, message) => {
  const upstreams = make();
  const definition: UpstreamDefinition =
    status === undefined
      ? { name: 'remote', transport: { type: 'http', url: `http://127.0.0.1:${await freePort()}/mcp` } }
      : await server(() => (_request, response) => response.writeHead(status).end('no'));
  const refused = await failureOf(upstreams.add(TENANT, definition));
  expect(refused.message).toMatch(message);
  expect(refused.code).toBe(code);
  expect(upstreams.statuses(TENANT)).toEqual([]);
});

test('a web page, and a server that never answers, are not added', async () => {
  const upstreams = make({ settings: { connectTimeoutMs: 500 } });
  const page = await server(
    () => (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
  );
  expect((await failureOf(upstreams.add(TENANT, page))).code).toBe('E3308');
  const silent = await server(() => () => {});
  expect((await failureOf(upstreams.add(TENANT, silent))).code).toBe('E3306');
});

test('a connection that breaks before the answer is lost, whether the server drops it or ends the stream', async () => {
  const upstreams = make();
  for (const breaking of [
    only('tools/call', (request) => request.socket.destroy()),
    only('tools/call', (_request, response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': nothing\n\n'),
    ),
  ]) {
    await upstreams.add(TENANT, await server(breaking));
    const lost = await failureOf(upstreams.call(TENANT, 'remote', 't', {}, { timeoutMs: 10_000 }));
    expect(lost.code).toBe('E3107');
    expect(lost.failure.details).toMatchObject({ reached: true });
  }
});

test('a session that the server forgot is opened anew and the call goes through', async () => {
  const sessions: (string | undefined)[] = [];
  const upstreams = make({ settings: { firstBackoffMs: 10 } });
  const definition = await server(({ method }) => (request, response, message) => {
    const session = request.headers['mcp-session-id'] as string | undefined;
    if (method === 'initialize') response.setHeader('mcp-session-id', `session-${sessions.push(session)}`);
    if (method === 'tools/call' && session !== 'session-2')
      json(response, { id: null, error: { code: -32001, message: 'gone' } }, 404);
    else standard(request, response, message);
  });
  await upstreams.add(TENANT, definition);
  expect(textOf(await upstreams.call(TENANT, 'remote', 't', {}, { timeoutMs: 10_000 }))).toBe('ok');
  expect(sessions).toHaveLength(2);
});

test('an answer beyond the bound fails its call and does not fill memory', async () => {
  const upstreams = make();
  const definition = await server(
    only('tools/call', (_request, response, { id }) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"text":"`);
      const block = 'x'.repeat(MiB);
      let blocks = 0;
      const pour = (): void => {
        if (response.destroyed) return;
        blocks += 1;
        if (blocks > 64) response.end('"}}');
        else if (response.write(block)) setImmediate(pour);
        else response.once('drain', pour);
      };
      pour();
    }),
  );
  await upstreams.add(TENANT, definition);
  const failure = await failureOf(upstreams.call(TENANT, 'remote', 't', {}, { timeoutMs: 20_000 }));
  expect(failure.code).toBe('E3308');
  expect(failure.message).toContain('more than 16777216 bytes');
  expect(failure.failure.details).toMatchObject({ reached: true });
});

test('API-03.5 EXE-07.3 protocol 2026-07-28 is spoken where the server has it, with the headers that its tools ask for', async () => {
  const upstreams = make();
  const seen: Record<string, unknown>[] = [];
  const meta = { 'io.modelcontextprotocol/serverInfo': { name: 'new', version: '3.0.0' } };
  const modern = { resultType: 'complete', _meta: meta };
  const results: Record<string, object> = {
    'server/discover': {
      ...modern,
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
      ttlMs: 0,
      cacheScope: 'private',
    },
    'tools/list': {
      ...modern,
      ttlMs: 0,
      cacheScope: 'private',
      tools: [
        {
          name: 't',
          inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
        },
        // A number must not be sent as a header, so this tool is left out.
        { name: 'wrong', inputSchema: { type: 'object', properties: { n: { type: 'number', 'x-mcp-header': 'N' } } } },
      ],
    },
    'tools/call': { ...modern, content: [{ type: 'text', text: 'new' }] },
  };
  const definition = await server(({ method }) => {
    const result = results[String(method)];
    if (result === undefined) return undefined;
    return (request, response, { id, params }) => {
      seen.push({ method, ...request.headers, meta: (params as Record<string, unknown>)['_meta'] });
      json(response, { id, result });
    };
  });
  const { status } = await upstreams.add(TENANT, definition);
  expect(status).toMatchObject({ protocol_version: '2026-07-28', server: { name: 'new', version: '3.0.0' } });
  expect(status).toMatchObject({ tool_count: 1, malformed_count: 1 });
  const result = await upstreams.call(TENANT, 'remote', 't', { region: 'Köln' }, { timeoutMs: 5_000 });
  // What the server says of itself under keys of the protocol is for us, not for clients of the layer.
  expect(result).toEqual({ content: [{ type: 'text', text: 'new' }] });
  expect(seen.at(-1)).toMatchObject({
    'mcp-method': 'tools/call',
    'mcp-name': 't',
    'mcp-protocol-version': '2026-07-28',
    'mcp-param-region': `=?base64?${Buffer.from('Köln').toString('base64')}?=`,
    meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' },
  });
});

test('EXE-07 a 404 of a server of protocol 2026-07-28 is an answer: it has no sessions that could be lost', async () => {
  const meta = { 'io.modelcontextprotocol/serverInfo': { name: 'new', version: '3.0.0' } };
  const more = { resultType: 'complete', _meta: meta, ttlMs: 0, cacheScope: 'private' };
  const results: Record<string, object> = {
    'server/discover': { ...more, supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
    'tools/list': { ...more, tools: [{ name: 't', inputSchema: { type: 'object' } }] },
  };
  const seen: unknown[] = [];
  const upstreams = make({ settings: { firstBackoffMs: 10 } });
  const definition = await server(({ method }) => (_request, response, { id }) => {
    seen.push(method);
    const result = results[String(method)];
    if (result === undefined) response.writeHead(404).end('No such session or page.');
    else json(response, { id, result });
  });
  const { status } = await upstreams.add(TENANT, definition);
  expect(status).toMatchObject({ state: 'ready', protocol_version: '2026-07-28' });
  const refused = await failureOf(upstreams.call(TENANT, 'remote', 't', {}, { timeoutMs: 5_000 }));
  expect(refused).toMatchObject({ code: 'E3309', message: expect.stringContaining('answered with HTTP 404') });
  expect(refused.failure.details).toEqual({ reached: true, status: 404 });
  expect(seen.filter((method) => method === 'tools/call' || method === 'server/discover')).toEqual([
    ...['server/discover', 'tools/call'],
  ]);
  expect(upstreams.statuses(TENANT)).toMatchObject([{ state: 'ready' }]);
});

test('EXE-12.3 a cancelled call tells the server which request to stop', async () => {
  const cancelled: unknown[] = [];
  let called: unknown;
  const upstreams = make();
  const definition = await server(({ method, params, id }) => {
    if (method === 'notifications/cancelled') cancelled.push((params as Record<string, unknown>)['requestId']);
    if (method === 'tools/call') called = id;
    return method === 'tools/call' ? () => {} : undefined;
  });
  await upstreams.add(TENANT, definition);
  const controller = new AbortController();
  const call = failureOf(upstreams.call(TENANT, 'remote', 't', {}, { signal: controller.signal }));
  await until(() => called !== undefined);
  controller.abort();
  expect((await call).code).toBe('E3805');
  await until(() => cancelled.length > 0);
  expect(cancelled).toEqual([called]);
});

test.each([
  [429, '7', 'E3303', 7_000],
  [503, 'Fri, 01 Jan 2100 00:00:00 GMT', 'E3304', 86_400_000],
  [500, 'soon', 'E3304', undefined],
] as const)(
  'PIPE-05.5 a server that answers %i says with Retry-After %s when to try again',
  async (status, stated, code, ms) => {
    const upstreams = make();
    const definition = await server(
      only('tools/call', (_request, response) => response.writeHead(status, { 'retry-after': stated }).end('too much')),
    );
    await upstreams.add(TENANT, definition);
    const refused = await failureOf(upstreams.call(TENANT, 'remote', 't', {}, { timeoutMs: 50_000 }));
    expect(refused).toMatchObject({ code, message: expect.stringContaining('too much') });
    expect(refused.failure).toMatchObject({ details: { reached: true, status } });
    expect(refused.failure.retryAfterMs).toBe(ms);
  },
);

test('EXE-07 a call that is only accepted fails at once, unless the server has a stream on which it answers', async () => {
  const upstreams = make();
  let stream: ServerResponse | undefined;
  const special = (hasStream: boolean) => (message: Record<string, unknown>) => {
    const accept: Answer = (_request, response, { id }) => {
      response.writeHead(202).end();
      stream?.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } })}\n\n`);
    };
    const open: Answer = (_request, response) => {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      stream.flushHeaders();
    };
    if (message['method'] === 'GET' && hasStream) return open;
    return only('tools/call', accept)(message);
  };
  await upstreams.add(TENANT, await server(special(false)));
  const failed = await failureOf(upstreams.call(TENANT, 'remote', 't', {}, {}));
  expect(failed).toMatchObject({ code: 'E3308', message: expect.stringContaining('HTTP 202') });
  expect(failed.failure.details).toMatchObject({ reached: true });
  await upstreams.add(TENANT, await server(special(true)));
  await until(() => stream !== undefined);
  expect(await upstreams.call(TENANT, 'remote', 't', {}, {})).toMatchObject({ content: [] });
}, 60_000);
