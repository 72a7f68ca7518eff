import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { UpstreamAuthorization } from '../../../../packages/sallyport/api/schemas/identity/upstream-authorization.ts';
import { LOCAL_CALLER } from '../../../../packages/sallyport/src/index.ts';
import { type OpenLayer, openLayer, post } from '../../layer.fixture.ts';
import { freePort } from '../../oauth/authorization-server.fixture.ts';
import { cli } from '../cli.fixture.ts';
import {
  type AuthorizationServer,
  browse,
  CLIENT_DOCUMENT,
  KNOWN_CLIENT,
  startAuthorizationServer,
} from './authorization-server.fixture.ts';
import { startProtectedServer } from './protected-server.fixture.ts';

let redirectUrl: string;
let authorization: AuthorizationServer;
let server: Awaited<ReturnType<typeof startProtectedServer>>;
let open: OpenLayer;

beforeAll(async () => {
  redirectUrl = `http://127.0.0.1:${await freePort()}/callback`;
  authorization = await startAuthorizationServer({ redirectUrl });
  server = await startProtectedServer(authorization);
  open = await openLayer(
    { 'upstreams.login_redirect_url': redirectUrl },
    { SALLYPORT_SECRET_NOTES_CLIENT: KNOWN_CLIENT.client_secret },
  );
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await authorization[Symbol.asyncDispose]();
});

async function add(name: string, stated?: UpstreamAuthorization, more: object = {}) {
  const transport = {
    type: 'http' as const,
    url: server.url,
    ...(stated === undefined ? {} : { authorization: stated }),
  };
  const overrides = { '*': { side_effect_policy: 'pure' as const } };
  return open.layer.ask('upstreams.add', { upstream: { name, transport, overrides, ...more } }, LOCAL_CALLER);
}

async function logIn(name: string): Promise<URL> {
  const { login_url } = await open.layer.ask('upstreams.login', { name }, LOCAL_CALLER);
  await open.layer.ask('upstreams.finish-login', { name, redirected_to: await browse(login_url) }, LOCAL_CALLER);
  return new URL(login_url);
}

async function call(tool: string, token = open.token): Promise<string> {
  const { body } = await post({ ...open, token }, '/v1/invocations', JSON.stringify({ tool_id: tool, parameters: {} }));
  return JSON.stringify(body);
}

test('EXE-07.10 an upstream that asks for a token is kept, says what to type, and works once somebody has logged in', async () => {
  const added = await add('notes');
  expect(added).toMatchObject({
    registrations: [],
    needs_login: expect.stringContaining('sallyport upstreams login notes'),
  });
  await expect
    .poll(async () => (await open.layer.ask('upstreams.get', { name: 'notes' }, LOCAL_CALLER)) as object)
    .toMatchObject({
      upstream: { state: 'degraded', last_error: expect.stringContaining('sallyport upstreams login notes') },
    });
  // A person at a terminal: the command prints the link, and the layer listens where it leads.
  let browsing: Promise<Response> | undefined;
  const run = cli(open, ['upstreams', 'login', 'notes'], {
    onErr: (text) => {
      const link = /http:\/\/\S+\/auth\?\S+/.exec(text)?.[0];
      if (link !== undefined) browsing ??= browse(link).then((address) => fetch(address));
    },
  });
  const { code, out, err } = await run;
  const page = await browsing;
  expect(code, err).toBe(0);
  expect(await page?.text()).toContain('You are logged in.');
  expect(out).toContain('Logged in at notes');
  expect(out).toContain('notes: ready, 2 tools');
  // Nothing waits for a redirect any more.
  await expect(fetch(redirectUrl)).rejects.toThrow('fetch failed');
  const answer = await call('notes__read');
  expect(answer).toContain('ada with Bearer [hidden]');
});

