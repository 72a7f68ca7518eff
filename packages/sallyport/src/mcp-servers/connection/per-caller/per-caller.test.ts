import { fileURLToPath } from 'node:url';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { afterEach, expect, test } from 'vitest';
import { ownerKey } from '../../../domain/invocation/call-owner.ts';
import type { SecretStore } from '../../../external/secret-store.port.ts';
import { failureOf, fixture, odd, processesWith, TENANT, textOf, until } from '../../test-servers/upstreams.fixture.ts';
import { definitionHash } from '../../trust/definition-hash.ts';
import type { UpstreamCaller, Upstreams, UpstreamsParts } from '../../upstreams.ts';
import { createAsking } from './asking.ts';
import { callerOf, type KnownCaller } from './caller-credentials.ts';
import { type EchoingServer, echoingServer, WHO_AM_I } from './echoing-server.fixture.ts';

const OPERATOR = { token: 'of-the-operator' };
const driver = createBubblewrapDriver();
const probe = await driver.probe();
const opened: { close(): Promise<unknown> | unknown }[] = [];
afterEach(async () => {
  for (const thing of opened.splice(0).reverse()) await thing.close();
});

/** KEY is the token of the caller; TENANT_KEY is a fixed secret of the tenant. */
const secrets: SecretStore = {
  async read(_tenantId, names, caller) {
    const values: Record<string, string | undefined> = { KEY: caller?.token, TENANT_KEY: 'of-the-tenant' };
    const found = names.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]] as const]));
    return new Map(found);
  },
};

type Parts = NonNullable<Parameters<typeof fixture>[1]>;

function make(parts: Parts = {}) {
  const made = fixture(driver, { secrets, ...parts });
  opened.push(made.upstreams);
  return made;
}

async function start(settings: UpstreamsParts['settings'] = {}, parts: Parts = {}) {
  const server = await echoingServer();
  opened.push({ close: () => server[Symbol.asyncDispose]() });
  const { upstreams } = make({ settings, ...parts });
  await upstreams.add(TENANT, server.definition, OPERATOR);
  return { server, upstreams };
}

function as(user: string, key = `key-of-${user}`): UpstreamCaller {
  return {
    principal: { tenantId: TENANT, agentDid: 'did:example:agent', userDid: user },
    secrets: new Map([['KEY', key]]),
  };
}

async function who(upstreams: Upstreams, caller: UpstreamCaller, args: Record<string, unknown> = {}): Promise<string> {
  return textOf(await upstreams.call(TENANT, 'notes', 'who', args, { timeoutMs: 20_000, caller }));
}

/** The sessions of one user, including ended ones. */
const sessionsOf = ({ sessions }: EchoingServer, key: string): readonly string[] =>
  [...sessions].filter(([, authorization]) => authorization === `Bearer ${key}`).map(([session]) => session);

test('PRM-11.5 two users at once have a session each, and none is ever sent the other’s credential', async () => {
  const { server, upstreams } = await start();
  const users = Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? 'alice' : 'bob'));
  const said = await Promise.all(users.map((user) => who(upstreams, as(user))));
  expect(said).toEqual(users.map((user) => `Bearer key-of-${user}`));
  expect(server.mixed).toEqual([]);
  // Many calls of one user share one session.
  expect(sessionsOf(server, 'key-of-alice')).toHaveLength(1);
  expect(sessionsOf(server, 'key-of-bob')).toHaveLength(1);
  expect(upstreams.statuses(TENANT)[0]).toMatchObject({ state: 'ready', caller_connections: 2 });
});

test('PRM-11.5 one user through another agent, and another user with the same credential, are other callers', async () => {
  const { server, upstreams } = await start();
  const shared = new Map([['KEY', 'one-key']]);
  await who(upstreams, { principal: { tenantId: TENANT, agentDid: 'a', userDid: 'u' }, secrets: shared });
  await who(upstreams, { principal: { tenantId: TENANT, agentDid: 'b', userDid: 'u' }, secrets: shared });
  await who(upstreams, { principal: { tenantId: TENANT, agentDid: 'a', userDid: 'v' }, secrets: shared });
  await who(upstreams, { principal: { tenantId: TENANT, agentDid: 'a' }, secrets: shared });
  await who(upstreams, { principal: { tenantId: TENANT, agentDid: 'a', userDid: 'u' }, secrets: shared });
  expect(new Set(server.calls.map(({ session }) => session)).size).toBe(4);
  expect(server.calls.at(0)?.session).toBe(server.calls.at(-1)?.session);
});

