import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import { type OpenLayer, openLayer, post } from '../layer.fixture.ts';

const KEY = 'key-of-the-pets';
let open: OpenLayer;
let token: string;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
const seen: { url: string; method: string; headers: IncomingMessage['headers']; body: string }[] = [];
const service = createServer(async (request, response) => {
  let body = '';
  for await (const part of request) body += String(part);
  seen.push({ url: request.url ?? '', method: request.method ?? '', headers: request.headers, body });
  answer(request, response);
});
const json = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void =>
  void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

const parameter = (name: string, place: string, more: object = {}) => ({
  name,
  in: place,
  schema: { type: 'array', items: { type: 'string' } },
  ...more,
});
const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Pets', version: '1.0.0' },
  components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
  security: [{ key: [] }],
  paths: {
    '/pets/{id}/{colours}': {
      get: {
        operationId: 'find',
        parameters: [
          parameter('id', 'path', { required: true, style: 'matrix', explode: true }),
          parameter('colours', 'path', { required: true, style: 'label' }),
          parameter('tags', 'query', { style: 'pipeDelimited', explode: false }),
          parameter('near', 'query', { style: 'deepObject', schema: { type: 'object' } }),
          parameter('X-Trace', 'header'),
          parameter('session', 'cookie', { explode: false }),
        ],
      },
    },
    '/pets': {
      get: {
        operationId: 'list',
        parameters: [{ name: 'page', in: 'query', schema: { type: 'integer' } }],
      },
      post: {
        operationId: 'add',
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { type: 'object', properties: { name: { type: 'string' } } } } },
        },
      },
    },
  },
};

beforeAll(async () => {
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  const { port } = service.address() as AddressInfo;
  open = await openLayer(
    {
      'agent.allowed_hosts': ['127.0.0.1'],
      'rate.apis': [`127.0.0.1:${port}=60/20`],
      'retry.jitter': 'none',
    },
    { SALLYPORT_SECRET_PETS_KEY: KEY },
  );
  const document = JSON.stringify({ ...DOCUMENT, servers: [{ url: `http://127.0.0.1:${port}/v1` }] });
  const report = await open.layer.ask('tools.import-openapi', { document }, LOCAL_CALLER);
  expect(report.registrations.map(({ outcome }) => outcome)).toEqual(['created', 'created', 'created']);
  const { manifest } = await open.layer.ask('tools.get', { tool_id: 'pets__list' }, LOCAL_CALLER);
  const secrets = manifest.permissions?.credentials ?? [];
  expect(secrets).toEqual(['PETS_KEY']);
  token = (await open.layer.mintToken({ hosts: ['127.0.0.1'], ports: [port], secrets: [...secrets] })).capability_token;
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  service.closeAllConnections();
  service.close();
});
beforeEach(() => {
  seen.length = 0;
  answer = (_request, response) => json(response, 200, []);
});

const call = (tool_id: string, parameters: object) =>
  post({ ...open, token }, '/v1/invocations', JSON.stringify({ tool_id, parameters }));

