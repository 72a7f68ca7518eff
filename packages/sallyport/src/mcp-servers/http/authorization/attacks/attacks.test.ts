import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { type Clock, systemClock } from '@sallyport/std/clock';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { UpstreamAuthorization } from '../../../../../api/schemas/identity/upstream-authorization.ts';
import type { UpstreamDefinition } from '../../../../../api/schemas/upstream.ts';
import { createEgressGuard } from '../../../../external/egress-guard.ts';
import { createOutboundHttp } from '../../../../external/outbound-http.ts';
import { memoryAuthorizationStore } from '../../../../storage/memory/memory-authorization-store.ts';
import { silentLog } from '../../../../telemetry/log.ts';
import type { AuthorizationStore } from '../../../authorization-store.port.ts';
import { failureOf, fixture, TENANT, textOf } from '../../../test-servers/upstreams.fixture.ts';
import { createUpstreamLogins, type UpstreamLoginsParts } from '../../../upstream-logins.ts';
import { type SeenRequest, standIns } from './stand-ins.fixture.ts';

const REDIRECT = 'http://127.0.0.1:8976/callback';
const SECRET = 'a-secret-of-the-layer-0123456789';

let opened = new AsyncDisposableStack();
let servers: Awaited<ReturnType<typeof standIns>>;
beforeEach(async () => {
  servers = opened.use(await standIns());
});
afterEach(async () => {
  await opened.disposeAsync();
  opened = new AsyncDisposableStack();
});

/** An instance of the layer, as far as it talks to upstreams. */
function instance(more: Partial<UpstreamLoginsParts> = {}) {
  const guard = createEgressGuard({ resolveHost: async () => [{ address: '10.0.0.7', family: 4 }] });
  const outbound = opened.use(createOutboundHttp({ guard }));
  const secrets = { read: async () => new Map([['client', SECRET]]) };
  const logins = createUpstreamLogins({
    store: memoryAuthorizationStore({ clock: systemClock }),
    ...{ clock: systemClock, log: silentLog, secrets, outbound },
    clients: { completed() {} },
    checkAddress() {},
    clientName: 'Sallyport',
    redirectUrl: REDIRECT,
    ...more,
  });
  const { upstreams } = fixture(createBubblewrapDriver(), { outbound, logins, secrets });
  opened.defer(() => upstreams.close());
  return { logins, upstreams };
}

const definition = (authorization?: UpstreamAuthorization, url = servers.url): UpstreamDefinition => ({
  name: 'notes',
  transport: { type: 'http', url, ...(authorization === undefined ? {} : { authorization }) },
});

/** Begins a login, and gives the redirect that an honest server leads to. */
async function begun({ logins }: ReturnType<typeof instance>, holder?: string) {
  const login = await logins.begin(TENANT, definition(), holder);
  const redirect = (members: Record<string, string> = {}): string =>
    `${REDIRECT}?${new URLSearchParams({ code: 'c', state: login.state, iss: servers.origin, ...members })}`;
  const finish = (address: string, by = holder) => logins.finish(TENANT, definition(), by, address);
  return { login, redirect, finish };
}

const tokens = (access_token: string, refresh_token: string, expires_in = 3600) => ({
  body: { access_token, refresh_token, token_type: 'Bearer', expires_in },
});

const INTERNAL = [
  'http://169.254.169.254/latest',
  'http://10.0.0.7',
  'https://10.0.0.7',
  'https://inside.example',
  'ftp://a',
];

test.each(INTERNAL)(
  'EXE-07.11 metadata that name %s as authorization server do not make the layer ask there',
  async (issuer) => {
    servers.behaviour.resource['authorization_servers'] = [issuer];
    const { upstreams } = instance();
    const failure = await failureOf(upstreams.add(TENANT, definition()));
    expect(['E3104', 'E3308']).toContain(failure.code);
    expect(servers.at('/token')).toEqual([]);
  },
);

test('EXE-07.11 a token endpoint at an internal address is not asked, whatever the public metadata say', async () => {
  servers.behaviour.server['token_endpoint'] = 'https://10.0.0.7/token';
  const { redirect, finish } = await begun(instance());
  expect(await failureOf(finish(redirect()))).toMatchObject({ code: 'E3104' });
});

