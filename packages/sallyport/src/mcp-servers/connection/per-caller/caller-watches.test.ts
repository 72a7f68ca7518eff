import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { afterEach, expect, test } from 'vitest';
import type { SecretStore } from '../../../external/secret-store.port.ts';
import { failureOf, fixture, TENANT } from '../../test-servers/upstreams.fixture.ts';
import type { UpstreamCaller } from '../../upstreams.ts';
import { echoingServer } from './echoing-server.fixture.ts';

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const secrets: SecretStore = { read: async () => new Map([['KEY', 'of-the-operator']]) };
const URI = 'own://shared';

/** An upstream with room for four connections of callers. */
async function start(callerConnectionsMax = 4) {
  const server = await echoingServer();
  server.offersFor = () => ({ resources: [{ uri: URI, name: 'shared' }] });
  const { upstreams } = fixture(createBubblewrapDriver(), { secrets, settings: { callerConnectionsMax } });
  opened.push(
    async () => server[Symbol.asyncDispose](),
    () => upstreams.close(),
  );
  await upstreams.add(TENANT, server.definition, { token: 'of-the-operator' });
  const ended: string[] = [];
  const watch = (user: string, uri = URI, key?: string) =>
    upstreams.watchResource(
      TENANT,
      'notes',
      { uri, tenantId: TENANT, caller: as(user, key) },
      { onUpdated() {}, onEnded: () => void ended.push(key ?? user) },
    );
  const call = (user: string, key?: string) =>
    upstreams.call(TENANT, 'notes', 'who', {}, { timeoutMs: 20_000, caller: as(user, key) });
  return { server, upstreams, watch, call, ended };
}

const as = (user: string, key = `key-of-${user}`): UpstreamCaller => ({
  principal: { tenantId: TENANT, agentDid: 'did:example:agent', userDid: user },
  secrets: new Map([['KEY', key]]),
});

test('API-03.26 half of the connections may watch; the others are for calls, which close no connection that watches', async () => {
  const { server, upstreams, watch, call } = await start();
  const [alice, bob] = [await watch('alice'), await watch('bob')];
  const refused = await failureOf(watch('carol'));
  expect(refused).toMatchObject({ code: 'E3803', message: expect.stringContaining('2 callers watch') });
  for (const user of ['carol', 'dave', 'erin', 'frank']) await call(user);
  expect([...server.subscribed.values()].map((uris) => [...uris])).toEqual([[URI], [URI]]);
  // Another resource of a caller that watches takes no more room.
  const second = await watch('bob', 'own://second');
  alice[Symbol.dispose]();
  (await watch('carol'))[Symbol.dispose]();
  bob[Symbol.dispose]();
  second[Symbol.dispose]();
  await expect.poll(() => [...server.subscribed.values()].map((uris) => uris.size)).toEqual([0, 0, 0]);
  expect(upstreams.statuses(TENANT)[0]?.caller_connections).toBeLessThanOrEqual(4);
});

test('API-03.26 EXE-07 a call with a new credential takes the room of the caller’s own oldest subscription, a subscription takes none', async () => {
  const { watch, call, ended } = await start(12);
  for (const key of ['k1', 'k2', 'k3', 'k4']) await watch('alice', URI, key);
  await watch('bob');
  expect(await call('alice', 'k5')).toMatchObject({ content: [{ text: 'Bearer k5' }] });
  expect(ended).toEqual(['k1']);
  // It makes room for itself where a call rests, and ends no other subscription.
  await watch('alice', URI, 'k6');
  expect(ended).toEqual(['k1']);
  await Promise.all([call('alice', 'k7'), call('alice', 'k7')]);
  expect(ended).toEqual(['k1', 'k2']);
});

test('API-03.26 the end of a connection ends all its subscriptions once, and none of another caller', async () => {
  const { upstreams, watch, ended } = await start();
  const watches = [await watch('alice'), await watch('alice', 'own://second'), await watch('bob')];
  upstreams.endLogin(TENANT, 'notes', `"${TENANT}" user alice`);
  await expect.poll(() => ended).toEqual(['alice', 'alice']);
  for (const each of watches) each[Symbol.dispose]();
  await watch('alice');
  await upstreams.close();
  expect(ended).toEqual(['alice', 'alice', 'alice']);
});

test('API-03.26 a connection that cannot be opened is an error for who subscribes, and takes no room', async () => {
  const { server, watch } = await start();
  server.refused.add('Bearer key-of-alice').add('Bearer key-of-bob');
  for (const user of ['alice', 'bob', 'alice', 'bob']) {
    const refused = await failureOf(watch(user));
    expect(refused.code).toBe('E3307');
    expect(refused.message).not.toContain(`key-of-${user}`);
  }
  await watch('carol');
});

test('API-03.21 API-03.26 a resource is subscribed to again once its server has ended the subscription before', async () => {
  const { server, watch, call } = await start();
  const { promise, resolve } = Promise.withResolvers<void>();
  server.holdEnds = promise;
  (await watch('alice'))[Symbol.dispose]();
  const asked = { method: 'resources/unsubscribe', authorization: 'Bearer key-of-alice' };
  await expect.poll(() => server.asked).toContainEqual(asked);
  const again = watch('alice');
  // The server has read by then what would have been sent before.
  for (let times = 0; times < 10; times += 1) await call('alice');
  resolve();
  await again;
  expect([...server.subscribed.values()].map((uris) => [...uris])).toEqual([[URI]]);
});
