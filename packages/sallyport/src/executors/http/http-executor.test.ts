import { once } from 'node:events';
import { createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { executorConformance } from '../conformance/executor.conformance.ts';
import type { ExecutorCall } from '../executor.port.ts';
import { httpCall, json, openHttpExecutor, startService, type TestService } from './http-server.fixture.ts';

const never = new AbortController().signal;

executorConformance(test, 'http', async () => {
  const service = await startService();
  const executor = openHttpExecutor();
  return {
    executor,
    works: () => {
      service.answer = (_request, response) => json(response, 200, { sum: 3 });
      return {
        call: httpCall(service.port, { path: '/sum' }),
        result: { status: 200, headers: { 'content-type': 'application/json' }, body: { sum: 3 } },
      };
    },
    fails: () => {
      service.answer = (_request, response) => json(response, 404, {});
      return httpCall(service.port, {});
    },
    hangs: () => {
      const running = Promise.withResolvers<void>();
      service.answer = () => running.resolve();
      return { call: httpCall(service.port, {}), running: () => running.promise };
    },
    faulty: () => httpCall(service.port, { path: 'no-slash' }).tool.manifest,
    leftovers: () => service.sockets.size,
    async close() {
      executor[Symbol.dispose]();
      await service[Symbol.asyncDispose]();
    },
  };
});

let service: TestService;
const executor = openHttpExecutor({ now: () => Date.UTC(2026, 0, 1), monotonic: () => 0 }, { idleMs: 50 });
beforeAll(async () => {
  service = await startService();
});
afterEach(() => {
  service.seen.length = 0;
  service.answer = (_request, response) => json(response, 200, {});
});
afterAll(async () => {
  executor[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

const run = (call: ExecutorCall, signal = never) => executor.execute(call, signal);
const refusal = (call: ExecutorCall): Promise<ToolLayerError> =>
  run(call).then(
    () => expect.unreachable('the call must be refused'),
    (thrown: ToolLayerError) => thrown,
  );

describe('answers', () => {
  test('EXE-06 JSON is parsed, text is text, bytes are base64, nothing is nothing', async () => {
    const answers: [string, string | Buffer, unknown][] = [
      ['application/json', '{"a":[1]}', { body: { a: [1] } }],
      ['application/problem+json; charset=utf-8', 'null', { body: null }],
      ['text/plain; charset=iso-8859-1', Buffer.from('Grüße', 'latin1'), { body: 'Grüße' }],
      ['text/html', '<p>', { body: '<p>' }],
      ['image/png', Buffer.from([0, 255]), { body: 'AP8=', body_encoding: 'base64' }],
      ['application/json', '', {}],
    ];
    for (const [type, body, expected] of answers) {
      service.answer = (_request, response) => void response.writeHead(200, { 'content-type': type }).end(body);
      expect((await run(httpCall(service.port, {}))).result).toEqual({
        status: 200,
        headers: { 'content-type': type },
        ...(expected as object),
      });
    }
  });

  test('only header fields that say something of the answer are shown', async () => {
    service.answer = (_request, response) =>
      json(response, 201, 1, { etag: '"1"', 'set-cookie': 'session=1', 'x-ratelimit-remaining': '9', server: 'x' });
    expect((await run(httpCall(service.port, {}))).result).toMatchObject({
      status: 201,
      headers: { 'content-type': 'application/json', etag: '"1"', 'x-ratelimit-remaining': '9' },
    });
  });

  test('EXT-03.4 what says it is JSON and is not cannot be read', async () => {
    service.answer = (_request, response) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":');
    expect(await refusal(httpCall(service.port, {}))).toMatchObject({ code: 'E3308' });
  });

  test('an answer is cut at the size that the call allows, to the byte', async () => {
    const limits = { timeoutMs: 10_000, cpuMillicores: 1, memoryMb: 1, outputBytesMax: 1000 };
    const bounded = (text: string, type: string): Promise<unknown> => {
      service.answer = (_request, response) => void response.writeHead(200, { 'content-type': type }).end(text);
      const { grant } = httpCall(service.port, {});
      return run(httpCall(service.port, {}, {}, { grant: { ...grant, limits } })).then(({ result }) => result);
    };
    expect(await bounded('x'.repeat(1000), 'text/plain')).not.toHaveProperty('truncated');
    expect(await bounded('x'.repeat(1001), 'text/plain')).toMatchObject({ body: 'x'.repeat(1000), truncated: true });
    expect(await bounded(`${'x'.repeat(999)}ü`, 'text/plain')).toMatchObject({
      body: 'x'.repeat(999),
      truncated: true,
    });
    const json = JSON.stringify('x'.repeat(5_000_000));
    expect(await bounded(json, 'application/json')).toMatchObject({ body_text: json.slice(0, 1000), truncated: true });
    expect(await bounded('\0'.repeat(900), 'application/zip')).toMatchObject({
      body_encoding: 'base64',
      truncated: true,
    });
  });

  test('a compressed answer is read although none was asked for, a compressed bomb is cut while it unfolds', async () => {
    const compressed = (text: string): void => {
      service.answer = (_request, response) =>
        void response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }).end(gzipSync(text));
    };
    compressed('small');
    expect((await run(httpCall(service.port, {}))).result).toMatchObject({ body: 'small' });
    expect(service.seen[0]?.headers['accept-encoding']).toBe('identity');
    compressed('x'.repeat(20_000_000));
    expect((await run(httpCall(service.port, {}))).result).toMatchObject({ body: 'x'.repeat(65_536), truncated: true });
    service.answer = (_request, response) =>
      void response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }).end('no gzip');
    expect(await refusal(httpCall(service.port, {}))).toMatchObject({ code: 'E3308' });
    service.answer = (_request, response) =>
      void response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'exotic' }).end('x');
    expect(await refusal(httpCall(service.port, {}))).toMatchObject({ code: 'E3308' });
  });

  test('the bytes of each call are counted, also on a kept connection', async () => {
    const first = await run(httpCall(service.port, {}));
    const second = await run(httpCall(service.port, {}));
    expect(first.usage.networkBytesSent).toBeGreaterThan(100);
    expect(first.usage.networkBytesReceived).toBeGreaterThan(100);
    expect(second.usage).toEqual(first.usage);
  });

  test('a slow answer is waited for longer than an idle connection is kept', async () => {
    service.answer = (_request, response) => void setTimeout(() => json(response, 200, 'slow'), 200);
    expect((await run(httpCall(service.port, {}))).result).toMatchObject({ body: 'slow' });
  });
});

