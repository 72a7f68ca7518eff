import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenLayer, openLayer, post } from '../../layer.fixture.ts';
import { freePort } from '../../oauth/authorization-server.fixture.ts';
import { type AuthorizationServer, browse, startAuthorizationServer } from './authorization-server.fixture.ts';
import { startProtectedServer } from './protected-server.fixture.ts';

let authorization: AuthorizationServer;
let server: Awaited<ReturnType<typeof startProtectedServer>>;
let open: OpenLayer;
let operator: string;
let alice: string;
let bob: string;

beforeAll(async () => {
  const redirectUrl = `http://127.0.0.1:${await freePort()}/callback`;
  authorization = await startAuthorizationServer({ redirectUrl });
  server = await startProtectedServer(authorization);
  open = await openLayer({ 'upstreams.login_redirect_url': redirectUrl });
  const tokenOf = async (user_did: string, more: object = {}): Promise<string> =>
    (await open.layer.mintToken({ user_did, ...more })).capability_token;
  operator = await tokenOf('did:user:operator', { roles: ['operator'] });
  alice = await tokenOf('did:user:alice');
  bob = await tokenOf('did:user:bob');
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await authorization[Symbol.asyncDispose]();
});

const ask = (token: string, path: string, body: object = {}) =>
  post({ ...open, token }, `/v1/upstreams${path}`, JSON.stringify(body));
const call = async (token: string, tool = 'notes__read'): Promise<Record<string, unknown>> =>
  (await post({ ...open, token }, '/v1/invocations', JSON.stringify({ tool_id: tool, parameters: {} }))).body;

/** Logs in with the link, as this person at the authorization server. */
async function finish(token: string, link: string, person: string) {
  authorization.state.user = person;
  return ask(token, '/notes/authorization', { redirected_to: await browse(link) });
}

async function linkOf(token: string): Promise<string> {
  const { status, body } = await ask(token, '/notes/login');
  expect(status, JSON.stringify(body)).toBe(201);
  return String(body['login_url']);
}

test('PRM-11 the operator who adds an upstream with connections of callers logs in to list its tools', async () => {
  const overrides = { '*': { side_effect_policy: 'pure' } };
  const upstream = { name: 'notes', per_caller: true, overrides, transport: { type: 'http', url: server.url } };
  const added = await ask(operator, '', { upstream });
  expect(added.body).toMatchObject({ registrations: [], needs_login: expect.stringContaining('needs your login') });
  const finished = await finish(operator, await linkOf(operator), 'olga');
  expect(finished.body).toMatchObject({ upstream: { tool_count: 2 } });
  expect(JSON.stringify(await call(operator))).toContain('olga with Bearer [hidden]');
});

test('PRM-11 a call of a user without a login ends with the link, which leads to tokens of this user alone', async () => {
  const refused = await call(alice);
  expect(refused).toMatchObject({ status: 'error', error: { e_code: 'E3311' } });
  const link = /http:\/\/\S+\/auth\?\S+/.exec(JSON.stringify(refused))?.[0]?.replace(/\\n.*/, '') as string;
  // The same login as long as nothing else is asked for, so that the link stays valid.
  expect(await linkOf(alice)).toBe(link);
  expect((await finish(alice, link, 'alice')).status).toBe(200);
  expect(JSON.stringify(await call(alice))).toContain('alice with');
  expect(await call(bob)).toMatchObject({ error: { e_code: 'E3311' } });
});

test('PRM-11.4 PRM-11.5 calls of two users go with the tokens of each', async () => {
  await finish(bob, await linkOf(bob), 'bob');
  const order = [alice, bob, bob, alice];
  const answers = await Promise.all(order.map((token) => call(token)));
  const names = answers.map((answer) => /(alice|bob|olga) with/.exec(JSON.stringify(answer))?.[1]);
  expect(names).toEqual(['alice', 'bob', 'bob', 'alice']);
});

test('PRM-11 nobody ends the login of another user, nor logs another user out', async () => {
  const link = await linkOf(alice);
  const stolen = await finish(bob, link, 'mallory');
  expect(stolen).toMatchObject({ status: 400, body: { e_code: 'E3801' } });
  const ended = await fetch(`${open.server.url}/v1/upstreams/notes/authorization`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${bob}` },
  });
  expect(await ended.json()).toEqual({ name: 'notes', had_tokens: true });
  expect(await call(bob)).toMatchObject({ error: { e_code: 'E3311' } });
  expect(JSON.stringify(await call(alice))).toContain('alice with');
});

test('PRM-10 the login of a connection that all callers share takes the role of an operator', async () => {
  const shared = { name: 'shared', transport: { type: 'http', url: server.url } };
  expect((await ask(operator, '', { upstream: shared })).status).toBe(201);
  for (const [path, body] of [
    ['/shared/login', {}],
    ['/shared/authorization', { redirected_to: 'http://127.0.0.1:1/callback?code=a&state=b' }],
  ] as const) {
    expect(await ask(alice, path, body)).toMatchObject({ status: 403, body: { e_code: 'E3213' } });
  }
  expect((await ask(operator, '/shared/login')).status).toBe(201);
});
