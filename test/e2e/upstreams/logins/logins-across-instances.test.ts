import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { embeddedDatabases } from '../../../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { type OpenLayer, openLayer, post } from '../../layer.fixture.ts';
import { freePort } from '../../oauth/authorization-server.fixture.ts';
import { connect } from '../offers/offers.fixture.ts';
import { type AuthorizationServer, browse, startAuthorizationServer } from './authorization-server.fixture.ts';
import { startProtectedServer } from './protected-server.fixture.ts';

const ENOUGH = { timeout: 50_000 };

const opened = new AsyncDisposableStack();
let authorization: AuthorizationServer;
let one: OpenLayer;
let two: OpenLayer;
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-logins-'));
  opened.defer(() => rm(folder, { recursive: true }));
  const databases = opened.adopt(await embeddedDatabases(true), (each) => each.close());
  const connection = await databases.fresh();
  const redirectUrl = `http://127.0.0.1:${await freePort()}/callback`;
  authorization = opened.use(await startAuthorizationServer({ redirectUrl }));
  const server = opened.use(await startProtectedServer(authorization));
  const settings = {
    'database.url': 'url' in connection ? connection.url : '',
    'secrets.key_file': join(folder, 'key'),
    'upstreams.login_redirect_url': redirectUrl,
  };
  await writeFile(settings['secrets.key_file'], randomBytes(32).toString('base64'), { mode: 0o600 });
  one = opened.use(await openLayer(settings));
  const operator = await tokenAt(one, 'olga', { roles: ['operator'] });
  const transport = { type: 'http', url: server.url };
  await post(
    { ...one, token: operator },
    '/v1/upstreams',
    JSON.stringify({ upstream: { name: 'notes', per_caller: true, transport } }),
  );
  await login(operator, 'olga');
  two = opened.use(await openLayer(settings));
}, 120_000);
afterAll(() => opened.disposeAsync());

const tokenAt = async ({ layer }: OpenLayer, user: string, more: object = {}): Promise<string> =>
  (await layer.mintToken({ user_did: `did:user:${user}`, ...more })).capability_token;

/** Logs in at the first instance, as this person at the authorization server. */
async function login(token: string, person: string): Promise<void> {
  const ask = (path: string, body: object) =>
    post({ ...one, token }, `/v1/upstreams/notes/${path}`, JSON.stringify(body));
  authorization.state.user = person;
  const link = String((await ask('login', {})).body['login_url']);
  expect(await ask('authorization', { redirected_to: await browse(link) })).toMatchObject({ status: 200 });
}

/** A client of this user at the second instance, that watches a resource there. */
async function watching(user: string, updated: string[]) {
  const client = await connect(two, await tokenAt(two, user), { era: '2025', path: '/mcp/servers/notes' });
  opened.defer(() => client.close());
  client.setNotificationHandler('notifications/resources/updated', () => void updated.push(user));
  await expect.poll(() => client.subscribeResource({ uri: 'notes://a' }).then(() => true, String), ENOUGH).toBe(true);
  return client;
}

test('PRM-11.5 OPS-04.1 what a user is connected to at another instance ends with the login, and with another login of the user', async () => {
  const [bob, alice] = [await tokenAt(one, 'bob'), await tokenAt(one, 'alice')];
  await login(bob, 'bob');
  await login(alice, 'alice');
  const updated: string[] = [];
  const [bobs] = [await watching('bob', updated), await watching('alice', updated)];
  // Another login: the subscription is made anew with it, and what it shows is to be read again.
  await login(bob, 'robert');
  await expect.poll(() => updated, ENOUGH).toEqual(['bob']);
  const ended = await fetch(`${one.server.url}/v1/upstreams/notes/authorization`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${bob}` },
  });
  expect(await ended.json()).toEqual({ name: 'notes', had_tokens: true });
  await expect.poll(() => updated, ENOUGH).toEqual(['bob', 'bob']);
  await expect(bobs.readResource({ uri: 'notes://a' })).rejects.toMatchObject({
    message: expect.stringContaining('login'),
  });
  expect(updated).not.toContain('alice');
}, 120_000);