test('EXE-07.10 a command and a client wait for their logins at once; each ends with its own redirect, or says why it failed', async () => {
  await add('two');
  await add('own', undefined, { per_caller: true });
  const links: Record<string, string> = {};
  const typed = (name: string) =>
    cli(open, ['upstreams', 'login', name], {
      onErr: (text) => {
        links[name] ??= /http:\/\/\S+\/auth\?\S+/.exec(text)?.[0] as string;
      },
    });
  const [two, own] = [typed('two'), typed('own')];
  await expect.poll(() => Object.values(links).filter((link) => link !== undefined)).toHaveLength(2);
  // The redirect of another login, and one that no login waits for.
  expect((await fetch(`${redirectUrl}?state=x&code=y`)).status).toBe(404);
  const refusal = new URL(redirectUrl);
  const state = new URL(links['own'] as string).searchParams.get('state') as string;
  refusal.search = new URLSearchParams({ state, error: 'access_denied', iss: authorization.issuer }).toString();
  expect((await fetch(refusal)).status).toBe(400);
  const refused = await own;
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('access_denied')]);
  expect((await fetch(await browse(links['two'] as string))).status).toBe(200);
  expect((await two).out).toContain('Logged in at two');
  const { events } = await open.layer.ask('audit.query', { type: 'ai.agent.registry.changed', limit: 5 }, LOCAL_CALLER);
  expect(events.map(({ data }) => data?.['change'])).toContain('upstream-logged-in');
  for (const name of ['two', 'own']) await open.layer.ask('upstreams.remove', { name }, LOCAL_CALLER);
});

test('EXE-07.10 where the layer does not receive the redirect, the command does; without a port it says how to go on', async () => {
  const elsewhere = await openLayer({
    'upstreams.login_redirect_url': redirectUrl,
    'server.public_url': 'https://layer.example',
  });
  await using _closed = elsewhere;
  const transport = { type: 'http' as const, url: server.url };
  await elsewhere.layer.ask('upstreams.add', { upstream: { name: 'notes', transport } }, LOCAL_CALLER);
  let browsing: Promise<Response> | undefined;
  const { code, out, err } = await cli(elsewhere, ['upstreams', 'login', 'notes'], {
    onErr: (text) => {
      const link = /http:\/\/\S+\/auth\?\S+/.exec(text)?.[0];
      if (link !== undefined) browsing ??= browse(link).then((address) => fetch(address));
    },
  });
  expect(code, err).toBe(0);
  expect(await (await browsing)?.text()).toContain('go back to the terminal');
  expect(out).toContain('Logged in at notes');
  await elsewhere.layer.ask('upstreams.logout', { name: 'notes' }, LOCAL_CALLER);
  await using taken = createServer().listen(Number(new URL(redirectUrl).port), '127.0.0.1');
  await once(taken, 'listening');
  const later = await cli(elsewhere, ['upstreams', 'login', 'notes']);
  expect([later.code, later.err]).toEqual([2, expect.stringContaining('sallyport upstreams login notes --redirected')]);
});

test('EXT-01.1 EXT-01.8 tokens are encrypted in their rows, and in no listing, event or answer', async () => {
  const token = server.sent.findLast((value) => value !== '') as string;
  expect(token.length).toBeGreaterThan(20);
  const shown = JSON.stringify([
    await open.layer.ask('upstreams.get', { name: 'notes' }, LOCAL_CALLER),
    await open.layer.ask('upstreams.export', {}, LOCAL_CALLER),
    await open.layer.ask('audit.query', { limit: 200 }, LOCAL_CALLER),
  ]);
  expect(shown).not.toContain(token);
  // The embedded database has its files in the data folder; what is in the write-ahead log is enough.
  const files = readdirSync(open.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files.length).toBeGreaterThan(100);
  const holding = files.filter(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes(token));
  expect(holding).toEqual([]);
});

