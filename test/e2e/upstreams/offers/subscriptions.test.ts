import type { Client } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../../packages/sallyport/src/index.ts';
import { type Desk, type Mint, openDesk } from '../../calls/desk.fixture.ts';
import { addServer, connect } from './offers.fixture.ts';

const NOTE = { uri: 'note://a', name: 'a' };
let desk: Desk;
const clients: Client[] = [];

beforeAll(async () => {
  desk = await openDesk();
  await addServer(desk, 'notes', { resources: [NOTE] });
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});
afterAll(() => desk[Symbol.asyncDispose]());

/** A client that notes what it is notified of. */
async function listening(era: '2025' | '2026', claims: Mint = {}) {
  const client = await connect(desk, await desk.token(claims), { era });
  clients.push(client);
  const updated: string[] = [];
  let lists = 0;
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void updated.push(params.uri));
  client.setNotificationHandler('notifications/resources/list_changed', () => {
    lists += 1;
  });
  const subscribe = async (uri: string): Promise<void> => {
    if (era === '2025') await client.subscribeResource({ uri });
    else await client.listen({ resourceSubscriptions: [uri] });
  };
  /** Sessions outlive a client that only closes its connections. */
  const leave = async (uri: string): Promise<void> => {
    if (era === '2025') await client.unsubscribeResource({ uri });
    else await client.close();
  };
  return { client, updated, lists: () => lists, subscribe, leave };
}

async function tool(name: string, parameters: object = {}): Promise<string> {
  const body = { tool_id: `notes__${name}`, parameters };
  const answer = await desk.rest('POST', '/v1/invocations', await desk.token(), body);
  return (answer.body['result'] as { content: { text: string }[] }).content[0]?.text ?? '';
}
const subscribed = async () => JSON.parse(await tool('subscribed')) as Record<string, number>;

describe.each(['2025', '2026'] as const)('a subscription to a resource, protocol of %s', (era) => {
  test('API-03.21 is one at the server for all who have it, and ends with the last of them', async () => {
    const [one, two] = [await listening(era), await listening(era, { agent_did: 'did:agent:b' })];
    await one.subscribe(NOTE.uri);
    await two.subscribe('sallyport://servers/notes/note://a');
    expect(await subscribed()).toEqual({ 'note://a': 1 });
    await tool('update', { uri: NOTE.uri, times: 500 });
    await expect.poll(() => [one.updated, two.updated]).toEqual([[NOTE.uri], ['sallyport://servers/notes/note://a']]);
    await one.leave(NOTE.uri);
    await expect.poll(subscribed).toEqual({ 'note://a': 1 });
    await two.leave('sallyport://servers/notes/note://a');
    await expect.poll(subscribed).toEqual({});
  });

  test('API-03.21 is renewed at a server that was started again', async () => {
    const one = await listening(era);
    await one.subscribe(NOTE.uri);
    await desk.layer.ask('upstreams.restart', { name: 'notes' }, LOCAL_CALLER);
    await expect
      .poll(() => desk.layer.ask('upstreams.get', { name: 'notes' }, LOCAL_CALLER))
      .toMatchObject({
        upstream: { state: 'ready' },
      });
    await tool('exit').catch(() => undefined);
    await expect.poll(subscribed).toEqual({ 'note://a': 1 });
    await tool('update', { uri: NOTE.uri });
    await expect.poll(() => one.updated).toEqual([NOTE.uri]);
    await one.leave(NOTE.uri);
  });

  test('API-03.21 is refused to who may not read, and reports nothing once it may not be read', async () => {
    const other = await listening(era, { tenant_id: 'another' });
    if (era === '2025') await expect(other.subscribe(NOTE.uri)).rejects.toThrow('no such resource');
    else await other.subscribe(NOTE.uri);
    const one = await listening(era);
    await one.subscribe(NOTE.uri);
    const agent = { agent_did: 'did:sallyport:agent' };
    const own = await desk.layer.ask('tokens.inspect', {}, { door: 'rest', token: await desk.token() });
    const off = { agent_did: own.agent_did, tool_id: 'notes__resources-read', enabled: false };
    await desk.layer.ask('activations.set', off, LOCAL_CALLER);
    const two = await listening(era, { agent_did: `${agent.agent_did}-two` });
    await two.subscribe(NOTE.uri);
    await tool('update', { uri: NOTE.uri });
    await expect.poll(() => two.updated).toEqual([NOTE.uri]);
    expect([one.updated, other.updated]).toEqual([[], []]);
    await one.leave(NOTE.uri);
    await two.leave(NOTE.uri);
    await desk.layer.ask('activations.set', { ...off, enabled: true }, LOCAL_CALLER);
  });

  test('API-03.14 a changed list of resources is reported to who sees it, and to no other', async () => {
    const [one, blind] = [await listening(era), await listening(era, { tool_id: 'notes__update' })];
    if (era === '2026') for (const { client } of [one, blind]) await client.listen({ resourcesListChanged: true });
    await tool('replace', { resources: [NOTE, { uri: `note://${era}`, name: 'b' }] });
    await expect.poll(one.lists).toBe(1);
    expect((await one.client.listResources()).resources.map(({ uri }) => uri)).toContain(`note://${era}`);
    expect(blind.lists()).toBe(0);
  });
});