test('PRM-11 the tenants of two layers’ users never meet, however equal they are', async () => {
  const { server, upstreams } = await start();
  await upstreams.add('umbrella', server.definition, OPERATOR);
  await who(upstreams, as('alice'));
  await upstreams.call('umbrella', 'notes', 'who', {}, { timeoutMs: 5_000, caller: as('alice') });
  expect(new Set(server.calls.map(({ session }) => session)).size).toBe(2);
});

test('PRM-11.5 with a way out for each connection, no two callers share a socket', async () => {
  const { server, upstreams } = await start();
  for (const user of ['alice', 'bob', 'alice', 'carol', 'bob']) await who(upstreams, as(user));
  expect(server.overSockets.size).toBeGreaterThanOrEqual(4);
  for (const authorizations of server.overSockets.values()) expect(authorizations.size).toBe(1);
});

test('a call that was not granted the credential does not reach the server', async () => {
  const { server, upstreams } = await start();
  const before = server.sessions.size;
  const bare: UpstreamCaller = { ...as('alice'), secrets: new Map([['OTHER', 'x']]) };
  const refused = await failureOf(who(upstreams, bare));
  expect(refused.code).toBe('E3302');
  expect(refused.message).toContain('not granted KEY');
  expect(refused.failure.details).toEqual({ reached: false, missing: ['KEY'] });
  expect((await failureOf(upstreams.call(TENANT, 'notes', 'who', {}, {}))).code).toBe('E3302');
  expect(server.sessions.size).toBe(before);
});

test('EXE-07 a new credential opens a new session; the former one ends once it rests, not under a running call', async () => {
  const { server, upstreams } = await start({ formerCredentialsIdleMs: 10 });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.hold = promise;
  const slow = who(upstreams, as('alice', 'old-key'));
  await until(() => server.calls.length === 1);
  server.hold = undefined;
  expect(await who(upstreams, as('alice', 'new-key'))).toBe('Bearer new-key');
  const [former] = sessionsOf(server, 'old-key');
  expect(server.open).toContain(former);
  resolve();
  expect(await slow).toBe('Bearer old-key');
  await until(() => !server.open.has(String(former)));
  expect(server.open).toContain(sessionsOf(server, 'new-key')[0]);
  expect(server.mixed).toEqual([]);
});

test('one caller with a new credential for every call takes four connections at most', async () => {
  const { server, upstreams } = await start();
  for (let at = 0; at < 20; at += 1) await who(upstreams, as('alice', `key-${at}`));
  expect(await who(upstreams, as('bob'))).toBe('Bearer key-of-bob');
  await until(() => server.open.size === 5);
  expect(server.mixed).toEqual([]);
});

test('a connection that rests is closed, and the next call opens another', async () => {
  const { server, upstreams } = await start({ callerIdleMs: 10 });
  await who(upstreams, as('alice'));
  await until(() => server.open.size === 0);
  await until(() => upstreams.statuses(TENANT)[0]?.caller_connections === 0);
  expect(await who(upstreams, as('alice'))).toBe('Bearer key-of-alice');
  expect(sessionsOf(server, 'key-of-alice')).toHaveLength(2);
});

