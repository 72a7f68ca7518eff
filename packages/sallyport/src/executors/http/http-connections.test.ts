import { once } from 'node:events';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ExecutorCall } from '../executor.port.ts';
import { httpCall, json, openHttpExecutor, startService, type TestService } from './http-server.fixture.ts';

const never = new AbortController().signal;

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

describe('where a request may go', () => {
  test('nowhere but to host and port of the grant', async () => {
    const call = httpCall(service.port, {});
    for (const network of [
      [],
      [{ host: '127.0.0.1', port: service.port + 1 }],
      [{ host: '127.0.0.2', port: service.port }],
    ]) {
      expect(await refusal({ ...call, grant: { ...call.grant, network } })).toMatchObject({ code: 'E3104' });
    }
    expect(service.seen).toEqual([]);
  });

  test('localhost is reached when the grant says localhost', async () => {
    const call = httpCall(service.port, { base_url: `http://localhost:${service.port}` });
    const grant = { ...call.grant, network: [{ host: 'localhost', port: service.port }] };
    expect((await run({ ...call, grant })).result).toMatchObject({ status: 200 });
  });

  test('redirects are followed within the service, at most three times', async () => {
    let steps = 3;
    service.answer = (_request, response) => {
      if (steps-- > 0) response.writeHead(302, { location: `/step-${steps}` }).end();
      else json(response, 200, 'there');
    };
    expect((await run(httpCall(service.port, {}))).result).toMatchObject({ body: 'there' });
    expect(service.seen.map(({ url }) => url)).toEqual(['/', '/step-2', '/step-1', '/step-0']);
    steps = 4;
    expect(await refusal(httpCall(service.port, {}))).toMatchObject({ code: 'E3309' });
  });

  test('a redirect to another host or port is not followed, even when the grant names it', async () => {
    await using other = await startService();
    const call = httpCall(service.port, {});
    const grant = { ...call.grant, network: [...call.grant.network, { host: '127.0.0.1', port: other.port }] };
    for (const location of [
      `http://127.0.0.1:${other.port}/`,
      'http://169.254.169.254/',
      '//localhost/',
      'file:///etc/passwd',
    ]) {
      service.answer = (_request, response) => void response.writeHead(302, { location }).end();
      expect(await refusal({ ...call, grant })).toMatchObject({ code: 'E3309' });
    }
    expect(other.seen).toEqual([]);
  });

  test('a redirect keeps the method only where that is sure', async () => {
    const redirected = async (status: number): Promise<string[]> => {
      service.seen.length = 0;
      service.answer = ({ url }, response) => {
        if (url === '/') response.writeHead(status, { location: '/next' }).end();
        else json(response, 200, {});
      };
      const body = { property: 'body', content_type: 'application/json', encoding: 'json' } as const;
      await run(httpCall(service.port, { method: 'POST', body }, { body: { a: 1 } })).catch(() => undefined);
      return service.seen.map(({ method, url, body: sent }) => `${method} ${url} ${sent}`);
    };
    expect(await redirected(307)).toEqual(['POST / {"a":1}', 'POST /next {"a":1}']);
    expect(await redirected(303)).toEqual(['POST / {"a":1}', 'GET /next ']);
    expect(await redirected(302)).toEqual(['POST / {"a":1}']);
  });
});

