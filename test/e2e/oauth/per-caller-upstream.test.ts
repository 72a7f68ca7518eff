import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { standInServer } from '../../../packages/sallyport/src/external/token-exchange/authorization-server.fixture.ts';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import {
  type EchoingServer,
  echoingServer,
} from '../../../packages/sallyport/src/mcp-servers/connection/per-caller/echoing-server.fixture.ts';
import { startWatchedHttpServer } from '../../../packages/sallyport/src/mcp-servers/test-servers/watched-http-server.ts';
import { type OpenLayer, openLayer, post } from '../layer.fixture.ts';
import { type ClientOptions, connect } from '../upstreams/offers/offers.fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'sallyport-per-caller-'));
let open: OpenLayer;
let idp: Awaited<ReturnType<typeof standInServer>>;
/** An MCP server that answers each call with the credential that came with the call. */
let server: EchoingServer;
let operator = '';
/** A token that the authorization server does not know. */
let unknown = '';
/** The user of each token that offers are made for. */
const userOf = new Map<string, string>();
/** Names of the prompts that the server offers to each user. */
const promptsOf: Record<string, string> = {};
const clients: Client[] = [];

beforeAll(async () => {
  server = await echoingServer();
  server.offersFor = (authorization) => {
    const user = userOf.get(authorization) ?? 'nobody';
    return {
      instructions: `Written for ${user}.`,
      resources: [{ uri: `own://${user}`, name: user }],
      prompts: [{ name: promptsOf[user] ?? `of-${user}` }],
    };
  };
  idp = await standInServer(({ form }) =>
    form['subject_token'] === unknown ? { status: 400, body: '{"error":"invalid_grant"}' } : {},
  );
  const file = join(folder, 'exchanges.toml');
  writeFileSync(file, `[notes_of_user]\nendpoint = "${idp.url}"\nclient_id = "layer"\naudience = "notes"\n`);
  open = await openLayer({ 'oauth.exchange_file': file }, { SALLYPORT_SECRET_NOTES_KEY: 'service-key' });
  operator = await tokenOf('did:user:operator', { roles: ['operator'] });
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await idp[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const tokenOf = async (user_did: string, more: Parameters<OpenLayer['layer']['mintToken']>[0] = {}): Promise<string> =>
  (await open.layer.mintToken({ user_did, secrets: ['notes_of_user'], ...more })).capability_token;

const definitionOf = (more: object = {}) => {
  const { url } = server.definition.transport as { url: string };
  const headers = { Authorization: 'Bearer {{notes_of_user}}' };
  return {
    name: 'notes',
    per_caller: true,
    transport: { type: 'http' as const, url, headers },
    overrides: { '*': { side_effect_policy: 'pure' as const } },
    ...more,
  };
};
const add = (token: string, more: object = {}) =>
  post({ ...open, token }, '/v1/upstreams', JSON.stringify({ upstream: definitionOf(more) }));
const call = (token: string, parameters = {}) =>
  post({ ...open, token }, '/v1/invocations', JSON.stringify({ tool_id: 'notes__who', parameters }));
const seenAs = (token: string): string => `Bearer for-notes-of-${token}`;

test('PRM-11 the tools are listed as the operator who adds the upstream, and ask for the caller’s credential', async () => {
  const { status, body } = await add(operator);
  expect(status, JSON.stringify(body)).toBe(201);
  expect(body).toMatchObject({ upstream: { state: 'ready', tool_count: 1, caller_connections: 0 } });
  expect([...server.sessions.values()]).toEqual([seenAs(operator)]);
  const { manifest } = await open.layer.ask('tools.get', { tool_id: 'notes__who' }, LOCAL_CALLER);
  expect(manifest.permissions?.credentials).toEqual(['notes_of_user']);
});

test('PRM-11.3 PRM-11.5 EXE-07.9 two users reach the MCP server each as himself, over a session of his own, at once and again', async () => {
  const [alice, bob] = [await tokenOf('did:user:alice'), await tokenOf('did:user:bob')];
  const order = [alice, bob, alice, bob, bob, alice];
  const before = server.calls.length;
  // As many calls at once as one agent may run.
  const atOnce = await Promise.all(order.slice(0, 4).map((token, at) => call(token, { at })));
  const answers = [...atOnce, await call(bob, { at: 4 }), await call(alice, { at: 5 })];
  for (const [at, token] of order.entries()) {
    expect(answers[at]?.body, JSON.stringify(answers[at])).toMatchObject({ status: 'success' });
    // The value of a credential never reaches the model, not even when the upstream returns it.
    expect(JSON.stringify(answers[at])).not.toContain(token);
  }
  const calls = server.calls.slice(before);
  for (const { args, authorization } of calls) expect(authorization).toBe(seenAs(order[Number(args['at'])] ?? ''));
  expect(calls).toHaveLength(order.length);
  expect(new Set(calls.map(({ session }) => session)).size).toBe(2);
  expect(server.mixed).toEqual([]);
  // One token exchange for each user, and one for the operator.
  expect(idp.seen).toHaveLength(3);
});

test('PRM-11 a new token of a user is a new session; the server’s refusal of one user is nobody else’s', async () => {
  const [carol, dave] = [await tokenOf('did:user:carol'), await tokenOf('did:user:dave')];
  await Promise.all([carol, dave].map((token) => call(token)));
  const renewed = await tokenOf('did:user:carol');
  expect((await call(renewed)).body).toMatchObject({ status: 'success' });
  expect(server.calls.at(-1)?.authorization).toBe(seenAs(renewed));

  server.refused.add(seenAs(renewed));
  const refused = await call(renewed);
  expect(refused.body).toMatchObject({ status: 'error', error: { e_code: 'E3307' } });
  expect(JSON.stringify(refused)).not.toContain(renewed);
  expect((await call(dave)).body).toMatchObject({ status: 'success' });
  expect(server.mixed).toEqual([]);
});

test('PRM-11 who was not granted the credential, or has none that is exchanged, does not reach the server', async () => {
  const reached = server.sessions.size;
  const { capability_token: bare } = await open.layer.mintToken({ user_did: 'did:user:erin', secrets: [] });
  expect((await call(bare)).body).toMatchObject({ status: 'permission_denied', error: { e_code: 'E3205' } });
  unknown = await tokenOf('did:user:mallory');
  expect((await call(unknown)).body).toMatchObject({ status: 'error', error: { e_code: 'E3307' } });
  expect(server.sessions.size).toBe(reached);
});

test('an operator without a token names a secret of the tenant for the listing; users are served as before', async () => {
  const alone = open.layer.ask('upstreams.add', { upstream: definitionOf() }, LOCAL_CALLER);
  await expect(alone).rejects.toMatchObject({ code: 'E3302', message: expect.stringContaining('list_credentials') });
  const upstream = definitionOf({ list_credentials: { notes_of_user: 'notes_key' } });
  const added = await open.layer.ask('upstreams.add', { upstream }, LOCAL_CALLER);
  expect(added.upstream).toMatchObject({ state: 'ready', tool_count: 1 });
  expect([...server.sessions.values()].at(-1)).toBe('Bearer service-key');
  const frank = await tokenOf('did:user:frank');
  expect((await call(frank)).body).toMatchObject({ status: 'success' });
  expect(server.calls.at(-1)?.authorization).toBe(seenAs(frank));
});

/** A client of the user, whose token the server knows. */
async function clientOf(user: string, token: string, options: ClientOptions = {}): Promise<Client> {
  userOf.set(seenAs(token), user);
  const client = await connect(open, token, options);
  clients.push(client);
  return client;
}
const newToken = (user: string): Promise<string> => tokenOf(`did:user:${user}`);
const promptsIn = async (client: Client): Promise<readonly string[]> =>
  (await client.listPrompts()).prompts.map(({ name }) => name);

describe.each(['2025', '2026'] as const)('offers to callers, protocol of %s', (era) => {
  test('API-03.25 PRM-11.5 each caller is shown what the server offers to it, over its own connection, and nothing of others', async () => {
    const tokens = { grace: await newToken('grace'), heidi: await newToken('heidi') };
    const [grace, heidi] = await Promise.all([
      clientOf('grace', tokens.grace, { era }),
      clientOf('heidi', tokens.heidi, { era, path: '/mcp/servers/notes' }),
    ]);
    expect(await promptsIn(grace)).toEqual(['notes__of-grace']);
    expect(await promptsIn(heidi)).toEqual(['of-heidi']);
    expect((await grace.listResources()).resources).toMatchObject([{ uri: 'own://grace' }]);
    expect((await heidi.listResources()).resources).toMatchObject([{ uri: 'own://heidi' }]);
    expect(grace.getInstructions()).toContain('> Written for grace.');
    expect(heidi.getInstructions()).toBe('Written for heidi.');
    const completed = await heidi.complete({
      ref: { type: 'ref/prompt', name: 'of-heidi' },
      argument: { name: 'a', value: '' },
    });
    expect(completed.completion.values).toEqual(['one']);
    const asked = server.asked
      .filter(({ method }) => method === 'prompts/list')
      .map(({ authorization }) => authorization);
    for (const token of Object.values(tokens)) expect(asked.filter((each) => each === seenAs(token))).toHaveLength(1);
    expect(heidi.getServerCapabilities()?.resources?.subscribe).toBe(true);
    expect(server.mixed).toEqual([]);
  });

  test('API-03.25 a token without the credential, and one that the server refuses, are offered nothing and disturb nobody', async () => {
    const reached = server.sessions.size;
    const { capability_token: bare } = await open.layer.mintToken({ user_did: 'did:user:ivan', secrets: [] });
    expect(await promptsIn(await clientOf('ivan', bare, { era }))).toEqual([]);
    expect(server.sessions.size).toBe(reached);
    const refused = await newToken('judy');
    server.refused.add(seenAs(refused));
    const judy = await clientOf('judy', refused, { era });
    expect(await promptsIn(judy)).toEqual([]);
    expect(judy.getInstructions()).not.toContain('Written for');
    const kim = await clientOf('kim', await newToken('kim'), { era });
    expect(await promptsIn(kim)).toEqual(['notes__of-kim']);
    expect(server.mixed).toEqual([]);
  });
});

test('API-03.25 a change that the server announces to one caller is reported to this caller alone', async () => {
  const tokens = { lea: await newToken('lea'), mia: await newToken('mia') };
  const [lea, mia] = [await clientOf('lea', tokens.lea), await clientOf('mia', tokens.mia)];
  const changed: string[] = [];
  for (const [name, client] of [
    ['lea', lea],
    ['mia', mia],
  ] as const)
    client.setNotificationHandler('notifications/prompts/list_changed', () => void changed.push(name));
  expect(await promptsIn(lea)).toEqual(['notes__of-lea']);
  expect(await promptsIn(mia)).toEqual(['notes__of-mia']);
  promptsOf['lea'] = 'of-lea-anew';
  expect((await call(tokens.lea, { change: true })).body).toMatchObject({ status: 'success' });
  await expect.poll(() => changed).toEqual(['lea']);
  expect(await promptsIn(lea)).toEqual(['notes__of-lea-anew']);
  expect(await promptsIn(mia)).toEqual(['notes__of-mia']);
});

/** A client that notes the resources that it is notified of. */
async function watching(user: string, token: string, era: '2025' | '2026', upstream = 'notes') {
  const client = await clientOf(user, token, { era, path: `/mcp/servers/${upstream}` });
  const updated: string[] = [];
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void updated.push(params.uri));
  return {
    updated,
    async subscribe(uri: string): Promise<void> {
      if (era === '2025') await client.subscribeResource({ uri });
      else {
        const { honoredFilter } = await client.listen({ resourceSubscriptions: [uri] });
        if (honoredFilter.resourceSubscriptions === undefined) throw new Error('not granted');
      }
    },
    /** A session ends by its own request; a client of 2026 has none. */
    async leave(): Promise<void> {
      await (client.transport as StreamableHTTPClientTransport).terminateSession();
      await client.close();
    },
    read: (uri: string) => client.readResource({ uri }),
  };
}
/** What is subscribed to at the server with this token. */
const subscribedWith = (token: string): readonly string[] =>
  [...server.subscribed]
    .filter(([session]) => server.sessions.get(session) === seenAs(token))
    .flatMap(([, uris]) => [...uris]);
const shared = 'own://shared';

describe.each(['2025', '2026'] as const)('a subscription over the connection of its caller, protocol of %s', (era) => {
  test('API-03.26 each caller subscribes over its own connection and is notified alone, until its client leaves', async () => {
    const tokens = { nina: await newToken('nina'), otto: await newToken('otto') };
    const [nina, otto] = [await watching('nina', tokens.nina, era), await watching('otto', tokens.otto, era)];
    await Promise.all([nina.subscribe(shared), otto.subscribe(shared)]);
    expect([subscribedWith(tokens.nina), subscribedWith(tokens.otto)]).toEqual([[shared], [shared]]);
    server.update(seenAs(tokens.otto), shared);
    await expect.poll(() => otto.updated).toEqual([shared]);
    server.update(seenAs(tokens.nina), shared);
    await expect.poll(() => nina.updated).toEqual([shared]);
    expect(otto.updated).toEqual([shared]);
    await nina.leave();
    await expect.poll(() => subscribedWith(tokens.nina)).toEqual([]);
    expect(subscribedWith(tokens.otto)).toEqual([shared]);
    expect(server.mixed).toEqual([]);
  });

  test('API-03.26 a caller without the credential cannot subscribe, and does not reach the server', async () => {
    const reached = server.sessions.size;
    const { capability_token: bare } = await open.layer.mintToken({ user_did: 'did:user:paul', secrets: [] });
    const paul = await watching('paul', bare, era);
    await expect(paul.subscribe(shared)).rejects.toThrow();
    expect(server.sessions.size).toBe(reached);
  });

  test('API-03.26 a subscription whose credential is refused ends, and its client reads the reason', async () => {
    const token = await newToken('quentin');
    const quentin = await watching('quentin', token, era);
    await quentin.subscribe(shared);
    server.refused.add(seenAs(token));
    expect((await call(token)).body).toMatchObject({ error: { e_code: 'E3307' } });
    await expect.poll(() => quentin.updated).toEqual([shared]);
    await expect(quentin.read(shared)).rejects.toThrow('HTTP 401');
    server.refused.delete(seenAs(token));
    await quentin.subscribe(shared);
    server.update(seenAs(token), shared);
    await expect.poll(() => quentin.updated).toEqual([shared, shared]);
  });

  test('API-03.26 a subscription whose connection is lost is made anew, with the token of now', async () => {
    const token = await newToken('rosa');
    const rosa = await watching('rosa', token, era);
    await rosa.subscribe(shared);
    for (const [session, authorization] of server.sessions)
      if (authorization === seenAs(token)) server.subscribed.delete(session) && server.open.delete(session);
    await call(token);
    await expect.poll(() => subscribedWith(token)).toEqual([shared]);
    await expect.poll(() => rosa.updated).toEqual([shared]);
    await open.layer.ask('upstreams.restart', { name: 'notes' }, LOCAL_CALLER);
    await expect.poll(() => rosa.updated).toEqual([shared, shared]);
    server.update(seenAs(token), shared);
    await expect.poll(() => rosa.updated).toEqual([shared, shared, shared]);
  });
});

test('API-03.26 at a server of 2026-07-28 each caller has a subscription of its own, which ends with its client', async () => {
  await using news = await startWatchedHttpServer();
  const headers = { Authorization: 'Bearer {{notes_of_user}}' };
  const upstream = { ...definitionOf(), name: 'news', transport: { type: 'http', url: news.url, headers } };
  await post({ ...open, token: operator }, '/v1/upstreams', JSON.stringify({ upstream }));
  const tokens = { sara: await newToken('sara'), tom: await newToken('tom') };
  const [sara, tom] = [
    await watching('sara', tokens.sara, '2025', 'news'),
    await watching('tom', tokens.tom, '2026', 'news'),
  ];
  await Promise.all([sara.subscribe('watched://a'), tom.subscribe('watched://a')]);
  for (const token of Object.values(tokens)) expect(news.subscribedWith(seenAs(token))).toEqual(['watched://a']);
  news.update(seenAs(tokens.sara), 'watched://a');
  await expect.poll(() => sara.updated).toEqual(['watched://a']);
  expect(tom.updated).toEqual([]);
  await tom.leave();
  await expect.poll(() => news.subscribedWith(seenAs(tokens.tom))).toEqual([]);
  expect(news.subscribedWith(seenAs(tokens.sara))).toEqual(['watched://a']);
});

/** A session without a library. Its requests have a token from now on that nothing was offered to yet. */
async function bareSession(user: string) {
  const token = await newToken(user);
  userOf.set(seenAs(token), user);
  const headers: Record<string, string> = {
    authorization: `Bearer ${await newToken(user)}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const send = (method: string, body?: object): Promise<Response> =>
    fetch(`${open.server.url}/mcp/servers/notes`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bare', version: '1.0.0' } };
  const opened = await send('POST', { jsonrpc: '2.0', id: 1, method: 'initialize', params });
  await opened.text();
  headers['mcp-session-id'] = opened.headers.get('mcp-session-id') ?? '';
  headers['authorization'] = `Bearer ${token}`;
  return { send, token };
}

/** Lists of prompts have no answer until the test releases them. */
function heldLists() {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.hold = promise;
  return {
    askedWith: (token: string) =>
      expect
        .poll(() => server.asked)
        .toContainEqual(expect.objectContaining({ method: 'prompts/list', authorization: seenAs(token) })),
    release() {
      server.hold = undefined;
      resolve();
    },
  };
}

test('API-03.14 a session whose client opens its stream twice at once is notified of a change once', async () => {
  const { send, token } = await bareSession('ursula');
  const lists = heldLists();
  const opening = Promise.all([send('GET'), send('GET')]);
  await lists.askedWith(token);
  lists.release();
  const heard: string[] = [];
  const reading = (await opening).map(async ({ body }) => {
    for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) heard.push(text);
  });
  promptsOf['ursula'] = 'of-ursula-anew';
  await call(token, { change: true });
  await expect.poll(() => heard.join('')).toContain('prompts/list_changed');
  // The stream ends after everything that was sent on it.
  await send('DELETE');
  await Promise.all(reading);
  expect(heard.join('').split('prompts/list_changed')).toHaveLength(2);
});

test('API-03.26 a session that ends while it subscribes leaves no subscription behind', async () => {
  const { send, token } = await bareSession('victor');
  const lists = heldLists();
  const params = { uri: shared };
  const subscribing = send('POST', { jsonrpc: '2.0', id: 2, method: 'resources/subscribe', params });
  await lists.askedWith(token);
  expect((await send('DELETE')).status).toBe(204);
  lists.release();
  expect(await (await subscribing).json()).toMatchObject({ error: { code: -32002 } });
  expect(subscribedWith(token)).toEqual([]);
});