describe('refusals of the service', () => {
  test.each([
    [401, 'E3307'],
    [403, 'E3307'],
    [404, 'E3309'],
    [422, 'E3309'],
    [429, 'E3303'],
    [500, 'E3304'],
    [503, 'E3304'],
  ])('EXT-03.3 %i is %s', async (status, code) => {
    service.answer = (_request, response) => json(response, status, { why: 'because' });
    const refused = await refusal(httpCall(service.port, {}));
    expect(refused.code).toBe(code);
    expect(refused.failure.details).toEqual({ status, body: '{"why":"because"}' });
  });

  test('what a service says of a refusal is bounded', async () => {
    service.answer = (_request, response) => json(response, 400, 'x'.repeat(1_000_000));
    expect(String((await refusal(httpCall(service.port, {}))).failure.details?.['body'])).toHaveLength(2000);
  });

  test.each([
    ['7', 7000],
    ['0', 0],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
    ['Thu, 01 Jan 2025 00:00:00 GMT', 0],
    ['99999999', 86_400_000],
    ['soon', undefined],
  ])('EXT-03 Retry-After: %s waits %s ms', async (value, expected) => {
    service.answer = (_request, response) => json(response, 429, {}, { 'retry-after': value });
    expect((await refusal(httpCall(service.port, {}))).failure.retryAfterMs).toBe(expected);
  });

  test('EXT-03 a service that is not there, hangs up or does not speak HTTP', async () => {
    const server = createServer((socket) => void socket.once('data', () => socket.end('SSH-2.0-x\r\n')));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    expect(await refusal(httpCall(port, {}))).toMatchObject({ code: 'E3308' });
    server.close();
    await once(server, 'close');
    const absent = await refusal(httpCall(port, {}));
    expect(absent).toMatchObject({
      code: 'E3310',
      failure: { details: { reason: 'ECONNREFUSED', request_sent: false } },
    });
    service.answer = (_request, response) => void response.socket?.destroy();
    expect(absent.message).toContain('cannot be reached');
    const hungUp = await refusal(httpCall(service.port, { method: 'POST' }));
    expect(hungUp).toMatchObject({ code: 'E3310', message: expect.stringContaining('gave no answer') });
    service.answer = (_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half', () => response.socket?.destroy());
    };
    const brokenOff = await refusal(httpCall(service.port, {}));
    expect(brokenOff).toMatchObject({ code: 'E3310', failure: { details: { request_sent: true } } });
    expect(brokenOff.message).toMatch(/^The answer of 127\.0\.0\.1:\d+ broke off/);
  });

  test('a name that has no address cannot be reached', async () => {
    const call = httpCall(80, { base_url: 'http://nowhere.invalid' });
    const grant = { ...call.grant, network: [{ host: 'nowhere.invalid', port: 80 }] };
    expect(await refusal({ ...call, grant })).toMatchObject({ code: 'E3310' });
  });

  test('too many header fields are refused', async () => {
    service.answer = (_request, response) => json(response, 200, {}, { 'x-long': 'x'.repeat(40_000) });
    expect(await refusal(httpCall(service.port, {}))).toMatchObject({ code: 'E3308' });
  });
});
