import type { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { HttpOperation } from '../../../registry/http-operation.ts';
import type { ExecutorCall } from '../../executor.port.ts';
import { configFaults } from '../config-faults.ts';
import {
  httpCall,
  json,
  openHttpExecutor,
  type SeenRequest,
  startService,
  type TestService,
} from '../http-server.fixture.ts';

const never = new AbortController().signal;
let now = Date.UTC(2026, 0, 1);
let service: TestService;
let executor: ReturnType<typeof openHttpExecutor>;
let issued = 0;
/** Answers of the token server and of the service that needs the token. */
let token: (request: SeenRequest) => readonly [number, unknown];
let api: (request: SeenRequest) => readonly [number, unknown];

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());
afterEach(() => executor[Symbol.dispose]());

function begin(): void {
  service.seen.length = 0;
  issued = 0;
  executor = openHttpExecutor({ now: () => now, monotonic: () => 0 });
  token = () => {
    issued += 1;
    return [200, { access_token: `token-${issued}`, token_type: 'Bearer', expires_in: 3600 }];
  };
  api = ({ headers }) => [200, { auth: headers.authorization?.replace('token-', 'number ') }];
  service.answer = (request, response) => {
    const [status, body] = request.url === '/token' ? token(request) : api(request);
    json(response, status, body);
  };
}

type Auth = Extract<NonNullable<HttpOperation['auth']>[number], { type: 'oauth2_client_credentials' }>;

function call(more: Partial<Auth> = {}, tenantId = 'acme', secret = 'my client:s3cret%'): ExecutorCall {
  const token_url = `http://127.0.0.1:${service.port}/token`;
  return httpCall(
    service.port,
    { path: '/x', auth: [{ type: 'oauth2_client_credentials', secret: 'CLIENT', token_url, ...more }] },
    {},
    {
      secrets: new Map([['CLIENT', secret]]),
      principal: { tenantId, agentDid: 'did:example:agent', roles: ['agent'] },
    },
  );
}

const run = async (one: ExecutorCall): Promise<unknown> =>
  ((await executor.execute(one, never)).result as { body: { auth: string } }).body.auth;
const refusal = (one: ExecutorCall): Promise<ToolLayerError> =>
  executor.execute(one, never).then(
    () => expect.unreachable('the call must be refused'),
    (thrown: ToolLayerError) => thrown,
  );
const tokenRequests = (): SeenRequest[] => service.seen.filter(({ url }) => url === '/token');

test('a token is fetched once, for all who want it at the same time, and until it expires', async () => {
  begin();
  const all = await Promise.all(Array.from({ length: 5 }, () => run(call())));
  expect(new Set(all)).toEqual(new Set(['Bearer number 1']));
  expect(tokenRequests()).toHaveLength(1);
  now += 3_569_999;
  expect(await run(call())).toBe('Bearer number 1');
  now += 1;
  expect(await run(call())).toBe('Bearer number 2');
});

test('EXE-06 the client names itself in the header or in the body, with scopes and audience', async () => {
  begin();
  await run(call({ scopes: ['read', 'write'], audience: 'https://api' }));
  await run(call({ client_auth: 'body' }));
  const [first, second] = tokenRequests();
  const pair = Buffer.from('my%20client:s3cret%25').toString('base64');
  expect(first?.headers.authorization).toBe(`Basic ${pair}`);
  expect(first?.body.toString()).toBe('grant_type=client_credentials&scope=read+write&audience=https%3A%2F%2Fapi');
  expect(second?.headers.authorization).toBeUndefined();
  expect(second?.body.toString()).toBe('grant_type=client_credentials&client_id=my+client&client_secret=s3cret%25');
});

test('tenants and secrets have tokens of their own', async () => {
  begin();
  expect(await run(call())).toBe('Bearer number 1');
  expect(await run(call({}, 'rival'))).toBe('Bearer number 2');
  expect(await run(call({}, 'acme', 'my client:other'))).toBe('Bearer number 3');
  expect(await run(call())).toBe('Bearer number 1');
});

