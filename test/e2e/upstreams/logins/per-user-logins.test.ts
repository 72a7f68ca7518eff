import { connect as connectSocket } from 'node:net';
import type { Client } from '@modelcontextprotocol/client';
import { ElicitationCompleteNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../../packages/sallyport/src/index.ts';
import { taskClient } from '../../calls/mcp/tasks.fixture.ts';
import { type OpenLayer, openLayer, post } from '../../layer.fixture.ts';
import { freePort } from '../../oauth/authorization-server.fixture.ts';
import { connect } from '../offers/offers.fixture.ts';
import { type AuthorizationServer, browse, startAuthorizationServer } from './authorization-server.fixture.ts';
import { startProtectedServer } from './protected-server.fixture.ts';

let authorization: AuthorizationServer;
let server: Awaited<ReturnType<typeof startProtectedServer>>;
let open: OpenLayer;
let operator: string;
let alice: string;
let bob: string;
let redirect: URL;
const clients: Client[] = [];

beforeAll(async () => {
  const redirectUrl = `http://127.0.0.1:${await freePort()}/callback`;
  authorization = await startAuthorizationServer({ redirectUrl });
  server = await startProtectedServer(authorization);
  redirect = new URL(redirectUrl);
  open = await openLayer({ 'upstreams.login_redirect_url': redirectUrl, 'shutdown.grace_seconds': 0 });
  operator = await tokenOf('did:user:operator', { roles: ['operator'] });
  alice = await tokenOf('did:user:alice');
  bob = await tokenOf('did:user:bob');
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await authorization[Symbol.asyncDispose]();
});

const tokenOf = async (user_did: string, more: object = {}): Promise<string> =>
  (await open.layer.mintToken({ user_did, ...more })).capability_token;
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

test.each(['2025', '2026'] as const)(
  'API-03.26 a subscription ends when its user logs out, of which others notice nothing, in the protocol of %s',
  async (era) => {
    const [mine, hers] = [await tokenOf('did:user:bob'), await tokenOf('did:user:alice')];
    await finish(mine, await linkOf(mine), 'bob');
    const updated: string[] = [];
    const of = async (user: string, token: string): Promise<Client> => {
      const client = await connect(open, token, { era, path: '/mcp/servers/notes' });
      clients.push(client);
      client.setNotificationHandler('notifications/resources/updated', () => void updated.push(user));
      if (era === '2025') await client.subscribeResource({ uri: 'notes://a' });
      else await client.listen({ resourceSubscriptions: ['notes://a'] });
      return client;
    };
    const [bobs] = [await of('bob', mine), await of('alice', hers)];
    await fetch(`${open.server.url}/v1/upstreams/notes/authorization`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${mine}` },
    });
    await expect.poll(() => updated).toEqual(['bob']);
    await expect(bobs.readResource({ uri: 'notes://a' })).rejects.toMatchObject({
      message: expect.stringContaining('login'),
    });
    expect(JSON.stringify(await call(hers))).toContain('alice with');
    expect(updated).toEqual(['bob']);
  },
);

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

interface Asked {
  readonly mode?: string;
  readonly message: string;
  readonly url: string;
  readonly elicitationId?: string;
}
type OnAsked = (asked: Asked) => Promise<object> | object;

/** An MCP client of the user. @param onAsked absent: its user opens no links */
async function clientOf(user: string, era: '2025' | '2026', onAsked?: OnAsked): Promise<Client> {
  const capabilities = onAsked === undefined ? { elicitation: { form: {} } } : { elicitation: { url: {} } };
  const client = await connect(open, await tokenOf(`did:user:${user}`), { era, capabilities });
  clients.push(client);
  client.setRequestHandler('elicitation/create', async ({ params }) => (await onAsked?.(params as Asked)) as never);
  return client;
}
/** Logs in as this person in a browser on the machine of the layer. @returns what the last page says */
async function opened(link: string, person: string): Promise<{ status: number; page: string }> {
  authorization.state.user = person;
  const response = await fetch(await browse(link));
  return { status: response.status, page: await response.text() };
}
const reads = (client: Client, name = 'notes__read') => client.callTool({ name, arguments: {} });
const addNotes = (name: string, more: object) =>
  ask(operator, '', {
    upstream: {
      name,
      per_caller: true,
      overrides: { '*': { side_effect_policy: 'pure' } },
      transport: { type: 'http', url: server.url },
      ...more,
    },
  });

describe('a login by a question to the client', () => {
  test('EXE-07.15 a client of 2026-07-28 is asked to open the link, and its call goes on after the login', async () => {
    const asked: Asked[] = [];
    const pages: unknown[] = [];
    const client = await clientOf('carol', '2026', async (question) => {
      asked.push(question);
      pages.push(await opened(question.url, 'carol'));
      return { action: 'accept' };
    });
    expect(JSON.stringify(await reads(client))).toContain('carol with');
    expect(asked).toMatchObject([
      { mode: 'url', message: expect.stringContaining('notes needs your login at localhost') },
    ]);
    expect(pages).toEqual([{ status: 200, page: expect.stringContaining('You are logged in') }]);
    expect(JSON.stringify(await reads(client))).toContain('carol with');
    expect(asked).toHaveLength(1);
    const { events } = await open.layer.ask(
      'audit.query',
      { type: 'ai.agent.registry.changed', limit: 50 },
      LOCAL_CALLER,
    );
    expect(JSON.stringify(events)).toContain('user did:user:carol');
  });

  test('EXE-07.15 EXE-07.17 a session gets error -32042 with the link, is notified of the login, and repeats its call', async () => {
    const client = await clientOf('dora', '2025', () => ({ action: 'cancel' }));
    const other = await clientOf('eve', '2025', () => ({ action: 'cancel' }));
    const done: string[] = [];
    for (const each of [client, other])
      each.setNotificationHandler('notifications/elicitation/complete', ({ params }) => {
        done.push(`${each === client ? 'dora' : 'eve'} ${params.elicitationId}`);
      });
    const [ofOther, refused] = await Promise.all(
      [other, client].map((each) => reads(each).catch((thrown: unknown) => thrown)),
    );
    expect(refused).toMatchObject({
      code: -32042,
      data: { elicitations: [{ mode: 'url', message: expect.stringContaining('notes needs your login') }] },
    });
    const [{ url, elicitationId }] = (refused as { data: { elicitations: [Asked] } }).data.elicitations;
    const again = await reads(client).catch((thrown: unknown) => thrown);
    expect(again).toMatchObject({ data: { elicitations: [{ url, elicitationId }] } });
    expect(done).toEqual([]);
    expect((await opened(url, 'dora')).status).toBe(200);
    await expect.poll(() => done).toEqual([`dora ${elicitationId}`]);
    expect(JSON.stringify(await reads(client))).toContain('dora with');
    const [{ url: link, elicitationId: id }] = (ofOther as { data: { elicitations: [Asked] } }).data.elicitations;
    expect((await opened(link, 'eve')).status).toBe(200);
    await expect.poll(() => done).toEqual([`dora ${elicitationId}`, `eve ${id}`]);
    // The link was good for one login; the layer still waits for the redirects of others.
    expect((await opened(url, 'mallory')).status).toBe(404);
  });

  test('EXE-07.17 the session that was asked for the login of a task is notified of it', async () => {
    const asked: Record<string, unknown>[] = [];
    await using tasks = await taskClient(open.server, await tokenOf('did:user:lara'), async (_message, params) => {
      asked.push(params);
      await opened(String(params['url']), 'lara');
      return { action: 'accept' };
    });
    const done: string[] = [];
    tasks.client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => {
      done.push(params.elicitationId);
    });
    expect(JSON.stringify(await tasks.stream('notes__read', {}))).toContain('lara with');
    expect(asked).toMatchObject([{ mode: 'url', elicitationId: expect.any(String) }]);
    await expect.poll(() => done).toEqual([asked[0]?.['elicitationId']]);
  });

  test('EXE-07.15 each client is asked with the link of its own user, and a login that is ended elsewhere counts too', async () => {
    const links: Record<string, string> = {};
    const { promise: bothAsked, resolve } = Promise.withResolvers<void>();
    const asking = (user: string) =>
      clientOf(user, '2026', ({ url }) => {
        links[user] = url;
        if (Object.keys(links).length === 2) resolve();
        return { action: 'accept' };
      });
    const [emil, fred] = [await asking('emil'), await asking('fred')];
    const answers = Promise.all([reads(emil), reads(fred)]);
    await bothAsked;
    expect(links['emil']).not.toBe(links['fred']);
    const finished = await finish(await tokenOf('did:user:fred'), links['fred'] ?? '', 'fred');
    expect(finished.status).toBe(200);
    expect((await opened(links['emil'] ?? '', 'emil')).status).toBe(200);
    const [ofEmil, ofFred] = await answers;
    expect(JSON.stringify(ofEmil)).toContain('emil with');
    expect(JSON.stringify(ofFred)).toContain('fred with');
  });

  test.each(['2025', '2026'] as const)(
    'EXE-07.15 a client that opens no links gets the error of before, in the protocol of %s',
    async (era) => {
      const client = await clientOf('gina', era);
      expect(await reads(client)).toMatchObject({ isError: true, _meta: { error: { e_code: 'E3311' } } });
    },
  );

  test('EXE-07.15 nobody is asked where the operator allows no questions, and a user who declines is not logged in', async () => {
    let asked = 0;
    const declining = () => {
      asked += 1;
      return { action: 'decline' };
    };
    const client = await clientOf('hugo', '2026', declining);
    expect(await reads(client)).toMatchObject({ isError: true, _meta: { error: { e_code: 'E3311' } } });
    expect(asked).toBe(1);
    await addNotes('silent', { may_ask: [] });
    await ask(operator, '/silent/authorization', {
      redirected_to: await browse(String((await ask(operator, '/silent/login')).body['login_url'])),
    });
    expect(await reads(client, 'silent__read')).toMatchObject({ isError: true, _meta: { error: { e_code: 'E3311' } } });
    const session = await clientOf('hugo', '2025', declining);
    expect(await reads(session, 'silent__read')).toMatchObject({ isError: true });
    expect(asked).toBe(1);
  });

  test('EXE-07.15 a redirect that belongs to no login, or brings a refusal, ends no call', async () => {
    const redirects: string[] = [];
    const client = await clientOf('ida', '2026', async ({ url }) => {
      const { origin, pathname, searchParams } = new URL(new URL(url).searchParams.get('redirect_uri') ?? '');
      const back = `${origin}${pathname}${searchParams}`;
      const state = new URL(url).searchParams.get('state') ?? '';
      for (const query of ['', '?state=x&code=y', `?state=${state}&error=access_denied&iss=${authorization.issuer}`])
        redirects.push(`${(await fetch(back + query)).status}`);
      return { action: 'accept' };
    });
    expect(await reads(client)).toMatchObject({ isError: true });
    expect(redirects).toEqual(['404', '404', '400']);
  });

  test('EXE-07.15 a layer that stops while users log in ends their calls, and listens for no redirect any more', async () => {
    const asked = ['jane', 'kate'].map((user) => ({ user, ...Promise.withResolvers<void>() }));
    const answers = asked.map(async ({ user, resolve }) => {
      const client = await clientOf(user, '2026', () => {
        resolve();
        // One says that its user has opened the link, the other one says nothing any more.
        return user === 'jane' ? { action: 'accept' } : new Promise(() => {});
      });
      return reads(client).then(
        ({ isError }) => isError,
        () => true,
      );
    });
    await Promise.all(asked.map(({ promise }) => promise));
    const halfOpen = connectSocket(Number(redirect.port), '127.0.0.1').on('error', () => {});
    await new Promise((done) => halfOpen.once('connect', done));
    halfOpen.write('GET /callback?state');
    await open[Symbol.asyncDispose]();
    expect(await answers[0]).toBe(true);
    await expect(fetch(redirect)).rejects.toThrow('fetch failed');
    halfOpen.destroy();
  });
});
