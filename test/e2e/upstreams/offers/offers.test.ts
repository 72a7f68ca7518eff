import type { Client } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../../packages/sallyport/src/index.ts';
import { type Desk, type Mint, openDesk } from '../../calls/desk.fixture.ts';
import { addServer, type ClientOptions, connect, read } from './offers.fixture.ts';

const SHARED = { uri: 'file:///shared.txt', name: 'shared' };
const TEMPLATE = { uriTemplate: 'notes://{id}/text', name: 'a note' };
const GREET = { name: 'greet', description: 'Greets.', arguments: [{ name: 'who', required: true }] };
const ONE = 'sallyport://servers/one/file:///shared.txt';
const TWO = 'sallyport://servers/two/file:///shared.txt';

let desk: Desk;
const clients: Client[] = [];

beforeAll(async () => {
  desk = await openDesk({
    policy:
      '@id("not-two") forbid (principal, action, resource) when { resource.id == "two__resources-read" && principal.did == "did:agent:b" };',
  });
  await addServer(desk, 'one', {
    resources: [SHARED, { uri: 'one://own', name: 'own' }],
    templates: [TEMPLATE],
    prompts: [GREET],
    instructions: 'Ask for one thing at a time.\nThen wait.',
  });
  await addServer(desk, 'two', { resources: [SHARED], prompts: [GREET], instructions: 'Take care\u200b.' });
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});
afterAll(() => desk[Symbol.asyncDispose]());

async function client(claims: Mint = {}, options: ClientOptions = {}): Promise<Client> {
  const made = await connect(desk, await desk.token(claims), options);
  clients.push(made);
  return made;
}

// The first test, so that nobody else has just called the server.
test('EXE-07.16 PRM-11.5 what a server logs outside of calls reaches the sessions that set its level and see the server, and no others', async () => {
  const heard: Record<string, unknown[]> = {};
  const listening = async (name: string, claims: Mint, level: 'info' | 'error' | undefined, path?: string) => {
    const made = await client(claims, path === undefined ? {} : { path });
    heard[name] = [];
    made.setNotificationHandler('notifications/message', ({ params }) => void heard[name]?.push(params));
    if (level !== undefined) await made.setLoggingLevel(level);
    return made;
  };
  const all = await listening('all', {}, 'info');
  await listening('one', {}, 'info', '/mcp/servers/one');
  await listening('two', {}, 'info', '/mcp/servers/two');
  await listening('only two', { tool_id: 'two__*' }, 'info');
  await listening('errors', {}, 'error');
  await listening('no level', {}, undefined);
  await listening('elsewhere', { tenant_id: 'another' }, 'info');
  // The server speaks right after a call, so it may quote it.
  await listening('another agent', { agent_did: 'did:agent:other' }, 'info');
  const logs = async (level: string, data: string): Promise<void> => {
    const body = { tool_id: 'one__log', parameters: { level, data } };
    await desk.rest('POST', '/v1/invocations', await desk.token(), body);
  };
  for (const [level, data] of [
    ['debug', 'first'],
    ['info', 'second'],
    ['error', 'third'],
  ] as const)
    await logs(level, data);
  const third = { level: 'error', logger: 'one/clock', data: 'third' };
  const second = { ...third, level: 'info', data: 'second' };
  await expect.poll(() => heard['errors']).toEqual([third]);
  await expect.poll(() => heard['all']).toEqual([second, third]);
  await expect.poll(() => heard['one']).toEqual([second, third].map((each) => ({ ...each, logger: 'clock' })));
  await all.ping();
  for (const name of ['two', 'only two', 'no level', 'elsewhere', 'another agent'])
    expect([name, heard[name]]).toEqual([name, []]);
});