test('EXE-07.11 an upstream elsewhere cannot make the layer ask this machine', async () => {
  const asked: string[] = [];
  const { logins } = instance({ checkAddress: (_tenant, _name, url) => void asked.push(url.host) });
  const remote = definition(undefined, 'https://tools.example/mcp');
  servers.behaviour.resource['resource'] = 'https://tools.example/mcp';
  // Its name leads to an address that is not public.
  expect(await failureOf(logins.begin(TENANT, remote, undefined))).toMatchObject({ code: 'E3104' });
  expect(asked).toEqual(['tools.example']);
  expect(servers.seen).toEqual([]);
});

test('EXE-07.11 what the operator of the machine does not allow is not asked', async () => {
  const refused = new Error('not allowed here');
  const { logins } = instance({
    checkAddress: () => {
      throw refused;
    },
  });
  await failureOf(logins.begin(TENANT, definition(), undefined));
  expect(servers.seen).toEqual([]);
});

test.each([
  ['another issuer', { iss: 'https://evil.example' }, 'E3307'],
  ['the issuer with a slash more', { iss: 'SLASH' }, 'E3307'],
  ['another state', { state: 'made up' }, 'E3801'],
  ['no state', { state: '' }, 'E3801'],
])(
  'EXE-07.10 a redirect with %s is refused, no code is sent, and the login can still be ended',
  async (_what, members, code) => {
    const { redirect, finish } = await begun(instance());
    const changed = Object.values(members).includes('SLASH') ? { iss: `${servers.origin}/` } : members;
    expect(await failureOf(finish(redirect(changed as Record<string, string>)))).toMatchObject({ code });
    expect(servers.at('/token')).toEqual([]);
    await finish(redirect());
    expect(servers.at('/token')).toHaveLength(1);
  },
);

test('EXE-07.10 a redirect is used once, by its holder, at its own address, and not after its time', async () => {
  let now = 0;
  const clock: Clock = { ...systemClock, now: () => now };
  const layer = instance({ clock });
  const { redirect, finish, login } = await begun(layer, 'user ada');
  expect(await failureOf(finish(redirect(), 'user bob'))).toMatchObject({ code: 'E3801' });
  expect(await failureOf(finish(redirect().replace('8976', '8977')))).toMatchObject({ code: 'E3801' });
  now = login.endsAt + 1;
  expect(await failureOf(finish(redirect()))).toMatchObject({ code: 'E3801' });
  now = login.endsAt;
  await finish(redirect());
  expect(await failureOf(finish(redirect()))).toMatchObject({ code: 'E3801' });
  expect(servers.at('/token')).toHaveLength(1);
});

test('EXE-07.10 the code goes with the verifier of its own login alone', async () => {
  const layer = instance();
  const { redirect, finish, login } = await begun(layer);
  await finish(redirect());
  const [request] = servers.at('/token') as [SeenRequest];
  const challenge = new URL(login.link).searchParams.get('code_challenge');
  const { hash } = await import('node:crypto');
  expect(hash('sha256', request.form.get('code_verifier') ?? '', 'base64url')).toBe(challenge);
  expect(request.form.get('resource')).toBe(servers.url);
});

test.each([
  ['no PKCE', { code_challenge_methods_supported: undefined }],
  ['plain PKCE', { code_challenge_methods_supported: ['plain'] }],
  ['a page that is a script', { authorization_endpoint: 'javascript:alert(1)' }],
  ['a page without TLS', { authorization_endpoint: 'http://login.example/' }],
  ['no page', { authorization_endpoint: undefined }],
  ['another issuer', { issuer: 'https://evil.example' }],
])('EXE-07.10 a server with %s gets nobody to log in', async (_what, changed) => {
  Object.assign(servers.behaviour.server, changed);
  expect(await failureOf(begun(instance()))).toMatchObject({ code: 'E3307' });
});

test('EXE-07.11 a client secret does not follow the upstream to another authorization server', async () => {
  const other = opened.use(await standIns());
  const stated = { client_id: 'known', client_secret: '{{client}}' };
  const layer = instance();
  const { state } = await layer.logins.begin(TENANT, definition(stated), undefined);
  await layer.logins.finish(
    TENANT,
    definition(stated),
    undefined,
    `${REDIRECT}?code=c&state=${state}&iss=${servers.origin}`,
  );
  expect(servers.at('/token')[0]?.authorization).toMatch(/^Basic /);
  servers.behaviour.resource['authorization_servers'] = [other.origin];
  const failure = await failureOf(layer.logins.begin(TENANT, definition(stated), undefined));
  expect(failure).toMatchObject({ code: 'E3307', message: expect.stringContaining('authorization.issuer') });
  expect(other.at('/token')).toEqual([]);
  // It is the operator who says that the other server is meant.
  await layer.logins.begin(TENANT, definition({ ...stated, issuer: other.origin }), undefined);
});