describe('credentials', () => {
  const secrets = new Map([['KEY', 'hunter2/secret']]);

  test('EXE-06.2 each kind is sent in its place', async () => {
    const send = async (auth: NonNullable<Parameters<typeof httpCall>[1]['auth']>): Promise<string> => {
      service.seen.length = 0;
      await run(httpCall(service.port, { auth }, {}, { secrets }));
      const [{ url = '', headers = {} } = {}] = service.seen;
      return [url, headers['x-key'], headers.authorization, headers.cookie].filter(Boolean).join(' ');
    };
    expect(await send([{ type: 'api_key', in: 'header', name: 'X-Key', secret: 'KEY' }])).toBe('/ hunter2/secret');
    expect(await send([{ type: 'api_key', in: 'query', name: 'k', secret: 'KEY' }])).toBe('/?k=hunter2%2Fsecret');
    expect(await send([{ type: 'api_key', in: 'cookie', name: 'k', secret: 'KEY' }])).toBe('/ k=hunter2%2Fsecret');
    expect(await send([{ type: 'bearer', secret: 'KEY' }])).toBe('/ Bearer hunter2/secret');
    expect(await send([{ type: 'basic', secret: 'KEY' }])).toBe('/ Basic aHVudGVyMi9zZWNyZXQ=');
  });

  test('EXT-01.7 a secret that is missing or would begin another header is refused before anything is sent', async () => {
    const auth = [{ type: 'bearer', secret: 'KEY' }] as const;
    expect(await refusal(httpCall(service.port, { auth: [...auth] }))).toMatchObject({ code: 'E3302' });
    const split = new Map([['KEY', 'a\r\nX-Admin: 1']]);
    const refused = await refusal(httpCall(service.port, { auth: [...auth] }, {}, { secrets: split }));
    expect(refused.code).toBe('E3302');
    expect(refused.message).not.toContain('X-Admin');
    expect(service.seen).toEqual([]);
  });

  test('EXE-06 EXT-01.8 a secret that the service sends back is seen by nobody', async () => {
    service.answer = ({ headers }, response) =>
      json(response, 200, { echo: headers }, { etag: headers.authorization ?? '' });
    const auth = [{ type: 'bearer' as const, secret: 'KEY' }];
    const { result } = await run(httpCall(service.port, { auth }, {}, { secrets }));
    expect(JSON.stringify(result)).not.toContain('hunter2');
    expect(result).toMatchObject({
      headers: { etag: 'Bearer [hidden]' },
      body: { echo: { authorization: 'Bearer [hidden]' } },
    });
    service.answer = ({ headers }, response) => json(response, 403, headers);
    const refused = await refusal(httpCall(service.port, { auth }, {}, { secrets }));
    expect(JSON.stringify(refused.failure)).not.toContain('hunter2');
    expect(refused.message).toContain('KEY');
  });
});

describe('kept connections', () => {
  test('are used again, and closed with the way out', async () => {
    const own = openHttpExecutor();
    for (const socket of service.sockets) socket.destroy();
    for (let calls = 0; calls < 5; calls += 1) await own.execute(httpCall(service.port, {}), never);
    expect(service.sockets.size).toBe(1);
    const [socket] = service.sockets;
    own[Symbol.dispose]();
    if (socket !== undefined && !socket.closed) await once(socket, 'close');
    expect(service.sockets.size).toBe(0);
  });

  test('a GET and a QUERY go out again when the kept connection was just closed, a POST does not', async () => {
    const own = openHttpExecutor();
    let drop = false;
    service.answer = (_request, response) => {
      if (drop) {
        drop = false;
        response.socket?.destroy();
      } else json(response, 200, 'again');
    };
    await own.execute(httpCall(service.port, {}), never);
    const body = { property: 'body', content_type: 'application/json', encoding: 'json' } as const;
    for (const operation of [{}, { method: 'QUERY', body }] as const) {
      drop = true;
      const call = httpCall(service.port, operation, { body: { size: 3 } });
      expect((await own.execute(call, never)).result).toMatchObject({ body: 'again' });
    }
    expect(service.seen.at(-1)).toMatchObject({ method: 'QUERY', body: Buffer.from('{"size":3}') });
    drop = true;
    await expect(own.execute(httpCall(service.port, { method: 'POST' }), never)).rejects.toMatchObject({
      code: 'E3310',
      failure: { details: { request_sent: true } },
    });
    own[Symbol.dispose]();
  });

  test('an abort while the body comes ends the call with its reason', async () => {
    const begun = Promise.withResolvers<void>();
    service.answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.write('beginning', () => begun.resolve());
    };
    const controller = new AbortController();
    const reason = new ToolLayerError('E3805', 'Cancelled.');
    const running = run(httpCall(service.port, {}), controller.signal);
    await begun.promise;
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
  });
});