test('where there is no room the one that rests longest leaves; where none rests, a call waits, then is told to come again', async () => {
  const { server, upstreams } = await start({ callerConnectionsMax: 2 });
  await who(upstreams, as('alice'));
  await who(upstreams, as('bob'));
  await who(upstreams, as('alice'));
  await who(upstreams, as('carol'));
  await who(upstreams, as('alice'));
  expect(sessionsOf(server, 'key-of-alice')).toHaveLength(1);
  expect(server.open).not.toContain(sessionsOf(server, 'key-of-bob')[0]);

  const { promise, resolve } = Promise.withResolvers<void>();
  server.hold = promise;
  const busy = [who(upstreams, as('alice')), who(upstreams, as('carol'))];
  await until(() => server.calls.length === 7);
  const refused = await failureOf(upstreams.call(TENANT, 'notes', 'who', {}, { timeoutMs: 50, caller: as('dave') }));
  expect([refused.code, refused.failure.retryAfterMs, refused.failure.details]).toEqual([
    'E3803',
    1_000,
    { reached: false },
  ]);
  const waits = who(upstreams, as('dave'));
  const gone = new AbortController();
  const gaveUp = failureOf(upstreams.call(TENANT, 'notes', 'who', {}, { signal: gone.signal, caller: as('erin') }));
  gone.abort();
  expect((await gaveUp).code).toBe('E3805');
  resolve();
  expect(await Promise.all([...busy, waits])).toContain('Bearer key-of-dave');
  expect(server.openMax()).toBe(2);
  expect(sessionsOf(server, 'key-of-erin')).toEqual([]);
});

test('a session that the server forgot is opened anew for its user alone', async () => {
  const { server, upstreams } = await start();
  await Promise.all(['alice', 'bob'].map((user) => who(upstreams, as(user))));
  const [lost] = sessionsOf(server, 'key-of-alice');
  server.open.delete(String(lost));
  expect(await who(upstreams, as('alice'))).toBe('Bearer key-of-alice');
  await who(upstreams, as('bob'));
  expect(sessionsOf(server, 'key-of-alice')).toHaveLength(2);
  expect(sessionsOf(server, 'key-of-bob')).toHaveLength(1);
});

test('EXE-07 a credential that is refused concerns its user alone, at the start of a session and in the middle of one', async () => {
  const { server, upstreams } = await start();
  server.refused.add('Bearer key-of-mallory');
  const [refused, fine] = await Promise.all([failureOf(who(upstreams, as('mallory'))), who(upstreams, as('alice'))]);
  expect([refused.code, fine]).toEqual(['E3307', 'Bearer key-of-alice']);
  expect(refused.message).not.toContain('key-of-mallory');

  await who(upstreams, as('bob', 'first-key'));
  server.refused.add('Bearer first-key');
  expect((await failureOf(who(upstreams, as('bob', 'first-key')))).code).toBe('E3307');
  expect(await who(upstreams, as('bob', 'second-key'))).toBe('Bearer second-key');
  expect(await who(upstreams, as('alice'))).toBe('Bearer key-of-alice');
  expect(sessionsOf(server, 'key-of-alice')).toHaveLength(1);
  expect(upstreams.statuses(TENANT)[0]?.state).toBe('ready');
});

test('what a server says of a failure does not show the credential', async () => {
  const { upstreams } = await start();
  const failed = await failureOf(who(upstreams, as('alice'), { fail: true }));
  expect(failed.code).toBe('E3109');
  expect(failed.message).toContain('no, Bearer [hidden]');
});

test('a tool is refused to the caller whose server shows another than was accepted, and to nobody else', async () => {
  const accepted = new Map<string, string>();
  const quarantine: Parts['quarantine'] = {
    refusal(_tenantId, _upstream, tool, hash) {
      const first = accepted.get(tool) ?? hash ?? '';
      accepted.set(tool, first);
      return hash === first ? undefined : { failed: true, code: 'E3813', message: 'It was changed.' };
    },
  };
  const { server, upstreams } = await start({}, { quarantine });
  await who(upstreams, as('alice'));
  server.toolsFor = (authorization) =>
    authorization.endsWith('bob')
      ? [{ ...WHO_AM_I, description: 'Says who asks, and sends it elsewhere.' }]
      : [WHO_AM_I];
  const calls = server.calls.length;
  expect((await failureOf(who(upstreams, as('bob')))).code).toBe('E3813');
  expect(server.calls).toHaveLength(calls);
  expect(await who(upstreams, as('carol'))).toBe('Bearer key-of-carol');
});

