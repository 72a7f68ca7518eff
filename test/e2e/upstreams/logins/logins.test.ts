import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { UpstreamAuthorization } from '../../../../packages/sallyport/api/schemas/upstream-authorization.ts';
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
  // A person at a terminal: the command prints the link, and listens where it leads.
  let browsing: Promise<unknown> | undefined;
  const run = cli(open, ['upstreams', 'login', 'notes'], {
    onErr: (text) => {
      const link = /http:\/\/\S+\/auth\?\S+/.exec(text)?.[0];
      if (link !== undefined) browsing ??= browse(link).then((address) => fetch(address));
    },
  });
  const { code, out, err } = await run;
  await browsing;
  expect(code, err).toBe(0);
  expect(out).toContain('Logged in at notes');
  expect(out).toContain('notes: ready, 2 tools');
  const answer = await call('notes__read');
  expect(answer).toContain('ada with Bearer [hidden]');
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
