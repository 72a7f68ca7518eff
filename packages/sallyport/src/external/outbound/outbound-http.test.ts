import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { createEgressGuard, type EgressGuard } from '../egress-guard.ts';
import { createGuardedFetch } from '../guarded-fetch.ts';
import { createOutboundHttp, type OutboundHttp, type OutboundHttpParts } from '../outbound-http.ts';

const never = new AbortController().signal;
const BOUNDS = { wireBytesMax: 10_000, bodyBytesMax: 10_000 };

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return (server.address() as AddressInfo).port;
}

function wayOut(parts: Partial<OutboundHttpParts> = {}): OutboundHttp {
  const outbound = createOutboundHttp({ guard: createEgressGuard(), ...parts });
  onTestFinished(() => outbound[Symbol.dispose]());
  return outbound;
}

const requestTo = (port: number, host = '127.0.0.1') => ({
  url: new URL(`http://${host}:${port}/`),
  method: 'GET',
  headers: {},
});
const opened = (port: number, host = '127.0.0.1') => ({ allowed: [{ host, port }], signal: never });

test('EXT-03.1 connections are kept and shared, up to a bound for each host; more than may wait are refused', async () => {
  let open = 0;
  let most = 0;
  const sockets = new Set<unknown>();
  const port = await serve((request, response) => {
    sockets.add(request.socket);
    open += 1;
    most = Math.max(most, open);
    setTimeout(() => {
      open -= 1;
      response.end('x');
    }, 20);
  });
  const outbound = wayOut({ bounds: { connectionsPerHostMax: 2, waitingPerHostMax: 4 } });
  const send = () => outbound.send(requestTo(port), () => BOUNDS, opened(port));
  const ends = await Promise.allSettled(Array.from({ length: 8 }, send));
  expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(6);
  for (const end of ends) if (end.status === 'rejected') expect(end.reason).toMatchObject({ code: 'E3803' });
  expect([most, sockets.size]).toEqual([2, 2]);
  await send();
  expect(sockets.size).toBe(2);
});

test.each([
  ['connect', { connectMs: 50 }, false],
  ['answer', { answerMs: 50 }, true],
  ['silence', { silenceMs: 50 }, true],
] as const)('EXT-03.2 a service that is slow at %s is E3306', async (phase, times, sent) => {
  const port = await serve((_request, response) => {
    if (phase === 'silence') response.write('begun');
  });
  const lost: EgressGuard = { ...createEgressGuard(), resolve: () => new Promise(() => {}) };
  const outbound = wayOut({ times, ...(phase === 'connect' ? { guard: lost } : {}) });
  const host = phase === 'connect' ? 'localhost' : '127.0.0.1';
  await expect(outbound.send(requestTo(port, host), () => BOUNDS, opened(port, host))).rejects.toMatchObject({
    code: 'E3306',
    failure: { details: { request_sent: sent } },
  });
});

test('a service that goes on answering slowly is waited for', async () => {
  const port = await serve((_request, response) => {
    let left = 6;
    const timer = setInterval(() => {
      left -= 1;
      if (left > 0) response.write('.');
      else {
        clearInterval(timer);
        response.end();
      }
    }, 60);
  });
  const outbound = wayOut({ times: { silenceMs: 250 } });
  const answer = await outbound.send(requestTo(port), () => BOUNDS, opened(port));
  expect(answer.body.toString()).toBe('.....');
});