describe.each(['2025', '2026'] as const)('resources and prompts of upstreams, protocol of %s', (era) => {
  test('API-03.18 a resource of one server keeps its URI, one of two has a URI for each', async () => {
    const all = await client({}, { era });
    expect((await all.listResources()).resources.map(({ uri }) => uri)).toEqual(['one://own', ONE, TWO]);
    expect(await read(all, 'one://own')).toBe('one has one://own');
    expect(await read(all, ONE)).toBe('one has file:///shared.txt');
    expect(await read(all, TWO)).toBe('two has file:///shared.txt');
    expect((await all.readResource({ uri: TWO })).contents[0]?.uri).toBe(TWO);
    await expect(read(all, SHARED.uri)).rejects.toMatchObject({ code: -32602, message: expect.stringContaining(TWO) });
  });

  test('API-03.18 a URI that nobody lists is read where its template is, and refused where several servers may have it', async () => {
    const all = await client({}, { era });
    expect((await all.listResourceTemplates()).resourceTemplates).toEqual([expect.objectContaining(TEMPLATE)]);
    expect(await read(all, 'notes://7/text')).toBe('one has notes://7/text');
    await expect(read(all, 'other://7')).rejects.toThrow('sallyport://servers/two/other://7');
    expect(await read(all, 'sallyport://servers/two/other://7')).toBe('two has other://7');
    const missing = 'sallyport://servers/one/one://missing';
    await expect(read(all, missing)).rejects.toMatchObject({
      message: 'There is no such resource.',
      data: { uri: missing },
    });
  });

  test('API-03.18 prompts are named after their server, and completed there', async () => {
    const all = await client({}, { era });
    expect((await all.listPrompts()).prompts.map(({ name }) => name)).toEqual(['one__greet', 'two__greet']);
    const { messages } = await all.getPrompt({ name: 'two__greet', arguments: { who: 'Ada' } });
    expect(messages[0]?.content).toEqual({ type: 'text', text: 'two: greet' });
    const argument = { name: 'who', value: 'A' };
    const completed = await all.complete({ ref: { type: 'ref/prompt', name: 'one__greet' }, argument });
    expect(completed.completion.values).toEqual(['one: greet']);
    await expect(all.getPrompt({ name: 'three__greet' })).rejects.toMatchObject({ code: -32602 });
  });

  test('API-03.19 the address of one server shows it as it shows itself, and nothing of others', async () => {
    const one = await client({}, { era, path: '/mcp/servers/one' });
    expect(one.getInstructions()).toBe('Ask for one thing at a time.\nThen wait.');
    expect((await one.listResources()).resources.map(({ uri }) => uri)).toEqual(['file:///shared.txt', 'one://own']);
    expect((await one.listPrompts()).prompts).toEqual([GREET]);
    expect((await one.listTools()).tools.map(({ name }) => name)).toEqual([
      'exit',
      'log',
      'replace',
      'seen',
      'subscribed',
      'update',
    ]);
    expect(await read(one, SHARED.uri)).toBe('one has file:///shared.txt');
    const called = await one.callTool({ name: 'subscribed', arguments: {} });
    expect(called.content).toEqual([{ type: 'text', text: '{}' }]);
    expect(await read(one, TWO)).toBe(`one has ${TWO}`);
    await expect(client({}, { era, path: '/mcp/servers/three' })).rejects.toThrow('sees nothing of a server named');
  });

  test('API-03.20 instructions of servers are shown as theirs, with hidden characters written out', async () => {
    const all = await client({}, { era });
    expect(all.getInstructions()).toContain(
      'The server one says of its tools:\n> Ask for one thing at a time.\n> Then wait.',
    );
    expect(all.getInstructions()).not.toContain('\u200b');
    const onlyOne = await client({ tool_id: 'one__*' }, { era });
    expect(onlyOne.getInstructions()).not.toContain('server two');
  });

  test('PRM-01 a token reads only what it covers', async () => {
    const none = await client({ tool_id: 'two__*' }, { era });
    expect((await none.listResources()).resources.map(({ uri }) => uri)).toEqual([SHARED.uri]);
    expect((await none.listPrompts()).prompts.map(({ name }) => name)).toEqual(['two__greet']);
    await expect(read(none, ONE)).rejects.toMatchObject({ message: 'There is no such resource.' });
    // The only server that it may read is asked.
    expect(await read(none, 'one://own')).toBe('two has one://own');
    const noReading = await client({ tool_id: 'one__prompts-get' }, { era });
    expect((await noReading.listResources()).resources).toEqual([]);
    await expect(read(noReading, 'one://own')).rejects.toMatchObject({ message: 'There is no such resource.' });
    const elsewhere = await client({ tenant_id: 'another' }, { era });
    expect((await elsewhere.listResources()).resources).toEqual([]);
    await expect(read(elsewhere, ONE)).rejects.toMatchObject({ message: 'There is no such resource.' });
  });
});

test('API-03.17 reading is a call: policies judge it, and it is on record', async () => {
  const all = await client();
  const forbidden = await client({ agent_did: 'did:agent:b' });
  await expect(read(forbidden, TWO)).rejects.toMatchObject({ data: { e_code: 'E3210' } });
  expect(await read(forbidden, ONE)).toBe('one has file:///shared.txt');
  const { _meta } = await all.readResource({ uri: 'one://own' });
  const call = await desk.layer.ask(
    'invocations.get',
    { invocation_id: String(_meta?.['invocation_id']) },
    LOCAL_CALLER,
  );
  expect(call).toMatchObject({ tool_id: 'one__resources-read', state: 'COMPLETED' });
});

test('API-03.17 the same is read over REST, and the tools for it are not among the tools of the gateway', async () => {
  const token = await desk.token();
  const listed = await desk.rest('GET', '/v1/offers?list=resources&upstream=one', token);
  expect(listed.body['offers']).toMatchObject([
    { upstream: 'one', listed: SHARED, tools: { 'resources/read': 'one__resources-read' } },
    { listed: { uri: 'one://own' } },
  ]);
  const body = { tool_id: 'one__resources-read', parameters: { uri: 'one://own' } };
  const called = await desk.rest('POST', '/v1/invocations', token, body);
  expect(called.body).toMatchObject({ status: 'success', result: { contents: [{ text: 'one has one://own' }] } });
  const all = await client();
  expect((await all.listTools()).tools.filter(({ name }) => /resources-read|prompts-get/.test(name))).toEqual([]);
});