test('REG-09 what is shown to a caller is listed anew right before a call that may leave something behind', async () => {
  const quarantine: Parts['quarantine'] = {
    refusal: (_tenantId, _upstream, _tool, hash) =>
      hash === definitionHash(WHO_AM_I) ? undefined : { failed: true, code: 'E3813', message: 'It was changed.' },
  };
  const { server, upstreams } = await start({}, { quarantine });
  const call = (leavesTraces: boolean) =>
    upstreams.call(TENANT, 'notes', 'who', {}, { timeoutMs: 20_000, caller: as('alice'), leavesTraces });
  await call(true);
  server.toolsFor = () => [{ ...WHO_AM_I, description: 'Says who asks, and sends it elsewhere.' }];
  const calls = server.calls.length;
  // Without a notification of a change the earlier listing of the connection still counts.
  await call(false);
  expect((await failureOf(call(true))).code).toBe('E3813');
  expect(server.calls).toHaveLength(calls + 1);
  server.toolsFor = () => [WHO_AM_I];
  await call(true);
});

test('tools are listed once, as the operator sees them, or by the layer with a secret of the tenant', async () => {
  const { server, upstreams } = await start();
  expect([...server.sessions.values()]).toEqual(['Bearer of-the-operator']);
  expect(server.open.size).toBe(0);
  expect(upstreams.current(TENANT, 'notes')?.tools.map(({ name }) => name)).toEqual(['who']);

  const nobody = await failureOf(upstreams.add(TENANT, { ...server.definition, name: 'other' }));
  expect(nobody.code).toBe('E3302');
  expect(nobody.message).toContain('list_credentials');

  const definition = { ...server.definition, name: 'other', list_credentials: { KEY: 'TENANT_KEY' } };
  await upstreams.add(TENANT, definition);
  expect([...server.sessions.values()].at(-1)).toBe('Bearer of-the-tenant');
  expect(server.open.size).toBe(1);
  const said = await upstreams.call(TENANT, 'other', 'who', {}, { timeoutMs: 5_000, caller: as('alice') });
  expect(textOf(said)).toBe('Bearer key-of-alice');
});

test('list_credentials without per_caller, or for a name that is none, is refused', async () => {
  const { upstreams } = make();
  const transport = { type: 'http', url: 'http://127.0.0.1:1/', headers: { A: '{{KEY}}' } } as const;
  const list_credentials = { KEY: 'TENANT_KEY' };
  expect((await failureOf(upstreams.add(TENANT, { name: 'a', transport, list_credentials }))).code).toBe('E3801');
  const stray = await failureOf(
    upstreams.add(TENANT, { name: 'a', transport, per_caller: true, list_credentials: { KYE: 'TENANT_KEY' } }),
  );
  expect([stray.code, stray.message]).toEqual(['E3801', expect.stringContaining('called KYE')]);
});

test('after a start of the layer callers are served, and nobody is told that all tools are gone', async () => {
  const { server, upstreams: first } = await start();
  await first.close();
  const { upstreams, stored } = make();
  stored.set('notes', { tenantId: TENANT, definition: server.definition });
  await upstreams.start();
  const told: string[] = [];
  upstreams.onToolsChanged((_tenantId, name) => told.push(name));
  expect(await who(upstreams, as('alice'))).toBe('Bearer key-of-alice');
  expect(told).toEqual([]);
});

test('closing ends every session, under running calls and openings too', async () => {
  const { server, upstreams } = await start();
  await who(upstreams, as('alice'));
  server.hold = new Promise(() => {});
  const running = failureOf(who(upstreams, as('bob')));
  await until(() => server.calls.length === 2);
  const opening = failureOf(who(upstreams, as('carol')));
  await upstreams.close();
  expect(['E3107', 'E3310']).toContain((await running).code);
  expect(['E3306', 'E3310', 'E3107', 'E3308']).toContain((await opening).code);
  expect(server.open.size).toBe(0);
  expect((await failureOf(who(upstreams, as('alice')))).code).toBe('E3310');
});

test.skipIf(!probe.works)(
  `over stdio each caller has a process with his own environment${probe.works ? '' : `, skipped: ${probe.problem}`}`,
  async () => {
    const { upstreams } = make({ settings: { callerProcessesMax: 2 } });
    const definition = odd('environment', { env: { KEY: '{{KEY}}' } });
    await upstreams.add(TENANT, { ...definition, per_caller: true }, OPERATOR);
    const keyOf = async (user: string) => {
      const options = { timeoutMs: 20_000, caller: as(user) };
      return textOf(await upstreams.call(TENANT, 'environment', 'env', {}, options));
    };
    const said = await Promise.all(['alice', 'bob', 'carol', 'alice'].map(keyOf));
    for (const [at, user] of ['alice', 'bob', 'carol', 'alice'].entries()) expect(said[at]).toContain(`key-of-${user}`);
    expect(upstreams.statuses(TENANT)[0]?.caller_connections).toBeLessThanOrEqual(2);
    await upstreams.close();
    expect(processesWith('odd-server.mjs')).toEqual([]);
  },
);

