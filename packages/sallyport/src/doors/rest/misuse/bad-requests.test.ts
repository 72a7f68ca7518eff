import { MiB } from '@sallyport/std/bytes';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { manifestOf } from '../../tool-layer.fixture.ts';
import { type RunningDoor, startRestDoor } from '../rest-door.fixture.ts';
import { isLoopback } from './request-guard.ts';

let running: RunningDoor;

beforeEach(async () => {
  running = await startRestDoor({ bodyBytesMax: 10_000, requestTimeoutMs: 5_000 });
  running.layer.addTool(manifestOf('add'), () => 'added');
});

afterEach(async () => {
  // After each refused request the door still works.
  expect((await running.ask('POST', '/v1/invocations', { tool_id: 'add' })).status).toBe(200);
  await running.door.close();
});

interface Problem {
  status: number;
  e_code: string;
  detail: string;
  details?: { faults?: { path: string }[]; near?: string[] };
}

async function problemOf(response: Response): Promise<Problem> {
  expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  const problem = (await response.json()) as Problem;
  expect(problem.status).toBe(response.status);
  return problem;
}

describe('bodies', () => {
  it.each([
    ['broken JSON', '{"tool_id":"add",}', 400, 'E3801', /line 1, column 18/],
    ['a list', '[]', 400, 'E3801', /must be a JSON object/],
    ['nothing', '', 400, 'E3801', /no body/],
    ['an unknown member', '{"tool_id":"add","colour":1}', 400, 'E3801', /not well formed/],
    [
      'a prototype key',
      '{"tool_id":"add","parameters":{"__proto__":{"x":1}}}',
      400,
      'E3801',
      /\/parameters\/__proto__/,
    ],
    ['10 000 levels', `{"tool_id":"add","parameters":${'['.repeat(9_900)}`, 413, 'E3810', /128 levels at position/],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), 400, 'E3801', /byte 2/],
    ['a body over the bound', `"${'x'.repeat(10_000)}"`, 413, 'E3810', /larger than 10000 bytes/],
  ])('%s is refused with the place and what to change', async (_what, body, status, code, detail) => {
    const response = await running.ask('POST', '/v1/invocations', body, { 'content-type': 'application/json' });
    expect(response.status).toBe(status);
    const problem = await problemOf(response);
    expect(problem.e_code).toBe(code);
    expect(problem.detail).toMatch(detail);
  });

  it('a body as large as allowed is read', async () => {
    const body = '{"tool_id":"add"}'.padEnd(10_000);
    expect((await running.ask('POST', '/v1/invocations', body, JSON_TYPE)).status).toBe(200);
  });

  it('100 MB are refused before they are read, announced or not', async () => {
    const announced = await running.raw(`${POST}content-length: 104857600\r\n\r\n{`);
    expect(announced).toMatch(/^HTTP\/1.1 413 /);
    expect(announced).toContain('E3810');
    const chunk = Buffer.alloc(1 * MiB, 0x20);
    let sent = 0;
    const body = new ReadableStream({
      pull: (controller) => {
        sent += 1;
        if (sent > 100) controller.close();
        else controller.enqueue(chunk);
      },
    });
    const init = { method: 'POST', headers: JSON_TYPE, body, duplex: 'half' as const };
    const status = await fetch(`${running.url}/v1/invocations`, init).then(
      (response) => response.status,
      // The server may cut the connection while the client still sends; then the answer is lost.
      () => 413,
    );
    expect(status).toBe(413);
    // The layer was asked for nothing but the holder of the token.
    expect(running.layer.asked.filter(({ operation }) => operation !== 'tokens.inspect')).toEqual([]);
  });

  it('a member that says something else than the address is refused, not overridden', async () => {
    running.layer.addTool(manifestOf('other'), () => 'other');
    const headers = { authorization: 'Bearer operator' };
    const inBody = await running.ask('POST', '/v1/tools/add/deprecation', { tool_id: 'other' }, headers);
    const inQuery = await running.ask('GET', '/v1/tools/add?tool_id=other', undefined, headers);
    for (const response of [inBody, inQuery]) {
      expect(response.status).toBe(400);
      const problem = await problemOf(response);
      expect(problem.details?.faults).toMatchObject([{ path: '/tool_id' }]);
      expect(problem.detail).toContain('the address');
    }
    expect(running.layer.asked).toEqual([]);
    expect((await running.ask('GET', '/v1/tools/add?tool_id=add', undefined, headers)).status).toBe(200);
  });

  it('another content type is refused with 415', async () => {
    const response = await running.ask('POST', '/v1/invocations', '{}', { 'content-type': 'text/plain' });
    expect(response.status).toBe(415);
    expect((await problemOf(response)).detail).toContain('text/plain');
  });

  it('imports may carry larger documents than other requests', async () => {
    running.layer.answers.set('tools.import-openapi', () => ({ source: '', registrations: [], skipped: [] }));
    const document = 'x'.repeat(20_000);
    const headers = { authorization: 'Bearer operator' };
    expect((await running.ask('POST', '/v1/imports/openapi', { document }, headers)).status).toBe(200);
  });
});