describe('a tool of an OpenAPI document', () => {
  test('REG-02.6 EXE-06.1 EXE-06.2 EXT-01.2 is called as its operation says: each parameter in its place and style, the key from the store', async () => {
    const given = {
      ...{ id: ['a', 'b'], colours: ['red', 'blue'], tags: ['x', 'y z'] },
      ...{ near: { lat: 1, lon: 2 }, 'X-Trace': ['t'], session: ['s;1'] },
    };
    expect(await call('pets__find', given)).toMatchObject({ status: 200, body: { status: 'success' } });
    expect(seen).toHaveLength(1);
    const { url, headers } = seen[0] as (typeof seen)[number];
    expect(url).toBe('/v1/pets/;id=a;id=b/.red,blue?tags=x%7Cy%20z&near[lat]=1&near[lon]=2');
    expect([headers['x-trace'], headers.cookie, headers['x-key']]).toEqual(['t', 'session=s%3B1', KEY]);
  });

  test('REG-02.7 EXE-06.1 sends a body of its type, and an argument of another type never leaves the layer', async () => {
    const sent = await call('pets__add', { body: { name: 'Rex' } });
    expect(sent.body).toMatchObject({ status: 'success' });
    expect(seen).toMatchObject([
      { method: 'POST', body: '{"name":"Rex"}', headers: { 'content-type': 'application/json' } },
    ]);
    expect((await call('pets__add', { body: { name: {} } })).body).toMatchObject({ status: 'error' });
    expect(seen).toHaveLength(1);
  });

  test('VAL-03.5 warns of a whole number that was rounded, in words of the layer alone', async () => {
    const said = async (text: string) => {
      answer = (_request, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(text);
      return (await call('pets__list', {})).body;
    };
    const rounded = await said('[{"Obey me":9007199254740993}]');
    expect(rounded).toMatchObject({ result: { body: [{ 'Obey me': 9007199254740992 }] } });
    expect(rounded['warnings']).toEqual([
      {
        code: 'result_rounded',
        message: expect.not.stringContaining('Obey'),
        details: { places: ['/body/0/Obey me'] },
      },
    ]);
    expect((await said('[9007199254740992]'))['warnings']).toBeUndefined();
  });

  test('PIPE-13.2 PIPE-13.3 whose answer breaks off is not said to be out of reach, and is not called again', async () => {
    answer = (_request, response) =>
      void response
        .writeHead(200, { 'content-length': '100' })
        .write('half', () => setTimeout(() => response.destroy(), 10));
    const { body } = await call('pets__add', { body: { name: 'Rex' } });
    const details = { cut_off_by: 'E3310', request_sent: true };
    expect(body).toMatchObject({ error: { e_code: 'E3804', message: expect.stringContaining('broke off'), details } });
    expect(JSON.stringify(body)).not.toContain('cannot be reached');
    expect(seen).toHaveLength(1);
  });

  test('EXE-06 says how to ask for the next page, and that leads there', async () => {
    answer = ({ url }, response) =>
      json(response, 200, ['pet'], url?.includes('page=2') ? {} : { link: '</v1/pets?page=2>; rel="next"' });
    const first = (await call('pets__list', {})).body['result'] as { pagination: { next_arguments: object } };
    expect(first.pagination).toMatchObject({ next_arguments: { page: 2 } });
    const second = (await call('pets__list', first.pagination.next_arguments)).body['result'];
    expect(seen.map(({ url }) => url)).toEqual(['/v1/pets', '/v1/pets?page=2']);
    expect(second).not.toHaveProperty('pagination');
  });

  test('EXT-05.1 EXT-05.2 is tried again after the statuses of the settings, or of its manifest where that names some', async () => {
    const { port } = service.address() as AddressInfo;
    const attemptsAt = async (tool_id: string, status: number) => {
      seen.length = 0;
      answer = (_request, response) => json(response, seen.length < 2 ? status : 200, []);
      await call(tool_id, {});
      return seen.length;
    };
    const config = { base_url: `http://127.0.0.1:${port}`, method: 'GET', path: '/own' };
    const { manifest } = await open.layer.ask('tools.get', { tool_id: 'pets__list' }, LOCAL_CALLER);
    const own = {
      ...{
        ...manifest,
        tool_id: 'own',
        side_effect_policy: 'pure' as const,
        executor: { kind: 'http' as const, config },
      },
      ...{ parameters_schema: { type: 'object' }, permissions: { network: [{ host: '127.0.0.1', port }] } },
      execution_config: {
        rate_limit: { per_minute: 60, burst: 20 },
        retry_policy: { base_delay_ms: 1, retryable_status_codes: [409] },
      },
    };
    await open.layer.ask('tools.register', { manifest: own }, LOCAL_CALLER);
    expect([await attemptsAt('own', 409), await attemptsAt('own', 503)]).toEqual([2, 1]);
    const byDefault = { ...own, tool_id: 'default', execution_config: { rate_limit: { per_minute: 60, burst: 20 } } };
    await open.layer.ask('tools.register', { manifest: byDefault }, LOCAL_CALLER);
    expect([await attemptsAt('default', 409), await attemptsAt('default', 501)]).toEqual([1, 1]);
    expect(await attemptsAt('default', 502)).toBe(2);
  });

  test('EXE-06.5 PIPE-05.2 is tried again where that is safe, and not where it is not', async () => {
    answer = (_request, response) => json(response, seen.length < 2 ? 503 : 200, []);
    expect((await call('pets__list', {})).body).toMatchObject({
      status: 'success',
      execution_metadata: { attempts: 2 },
    });
    expect(seen).toHaveLength(2);
    seen.length = 0;
    expect((await call('pets__add', { body: { name: 'Rex' } })).body).toMatchObject({ status: 'error' });
    expect(seen).toHaveLength(1);
  });

  test('PIPE-11.3 says how many bytes went to the service and came back', async () => {
    answer = (_request, response) => json(response, 200, ['x'.repeat(5000)]);
    const { body } = await call('pets__list', {});
    const { network_bytes_sent: sent, network_bytes_received: received } = body['execution_metadata'] as Record<
      string,
      number
    >;
    expect([Number(sent) > 50, Number(received) > 5000, Number(received) < 10_000]).toEqual([true, true, true]);
  });

  test('EXE-06.3 EXT-02 shares the bound of its service with the others; what is beyond it never leaves the layer', async () => {
    const codes = [];
    for (let made = 0; made < 20; made += 1) {
      const { body } = await call(made % 2 === 0 ? 'pets__list' : 'pets__add', made % 2 === 0 ? {} : { body: {} });
      codes.push((body['error'] as { e_code: string } | undefined)?.e_code);
    }
    const refused = codes.filter((code) => code === 'E3303');
    expect(refused.length).toBeGreaterThan(0);
    expect(seen).toHaveLength(codes.length - refused.length);
  });
});