test('bodies are bounded as they come and decompressed, each for itself, to the byte', async () => {
  const bodies: Readonly<Record<string, readonly [string | undefined, Buffer]>> = {
    '/plain': [undefined, Buffer.alloc(1000, 'x')],
    '/gzip': ['gzip', gzipSync(Buffer.alloc(1000, 'x'))],
    '/both': ['gzip, br', brotliCompressSync(gzipSync(Buffer.alloc(1000, 'x')))],
    '/three': ['gzip, gzip, gzip', Buffer.from('x')],
  };
  const port = await serve(({ url = '' }, response) => {
    const [coding, body] = bodies[url] ?? [undefined, Buffer.alloc(0)];
    response.writeHead(200, coding === undefined ? {} : { 'content-encoding': coding }).end(body);
  });
  const outbound = wayOut();
  const get = (path: string, bounds: object) =>
    outbound.send(
      { ...requestTo(port), url: new URL(path, `http://127.0.0.1:${port}`) },
      () => ({ ...BOUNDS, ...bounds }),
      opened(port),
    );
  for (const path of ['/plain', '/gzip', '/both']) {
    const whole = await get(path, { bodyBytesMax: 1000 });
    expect([whole.body.length, whole.truncated]).toEqual([1000, false]);
    const cut = await get(path, { bodyBytesMax: 999 });
    expect([cut.body.length, cut.truncated]).toEqual([999, true]);
  }
  expect(await get('/gzip', { wireBytesMax: 10 })).toMatchObject({ truncated: true });
  await expect(get('/three', {})).rejects.toMatchObject({ code: 'E3308' });
});

test('a connection goes to the address that was checked, also where the name leads elsewhere by then', async () => {
  const port = await serve((_request, response) => void response.end('x'));
  const asked: string[] = [];
  const answers = ['127.0.0.1', '10.0.0.1'];
  const guard = createEgressGuard({
    resolveHost: async (host) => {
      asked.push(host);
      return [{ address: answers.shift() ?? '10.0.0.1', family: 4 }];
    },
    policy: { allowedAddresses: ['127.0.0.1'] },
  });
  const host = 'api.example.com';
  const outbound = wayOut({ guard });
  const send = () =>
    outbound.send({ ...requestTo(port, host), headers: { connection: 'close' } }, () => BOUNDS, opened(port, host));
  expect((await send()).status).toBe(200);
  expect(asked).toEqual([host]);
  await expect(send()).rejects.toMatchObject({ code: 'E3104' });
});

test('a fetch through the guard streams, sends, and reaches nothing else', async () => {
  const port = await serve(async (request, response) => {
    if (request.url === '/away') return void response.writeHead(302, { location: '/' }).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method, headers } = request;
    response.writeHead(201, { 'x-twice': ['a', 'b'], 'content-type': 'text/event-stream' });
    response.write(`data: ${method} ${headers['content-type']} ${Buffer.concat(chunks)}\n\n`);
    setTimeout(() => response.end('data: end\n\n'), 20);
  });
  const address = `http://127.0.0.1:${port}`;
  const fetchIt = createGuardedFetch(wayOut(), [{ host: '127.0.0.1', port }]);
  const response = await fetchIt(`${address}/`, { method: 'POST', body: new URLSearchParams({ a: '1' }) });
  expect([response.status, response.headers.get('x-twice')]).toEqual([201, 'a, b']);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader?.read())?.value).toBe('data: POST application/x-www-form-urlencoded;charset=UTF-8 a=1\n\n');
  expect((await reader?.read())?.value).toBe('data: end\n\n');

  await expect(fetchIt(`${address}/away`)).rejects.toThrow(TypeError);
  expect((await fetchIt(`${address}/away`, { redirect: 'manual' })).status).toBe(302);
  await expect(fetchIt(`http://127.0.0.1:${port + 1}/`)).rejects.toMatchObject({ code: 'E3104' });
  const nobody = createGuardedFetch(wayOut(), [{ host: '127.0.0.1', port: 1 }]);
  await expect(nobody('http://127.0.0.1:1/')).rejects.toMatchObject({
    name: 'TypeError',
    cause: { code: 'ECONNREFUSED' },
  });
});

test('a fetch that is aborted ends with the reason, before the answer and within it', async () => {
  const port = await serve((request, response) => {
    if (request.url === '/body') response.writeHead(200).write('begun');
  });
  const fetchIt = createGuardedFetch(wayOut(), [{ host: '127.0.0.1', port }]);
  const before = new AbortController();
  const waiting = fetchIt(`http://127.0.0.1:${port}/head`, { signal: before.signal });
  const reason = new Error('left');
  setTimeout(() => before.abort(reason), 20);
  await expect(waiting).rejects.toBe(reason);
  const within = new AbortController();
  const response = await fetchIt(`http://127.0.0.1:${port}/body`, { signal: within.signal });
  const text = response.text();
  within.abort();
  await expect(text).rejects.toThrow();
});