const JSON_TYPE = { authorization: 'Bearer agent', 'content-type': 'application/json' };
const POST = 'POST /v1/invocations HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n';

describe('routes', () => {
  it('an unknown route names those near it', async () => {
    const response = await running.ask('POST', '/v1/invocation', {});
    expect(response.status).toBe(404);
    const problem = await problemOf(response);
    expect(problem.e_code).toBe('E3809');
    expect(problem.details?.near?.[0]).toBe('/v1/invocations');
  });

  it('a method that the route does not take is refused with those it takes', async () => {
    const put = await running.ask('PUT', '/v1/tools/add', {});
    expect(put.status).toBe(405);
    expect(put.headers.get('allow')).toBe('DELETE, GET, HEAD');
    expect((await problemOf(put)).detail).toContain('DELETE or GET or HEAD');
    expect((await running.ask('HEAD', '/v1/tools/add')).status).toBe(200);
  });

  it('a path that cannot be decoded, or is very long, is refused', async () => {
    expect((await running.ask('GET', '/v1/tools/%E0%A4%A')).status).toBe(400);
    expect((await running.ask('GET', `/v1/tools/${'x'.repeat(5_000)}`)).status).toBeGreaterThanOrEqual(400);
  });
});

describe('pages in a browser', () => {
  const get = (headers: string) => running.raw(`GET /healthz HTTP/1.1\r\n${headers}connection: close\r\n\r\n`);

  it.each(['localhost', 'localhost:7070', '127.0.0.1:1', '[::1]:7070', 'LOCALHOST'])(
    'the host %s is ours',
    async (host) => {
      expect(await get(`host: ${host}\r\n`)).toMatch(/^HTTP\/1.1 200 /);
    },
  );

  it.each(['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '[::1].evil', ''])(
    'the host "%s" is refused: a name that was rebound to this machine',
    async (host) => {
      expect(await get(`host: ${host}\r\n`)).toMatch(/^HTTP\/1.1 403 /);
    },
  );

  it('the origin of a foreign page is refused, that of our own page is not', async () => {
    expect(await get('host: localhost:1\r\norigin: http://evil.example\r\n')).toMatch(/^HTTP\/1.1 403 /);
    expect(await get('host: localhost:1\r\norigin: null\r\n')).toMatch(/^HTTP\/1.1 403 /);
    expect(await get('host: localhost:1\r\norigin: http://localhost:2\r\n')).toMatch(/^HTTP\/1.1 403 /);
    expect(await get('host: localhost:1\r\norigin: http://localhost:1\r\n')).toMatch(/^HTTP\/1.1 200 /);
  });

  it('hosts and origins may be added', async () => {
    const open = await startRestDoor({
      allowedHosts: ['Tools.example'],
      allowedOrigins: ['https://console.example'],
    });
    const ask = (headers: string) => open.raw(`GET /healthz HTTP/1.1\r\n${headers}connection: close\r\n\r\n`);
    expect(await ask('host: tools.example:8443\r\norigin: https://console.example\r\n')).toMatch(/^HTTP\/1.1 200 /);
    expect(await ask('host: other.example\r\n')).toMatch(/^HTTP\/1.1 403 /);
    await open.door.close();
  });

  it('answers carry headers against caching, framing and sniffing, and none for other origins', async () => {
    const answer = await get('host: localhost\r\n');
    expect(answer).toContain('cache-control: no-store');
    expect(answer).toContain('x-content-type-options: nosniff');
    expect(answer).toContain("frame-ancestors 'none'");
    expect(answer.toLowerCase()).not.toContain('access-control-allow-origin');
  });

  it.each([
    ['127.0.0.1', true],
    ['127.9.9.9', true],
    ['::1', true],
    ['localhost', true],
    ['0.0.0.0', false],
    ['127.0.0.1.evil.example', false],
    ['10.0.0.1', false],
  ])('%s is loopback: %s', (host, loopback) => expect(isLoopback(host)).toBe(loopback));
});

describe('bytes that are no HTTP', () => {
  it.each([
    ['noise', '\u0000\u0001\u0002\r\n\r\n', /^HTTP\/1.1 400 /],
    ['two lengths', `${POST}content-length: 1\r\ncontent-length: 2\r\n\r\n{}`, /^HTTP\/1.1 400 /],
    [
      'a length and chunks',
      `${POST}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
      /^HTTP\/1.1 400 /,
    ],
    ['a head that is too large', `GET / HTTP/1.1\r\nx: ${'x'.repeat(40_000)}\r\n\r\n`, /^HTTP\/1.1 431 /],
  ])('%s is answered and the connection closed', async (_what, bytes, answer) => {
    expect(await running.raw(bytes)).toMatch(answer);
  });
});