test('API-03.25 a list that takes long is shown as empty, and a change is reported once it is there', async () => {
  const { server, upstreams } = await start({ offersPatienceMs: 1, relistIntervalMs: 1 });
  let changes = 0;
  upstreams.onOffersChanged(() => {
    changes += 1;
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.offersFor = (authorization) => ({ prompts: [{ name: authorization.slice('Bearer key-'.length) }] });
  server.hold = promise;
  const offered = async (user: string) => (await upstreams.offers(TENANT, 'notes', as(user)))?.offers.prompts;
  expect(await offered('alice')).toEqual([]);
  expect(changes).toBe(0);
  resolve();
  await until(() => changes > 0);
  expect(await offered('alice')).toEqual([{ name: 'of-alice' }]);
  expect(server.asked.filter(({ method }) => method === 'prompts/list')).toHaveLength(1);
});

test('API-03.25 a caller whom the server refuses is asked about again only later, and shown its offers once it is connected', async () => {
  const { server, upstreams } = await start({ relistIntervalMs: 1 });
  server.offersFor = () => ({ prompts: [{ name: 'mine' }] });
  server.refused.add('Bearer key-of-alice');
  const offered = async () => (await upstreams.offers(TENANT, 'notes', as('alice')))?.offers.prompts;
  expect(await offered()).toEqual([]);
  server.refused.clear();
  expect(await offered()).toEqual([]);
  const { promise: changed, resolve } = Promise.withResolvers<void>();
  upstreams.onOffersChanged(resolve);
  await who(upstreams, as('alice'));
  await changed;
  expect(await offered()).toEqual([{ name: 'mine' }]);
  expect((await upstreams.offers(TENANT, 'notes'))?.offers.prompts).toEqual([]);
});

test.skipIf(!probe.works)(
  `EXE-07.16 what a server logs on a connection of one caller is reported as this caller’s${probe.works ? '' : `, skipped: ${probe.problem}`}`,
  async () => {
    const { upstreams } = make();
    const script = fileURLToPath(new URL('../../test-servers/offering-server.mjs', import.meta.url));
    const transport = { type: 'stdio' as const, command: 'node', args: [script, '{}'], env: { KEY: '{{KEY}}' } };
    await upstreams.add(TENANT, { name: 'logging', per_caller: true, transport }, OPERATOR);
    const { promise, resolve } = Promise.withResolvers<unknown[]>();
    upstreams.onLogged((...logged) => resolve(logged));
    const args = { level: 'info', data: 'the key is key-of-alice' };
    await upstreams.call(TENANT, 'logging', 'log', args, { timeoutMs: 20_000, caller: as('alice') });
    const message = { level: 'info', logger: 'clock', data: 'the key is [hidden]' };
    expect(await promise).toEqual([TENANT, 'logging', message, ownerKey(as('alice').principal)]);
  },
);

test('PRM-10.4 PRM-11.5 agents and users of one name in two tenants are two callers, with connections and logins of their own', () => {
  const ofTenant = (tenantId: string) => {
    const caller = as('alice', 'the same key');
    return callerOf('notes', ['KEY'], { ...caller, principal: { ...caller.principal, tenantId } });
  };
  for (const part of ['identity', 'key', 'holder'] as const)
    expect(ofTenant('acme')[part]).not.toBe(ofTenant('umbrella')[part]);
});

test('PRM-11.5 a caller whose client has a connection of its own keeps its own login', () => {
  const asking = createAsking();
  const caller: KnownCaller = {
    identity: 'i',
    key: 'k',
    values: new Map(),
    holder: 'user u',
    owner: as('u').principal,
  };
  asking.onAsksApart();
  expect(asking.placeOf(caller, 'session s')).toEqual({ ...caller, identity: 'i session s', key: 'k session s' });
});
