import { afterEach, beforeEach, expect, it } from 'vitest';
import { type DiscoveryServer, startDiscovery } from './discovery.fixture.ts';
import { type Wire, wireTo } from './discovery-wire.fixture.ts';

let server: DiscoveryServer;
let wire: Wire;

beforeEach(async () => {
  server = await startDiscovery({
    changesTogetherMs: 1,
    lookPauseMs: 1,
    streamsMax: 1,
    watchedPerClientMax: 2,
    watchedMax: 3,
  });
  wire = wireTo(server);
});

afterEach(() => server.close());

const AVAILABLE = 'sallyport://tools/tenant/acme/available';
const MAIL = 'sallyport://tools/tool/mail';

const describeMail = (description: string): void => {
  server.world.get('acme')?.set('mail', { description, disabled: false });
  server.layer.notifyToolsChanged();
};

it('VIS-07.6 nothing is told of what happens in another tenant', async () => {
  const session = await wire.openSession();
  await wire.ask(session, 'resources/subscribe', { uri: AVAILABLE });
  const stream = await wire.openStream(session);
  const asked = server.layer.asked.length;
  server.world.get('globex')?.set('rocket', { description: 'Does rocket.', disabled: false });
  server.layer.notifyToolsChanged();
  await expect.poll(() => server.layer.asked.length).toBeGreaterThan(asked);
  describeMail('Sends mail.');
  // The two notifications come one after the other.
  await expect.poll(stream.text).toContain('resources/updated');
  await expect.poll(stream.text).toContain('resources/list_changed');
  const events = stream.text().match(/"method":"[^"]+"/g);
  expect(events?.toSorted()).toEqual([
    '"method":"notifications/resources/list_changed"',
    '"method":"notifications/resources/updated"',
  ]);
  stream.close();
});

it("VIS-07 nobody opens the stream of another's session, or ends it", async () => {
  const session = await wire.openSession();
  await wire.ask(session, 'resources/subscribe', { uri: MAIL });
  for (const other of ['agent-elsewhere', 'agent-b']) {
    const stolen = { ...session, authorization: `Bearer ${other}` };
    expect((await wire.openStream(stolen)).status).toBe(404);
    expect((await fetch(server.url, { method: 'DELETE', headers: stolen })).status).toBe(404);
  }
  const stream = await wire.openStream(session);
  expect(stream.status).toBe(200);
  stream.close();
});

it('what changed while nobody listened is told when the stream opens', async () => {
  const session = await wire.openSession();
  await wire.ask(session, 'resources/subscribe', { uri: MAIL });
  describeMail('Sends mail.');
  const stream = await wire.openStream(session);
  await expect.poll(stream.text).toContain(MAIL);
  stream.close();
});

it('a resource that went is told, one that was unsubscribed is not', async () => {
  const session = await wire.openSession();
  const search = 'sallyport://tools/tool/search';
  for (const uri of [MAIL, search]) await wire.ask(session, 'resources/subscribe', { uri });
  expect(await wire.ask(session, 'resources/unsubscribe', { uri: MAIL })).toEqual({
    jsonrpc: '2.0',
    id: 2,
    result: {},
  });
  const stream = await wire.openStream(session);
  for (const tool of ['mail', 'search']) server.world.get('acme')?.delete(tool);
  server.layer.notifyToolsChanged();
  await expect.poll(stream.text).toContain(search);
  expect(stream.text()).not.toContain(MAIL);
  stream.close();
});

it('a client, and all together, watch only so many resources', async () => {
  const [first, second] = [await wire.openSession(), await wire.openSession()];
  const subscribe = async (session: Record<string, string>, tool: string): Promise<boolean> =>
    'result' in (await wire.ask(session, 'resources/subscribe', { uri: `sallyport://tools/tool/${tool}` }));
  expect(await subscribe(first, 'mail')).toBe(true);
  expect(await subscribe(first, 'search')).toBe(true);
  expect(await subscribe(first, 'search')).toBe(true);
  expect(await subscribe(first, 'calendar')).toBe(false);
  expect(await subscribe(second, 'mail')).toBe(true);
  expect(await subscribe(second, 'search')).toBe(false);
  await fetch(server.url, { method: 'DELETE', headers: { ...first, authorization: 'Bearer agent' } });
  expect(await subscribe(second, 'search')).toBe(true);
});

it('API-03 one holder watches no more than its share, in however many sessions, and leaves room for another tenant', async () => {
  await server.close();
  server = await startDiscovery({ watchedPerClientMax: 2, watchedPerHolderMax: 3, watchedMax: 5 });
  wire = wireTo(server);
  const subscribe = async (session: Record<string, string>, tool: string): Promise<boolean> =>
    'result' in (await wire.ask(session, 'resources/subscribe', { uri: `sallyport://tools/tool/${tool}` }));
  const sessions = [await wire.openSession(), await wire.openSession()];
  const granted = [];
  for (const session of sessions) for (const tool of ['mail', 'search']) granted.push(await subscribe(session, tool));
  expect(granted).toEqual([true, true, true, false]);
  await fetch(server.url, { method: 'DELETE', headers: { ...sessions[0], authorization: 'Bearer agent' } });
  expect(await subscribe(sessions[1] ?? {}, 'search')).toBe(true);
});

it('a subscription of the 2026 era is granted what is there, and what there is room for', async () => {
  const resourceSubscriptions = [7, MAIL, MAIL, 'sallyport://tools/tool/launch', AVAILABLE];
  const wish = { notifications: { resourcesListChanged: true, toolsListChanged: true, resourceSubscriptions } };
  const response = await wire.modern('subscriptions/listen', wish);
  const reader = response.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  const [, data = ''] = /data: (.*)\n/.exec(Buffer.from(value ?? []).toString()) ?? [];
  expect(JSON.parse(data)).toEqual({
    jsonrpc: '2.0',
    method: 'notifications/subscriptions/acknowledged',
    params: {
      _meta: { 'io.modelcontextprotocol/subscriptionId': 7 },
      notifications: { resourcesListChanged: true, resourceSubscriptions: [MAIL] },
    },
  });
  await reader?.cancel();
});

it('streams that closed make room, however they closed', async () => {
  for (let round = 0; round < 3; round += 1) {
    const session = await wire.openSession();
    const stream = await wire.openStream(session);
    expect(stream.status).toBe(200);
    // The stream closes when its session ends, and when the client disconnects.
    if (round % 2 === 0) {
      await fetch(server.url, { method: 'DELETE', headers: { ...session, authorization: 'Bearer agent' } });
    } else stream.close();
    const again = { method: 'GET', headers: { ...(await wire.openSession()), authorization: 'Bearer agent' } };
    await expect
      .poll(async () => {
        const probe = await fetch(server.url, {
          ...again,
          headers: { ...again.headers, accept: 'text/event-stream' },
        });
        await probe.body?.cancel();
        return probe.status;
      })
      .toBe(200);
  }
});

it('nothing is looked at when nobody watches', async () => {
  const session = await wire.openSession();
  await wire.ask(session, 'resources/subscribe', { uri: MAIL });
  const asked = server.layer.asked.length;
  describeMail('Sends mail.');
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(server.layer.asked.length).toBe(asked);
});

it('closing the server lets go of the layer', async () => {
  expect(server.layer.listeners.size).toBe(1);
  await wire.openStream(await wire.openSession());
  await server.close();
  expect(server.layer.listeners.size).toBe(0);
});