test('a kept token that the service refuses is replaced once, a new one is not', async () => {
  begin();
  await run(call());
  api = ({ headers }) => (headers.authorization === 'Bearer token-1' ? [401, {}] : [200, { auth: 'again' }]);
  expect(await run(call())).toBe('again');
  expect(tokenRequests()).toHaveLength(2);
  api = () => [401, {}];
  expect(await refusal(call())).toMatchObject({ code: 'E3307' });
  expect(tokenRequests()).toHaveLength(3);
});

test('a token is seen by nobody', async () => {
  begin();
  api = ({ headers }) => [200, { auth: headers.authorization }];
  expect(await run(call())).toBe('Bearer [hidden]');
});

test('what a token server refuses or cannot give is told without secrets', async () => {
  const ends: [() => readonly [number, unknown], string][] = [
    [() => [400, { error: 'invalid_client', error_description: 's3cret%' }], 'E3307'],
    [() => [401, { error: 'invalid_client' }], 'E3307'],
    [() => [429, {}], 'E3303'],
    [() => [500, 's3cret%'], 'E3304'],
    [() => [200, { access_token: 'x' }], 'E3308'],
    [() => [200, { access_token: 'a\r\nb', token_type: 'bearer' }], 'E3308'],
    [() => [200, { access_token: 'x', token_type: 'mac' }], 'E3308'],
    [() => [200, []], 'E3308'],
  ];
  for (const [answer, code] of ends) {
    begin();
    token = answer;
    const refused = await refusal(call());
    expect(refused.code).toBe(code);
    expect(JSON.stringify(refused.failure)).not.toContain('s3cret');
    executor[Symbol.dispose]();
  }
  begin();
  expect(await refusal(call({}, 'acme', 'no-colon'))).toMatchObject({ code: 'E3302' });
});

test('a call whose grant does not open the token server gets no token, not even a kept one', async () => {
  begin();
  await run(call());
  const narrow = call();
  const grant = { ...narrow.grant, network: [{ host: '127.0.0.1', port: service.port + 1 }] };
  expect(await refusal({ ...narrow, grant })).toMatchObject({ code: 'E3104' });
});

test('one who waits and leaves does not end it for the others; the last one does', async () => {
  begin();
  const asked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  service.answer = async (request, response) => {
    if (request.url !== '/token') return json(response, 200, { auth: 'there' });
    response.once('close', () => closed.resolve());
    asked.resolve();
    await release.promise;
    json(response, 200, { access_token: 'token-9', token_type: 'bearer' });
  };
  const leaving = new AbortController();
  const first = executor.execute(call(), leaving.signal);
  const second = run(call());
  await asked.promise;
  leaving.abort();
  await expect(first).rejects.toMatchObject({ code: 'E3805' });
  release.resolve();
  expect(await second).toBe('there');

  const alone = new AbortController();
  service.answer = (request, response) => {
    if (request.url === '/token') {
      response.once('close', () => closed.resolve());
      alone.abort();
    }
  };
  await expect(executor.execute(call({}, 'third'), alone.signal)).rejects.toMatchObject({ code: 'E3805' });
  await closed.promise;
});

test('the address of a token server must be named and safe', () => {
  begin();
  const places = (token_url: string): string[] =>
    configFaults(call({ token_url }).tool.manifest).map(({ path }) => path);
  expect(places(`http://127.0.0.1:${service.port}/token`)).toEqual([]);
  for (const url of [
    `http://127.0.0.1:${service.port + 1}/token`,
    'http://login.example.com/token',
    'https://u:p@login.example.com/',
    'https://login.example.com/#x',
    'https://',
  ]) {
    expect(places(url)).toEqual(['/executor/config/auth/0/token_url']);
  }
});