test('EXE-07.10 a call that needs another scope asks for a login with both, and passes after it', async () => {
  const refused = await call('notes__write');
  expect(refused).toContain('E3311');
  expect(refused).toContain('sallyport upstreams login notes');
  const link = await logIn('notes');
  expect(link.searchParams.get('scope')?.split(' ')).toEqual(
    expect.arrayContaining(['notes:read', 'notes:write', 'offline_access']),
  );
  expect(link.searchParams.get('resource')).toBe(server.url);
  expect(link.searchParams.get('code_challenge_method')).toBe('S256');
  expect(await call('notes__write')).toContain('ada with');
});

test('EXE-07.10 an old token is refreshed, by one request for calls at the same time', async () => {
  authorization.state.lifetimeSeconds = 5;
  await logIn('notes');
  authorization.state.lifetimeSeconds = 3600;
  const before = authorization.granted('refresh_token');
  const answers = await Promise.all(Array.from({ length: 4 }, () => call('notes__read')));
  for (const answer of answers) expect(answer).toContain('ada with');
  expect(authorization.granted('refresh_token')).toBe(before + 1);
});

test('EXE-07.10 after a logout nobody is logged in, and the authorization server knows the token no more', async () => {
  const token = server.sent.findLast((value) => value !== '') as string;
  expect(await authorization.tokenOf(token)).toBeDefined();
  const { code, out } = await cli(open, ['upstreams', 'logout', 'notes']);
  expect([code, out]).toEqual([0, expect.stringContaining('Logged out at notes')]);
  expect(await authorization.tokenOf(token)).toBeUndefined();
  expect(await call('notes__read')).toContain('sallyport upstreams login notes');
  expect((await cli(open, ['upstreams', 'logout', 'notes'])).out).toContain('Nobody was logged in');
});

test('EXE-07.10 a client that was registered beforehand comes with its secret from the secret store', async () => {
  const before = authorization.requests.filter(({ path }) => path === '/reg').length;
  await add('known', { client_id: KNOWN_CLIENT.client_id, client_secret: '{{notes_client}}' });
  await logIn('known');
  expect(await call('known__read')).toContain('ada with');
  expect(authorization.requests.filter(({ path }) => path === '/reg')).toHaveLength(before);
});

test('EXE-07.10 the layer itself is the client where nobody has to log in', async () => {
  const added = await add('machine', {
    grant: 'client_credentials',
    client_id: KNOWN_CLIENT.client_id,
    client_secret: '{{notes_client}}',
  });
  expect(added.upstream).toMatchObject({ state: 'ready', tool_count: 2 });
  expect(await call('machine__read')).toContain('known-client with');
  // It asks for the other scope by itself.
  expect(await call('machine__write')).toContain('known-client with');
});

test('EXE-07.10 tokens are bound to a key where the definition says so', async () => {
  await add('bound', { dpop: true });
  const link = await logIn('bound');
  expect(link.searchParams.get('dpop_jkt')).toMatch(/^[\w-]{43}$/);
  expect(await call('bound__read')).toContain('ada with DPoP');
});

test('EXE-07.10 a client document stands in place of a registration', async () => {
  const settings = { 'upstreams.login_redirect_url': redirectUrl, 'upstreams.client_id_url': CLIENT_DOCUMENT };
  await using other = await openLayer(settings);
  const own = (name: 'upstreams.login', input: { name: string }) => other.layer.ask(name, input, LOCAL_CALLER);
  const transport = { type: 'http' as const, url: server.url };
  await other.layer.ask('upstreams.add', { upstream: { name: 'notes', transport } }, LOCAL_CALLER);
  const { login_url } = await own('upstreams.login', { name: 'notes' });
  expect(new URL(login_url).searchParams.get('client_id')).toBe(CLIENT_DOCUMENT);
  const redirected_to = await browse(login_url);
  const finished = await other.layer.ask('upstreams.finish-login', { name: 'notes', redirected_to }, LOCAL_CALLER);
  expect(finished.upstream).toMatchObject({ state: 'ready', tool_count: 2 });
});