test('PRM-11 tokens of one address are not sent to another that takes the name of the upstream', async () => {
  const layer = instance();
  const { redirect, finish } = await begun(layer);
  await finish(redirect());
  const evil = opened.use(await standIns());
  expect(await failureOf(layer.upstreams.add(TENANT, definition(undefined, evil.url)))).toMatchObject({
    code: 'E3311',
  });
  expect(evil.seen.flatMap(({ authorization }) => authorization ?? [])).toEqual([]);
});

test.each([
  ['hangs', () => 'hang' as const, 'E3306'],
  ['answers rubbish', () => ({ body: '<html>' }), 'E3308'],
  ['answers with no token', () => ({ body: { token_type: 'Bearer' } }), 'E3308'],
  ['answers with a token of an unknown type', () => ({ body: { access_token: 'x', token_type: 'mac' } }), 'E3308'],
  ['answers with too much', () => ({ body: { access_token: 'x'.repeat(300_000), token_type: 'Bearer' } }), 'E3308'],
  ['fails', () => ({ status: 503, body: {} }), 'E3304'],
  ['quotes what it was sent', echoed, 'E3307'],
])(
  'EXE-07.11 a token endpoint that %s ends the login with an error that holds no secret',
  async (_what, token, code) => {
    servers.behaviour.token = token;
    const stated = {
      client_id: 'known',
      client_secret: '{{client}}',
      token_endpoint_auth_method: 'client_secret_post',
    };
    const layer = instance(code === 'E3306' ? { timeoutMs: 200 } : {});
    const posted = definition(stated as UpstreamAuthorization);
    const { state } = await layer.logins.begin(TENANT, posted, undefined);
    const address = `${REDIRECT}?code=the-code-of-the-login&state=${state}&iss=${servers.origin}`;
    const failure = await failureOf(layer.logins.finish(TENANT, posted, undefined, address));
    expect(failure.code).toBe(code);
    const shown = JSON.stringify([failure.message, failure.failure, String(failure.stack)]);
    for (const secret of [SECRET, 'the-code-of-the-login']) expect(shown).not.toContain(secret);
  },
);

function echoed({ form }: SeenRequest) {
  return { status: 400, body: { error: 'invalid_grant', error_description: `you sent ${form}` } };
}

test('EXE-07.10 a refresh token that two instances have is used once, and both go on', async () => {
  const store: AuthorizationStore = memoryAuthorizationStore({ clock: systemClock });
  const [one, other] = [instance({ store }), instance({ store })];
  const { redirect, finish } = await begun(one);
  let refreshed = 0;
  servers.behaviour.token = ({ form }) => {
    if (form.get('grant_type') !== 'refresh_token') return tokens('first-token', 'refresh-1', 0);
    refreshed += 1;
    // A server that sees a refresh token again ends everything (OAuth 2.1 §4.3.1).
    if (form.get('refresh_token') !== 'refresh-1') servers.behaviour.accepted.clear();
    else servers.behaviour.accepted.add('second-token');
    return tokens('second-token', 'refresh-2');
  };
  await finish(redirect());
  const added = await Promise.all([one, other].map(({ upstreams }) => upstreams.add(TENANT, definition())));
  expect(added.map(({ tools }) => tools.length)).toEqual([1, 1]);
  expect(refreshed).toBe(1);
  const answer = await other.upstreams.call(TENANT, 'notes', 't', {}, { timeoutMs: 10_000 });
  // The token is taken out of what the upstream says.
  expect(textOf(answer)).toBe('ok Bearer [hidden]');
});

test('PRM-11 OPS-04.1 a login that is ended at one instance is used by no other', async () => {
  const store: AuthorizationStore = memoryAuthorizationStore({ clock: systemClock });
  let later = 0;
  const clock: Clock = { now: () => systemClock.now(), monotonic: () => systemClock.monotonic() + later };
  const [one, other] = [instance({ store }), instance({ store, clock })];
  const { redirect, finish } = await begun(one);
  await finish(redirect());
  await Promise.all([one, other].map(({ upstreams }) => upstreams.add(TENANT, definition())));
  // The server takes the token still, as one that cannot revoke does.
  expect(await one.logins.end(TENANT, definition(), undefined)).toBe(true);
  later = 2_000;
  const call = other.upstreams.call(TENANT, 'notes', 't', {}, { timeoutMs: 10_000 });
  expect(await failureOf(call)).toMatchObject({ code: 'E3311' });
});

test('PRM-11 OPS-04.1 the connection that all share ends with a login that another instance ended, not with a renewed token', async () => {
  const store: AuthorizationStore = memoryAuthorizationStore({ clock: systemClock });
  const [one, other] = [instance({ store }), instance({ store })];
  const { redirect, finish } = await begun(one);
  servers.behaviour.token = () => tokens('first-token', 'refresh-1', 0);
  await finish(redirect());
  let renewed = 0;
  servers.behaviour.token = () => {
    servers.behaviour.accepted.add('second-token');
    renewed += 1;
    return tokens('second-token', 'refresh-2', renewed === 1 ? 0 : 3_600);
  };
  await other.upstreams.add(TENANT, definition());
  await using _following = other.upstreams.followStore(1);
  const since = () => other.upstreams.statuses(TENANT)[0];
  const ready = since();
  expect(ready).toMatchObject({ state: 'ready' });
  await one.upstreams.add(TENANT, definition());
  expect(renewed).toBeGreaterThan(1);
  let reads = 0;
  const { revisions } = store;
  store.revisions = (places) => {
    reads += 1;
    return revisions(places);
  };
  await expect.poll(() => reads, { timeout: 50_000 }).toBeGreaterThan(3);
  expect(since()).toEqual(ready);
  await one.logins.end(TENANT, definition(), undefined);
  await expect.poll(() => since()?.state, { timeout: 50_000 }).not.toBe('ready');
}, 120_000);

test('PRM-11 a token that is issued while its login is ended is not used', async () => {
  const layer = instance();
  const { redirect, finish } = await begun(layer);
  servers.behaviour.token = () => tokens('first-token', 'refresh-1', 0);
  await finish(redirect());
  servers.behaviour.token = async () => {
    await layer.logins.end(TENANT, definition(), undefined);
    servers.behaviour.accepted.add('second-token');
    return tokens('second-token', 'refresh-2');
  };
  expect(await failureOf(layer.upstreams.add(TENANT, definition()))).toMatchObject({ code: 'E3311' });
});

test('EXE-07.10 new tokens that cannot be written are used, and those before them no more', async () => {
  const kept = memoryAuthorizationStore({ clock: systemClock });
  let isDown = false;
  let later = 0;
  const store: AuthorizationStore = {
    ...kept,
    replace: (...given) => (isDown ? Promise.reject(new Error('down')) : kept.replace(...given)),
  };
  const clock: Clock = { now: () => systemClock.now(), monotonic: () => systemClock.monotonic() + later };
  const layer = instance({ store, clock });
  const { redirect, finish } = await begun(layer);
  servers.behaviour.token = () => tokens('first-token', 'refresh-1', 0);
  await finish(redirect());
  servers.behaviour.token = () => {
    isDown = true;
    servers.behaviour.accepted = new Set(['second-token']);
    servers.behaviour.token = () => ({ status: 400, body: { error: 'invalid_grant' } });
    return tokens('second-token', 'refresh-2');
  };
  await layer.upstreams.add(TENANT, definition());
  later = 2_000;
  const answer = await layer.upstreams.call(TENANT, 'notes', 't', {}, { timeoutMs: 10_000 });
  expect(textOf(answer)).toContain('ok Bearer');
});

test('EXE-07.10 a refresh token that is used up asks for a login, and no failure of the server does', async () => {
  const layer = instance();
  const { redirect, finish } = await begun(layer);
  servers.behaviour.token = () => tokens('first-token', 'refresh-1', 0);
  await finish(redirect());
  servers.behaviour.token = () => ({ status: 503, body: {} });
  expect(await failureOf(layer.upstreams.add(TENANT, definition()))).toMatchObject({ code: 'E3304' });
  servers.behaviour.token = () => ({ status: 400, body: { error: 'invalid_grant' } });
  expect(await failureOf(layer.upstreams.add(TENANT, definition()))).toMatchObject({ code: 'E3311' });
});

test('EXE-07.10 a definition with an Authorization header is not touched', async () => {
  const layer = instance();
  const own: UpstreamDefinition = {
    name: 'notes',
    transport: { type: 'http', url: servers.url, headers: { authorization: 'Bearer mine-1234567' } },
  };
  expect(await failureOf(layer.upstreams.add(TENANT, own))).toMatchObject({ code: 'E3307' });
  expect(servers.seen.map(({ path }) => path)).toEqual(['/mcp']);
  expect(await failureOf(layer.logins.begin(TENANT, own, undefined))).toMatchObject({ code: 'E3309' });
});
