import type { Client } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { LOCAL_CALLER, type OfferedResource } from '../../../../packages/sallyport/src/index.ts';
import { type Desk, openDesk } from '../../calls/desk.fixture.ts';
import { openLayer } from '../../layer.fixture.ts';
import { addServer, connect, read } from './offers.fixture.ts';

const READ = 'program__resources-read';
let desk: Desk;
let note: OfferedResource;
const clients: Client[] = [];

beforeAll(async () => {
  desk = await openDesk({
    policy: `@id("no-prompts")\nforbid (principal, action, resource == Tool::"program__prompts-get") when { principal == Agent::"did:agent:barred" };`,
  });
  note = await desk.layer.registerResource({
    uri: 'note://a',
    name: 'a',
    mimeType: 'text/plain',
    read: () => 'A note.',
  });
  await desk.layer.registerResource({ uri: 'note://raw', name: 'raw', read: () => new Uint8Array([1, 2]) });
  await desk.layer.registerResource({
    uriTemplate: 'page://{n}',
    name: 'page',
    complete: { n: (typed) => Array.from({ length: 150 }, (_, at) => `${typed}${at}`) },
    read: (uri, { principal }) => `${uri} for ${principal.userDid ?? 'nobody'}`,
  });
  await desk.layer.registerPrompt({
    name: 'greet',
    description: 'Greets.',
    arguments: [{ name: 'who', required: true }],
    get: ({ who }) => `Say hello to ${who}.`,
  });
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});
afterAll(() => desk[Symbol.asyncDispose]());

async function client(claims: object = {}, options: Parameters<typeof connect>[2] = {}): Promise<Client> {
  const opened = await connect(desk, await desk.token(claims), options);
  clients.push(opened);
  return opened;
}

test.each(['2025', '2026'] as const)(
  'API-03.24 resources of the program are listed and read, protocol of %s',
  async (era) => {
    const reader = await client({ user_did: 'did:user:u' }, { era });
    const { resources } = await reader.listResources();
    expect(resources).toEqual([
      { uri: 'note://a', name: 'a', mimeType: 'text/plain' },
      { uri: 'note://raw', name: 'raw' },
    ]);
    expect((await reader.listResourceTemplates()).resourceTemplates).toEqual([
      { uriTemplate: 'page://{n}', name: 'page' },
    ]);
    expect(await read(reader, 'note://a')).toBe('A note.');
    expect((await reader.readResource({ uri: 'note://raw' })).contents).toMatchObject([{ blob: 'AQI=' }]);
    expect(await read(reader, 'page://7')).toBe('page://7 for did:user:u');
    await expect(reader.readResource({ uri: 'none://a' })).rejects.toThrow('There is no such resource.');
  },
);

test('API-03.24 prompts of the program keep their names, and their arguments are checked and completed', async () => {
  const asker = await client();
  const listed = { name: 'greet', description: 'Greets.', arguments: [{ name: 'who', required: true }] };
  expect((await asker.listPrompts()).prompts).toEqual([listed]);
  const { messages } = await asker.getPrompt({ name: 'greet', arguments: { who: 'Ada' } });
  expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'Say hello to Ada.' } }]);
  await expect(asker.getPrompt({ name: 'greet' })).rejects.toMatchObject({
    code: -32602,
    message: expect.stringContaining('who'),
  });
  await expect(asker.getPrompt({ name: 'none' })).rejects.toMatchObject({ code: -32602 });
  const ref = { type: 'ref/resource' as const, uri: 'page://{n}' };
  const { completion } = await asker.complete({ ref, argument: { name: 'n', value: '1' } });
  expect(completion).toMatchObject({ total: 150, hasMore: true });
  expect(completion.values).toHaveLength(100);
});

test('API-03.17 API-03.24 a token that does not grant the tool sees no resource, and each read is on record', async () => {
  const other = await client({ tool_id: 'program__prompts-get' });
  expect((await other.listResources()).resources).toEqual([]);
  await expect(other.readResource({ uri: 'note://a' })).rejects.toThrow();
  expect((await other.listPrompts()).prompts).toHaveLength(1);
  const reader = await client({ agent_did: 'did:agent:read', tool_id: READ });
  await read(reader, 'note://a');
  const { invocations } = await desk.layer.ask('invocations.list', { agent_did: 'did:agent:read' }, LOCAL_CALLER);
  expect(invocations).toMatchObject([{ tool_id: READ, state: 'COMPLETED' }]);
});

test('API-03.24 a policy that forbids the tool forbids the prompts', async () => {
  const barred = await client({ agent_did: 'did:agent:barred' });
  await expect(barred.getPrompt({ name: 'greet', arguments: { who: 'Ada' } })).rejects.toThrow();
});

test('API-03.21 API-03.24 clients that watch a resource of the program are notified of its changes', async () => {
  const watcher = await client();
  const updated: string[] = [];
  watcher.setNotificationHandler('notifications/resources/updated', ({ params }) => void updated.push(params.uri));
  await watcher.subscribeResource({ uri: 'note://a' });
  note.updated();
  await expect.poll(() => updated).toEqual(['note://a']);
});

test('API-03.18 API-03.24 an upstream takes over no address of the program, and not its name', async () => {
  await addServer(desk, 'notes', { resources: [{ uri: 'note://a', name: 'theirs' }] });
  const reader = await client();
  const uris = (await reader.listResources()).resources.map(({ uri }) => uri);
  expect(uris).toContain('sallyport://servers/program/note://a');
  expect(await read(reader, 'sallyport://servers/program/note://a')).toBe('A note.');
  await expect(addServer(desk, 'program', {})).rejects.toMatchObject({ code: 'E3801' });
  const alone = await client({}, { path: '/mcp/servers/program' });
  expect(await read(alone, 'note://a')).toBe('A note.');
});

test('API-03.24 what is offered already is refused, and what is disposed is gone', async () => {
  const twice = { uri: 'note://twice', name: 'twice', read: () => 'x' };
  const first = await desk.layer.registerResource(twice);
  await expect(desk.layer.registerResource(twice)).rejects.toMatchObject({ code: 'E3007' });
  const odd = { name: 'a__b', get: () => 'x' };
  await expect(desk.layer.registerPrompt(odd)).rejects.toMatchObject({ code: 'E3801' });
  first[Symbol.dispose]();
  const reader = await client();
  expect((await reader.listResources()).resources.map(({ uri }) => uri)).not.toContain(twice.uri);
});

test('API-03.24 a layer is made with its resources and prompts, and refuses two of one name', async () => {
  const { layer, ...open } = await openLayer({}, {}, 0, { resources: [{ uri: 'a://a', name: 'a', read: () => 'A' }] });
  const { capability_token } = await layer.mintToken({});
  const { offers } = await layer.ask(
    'offers.list',
    { list: 'resources' },
    { door: 'library', token: capability_token },
  );
  expect(offers).toMatchObject([{ upstream: 'program', listed: { uri: 'a://a' }, tools: { 'resources/read': READ } }]);
  await open[Symbol.asyncDispose]();
  const prompt = { name: 'p', get: () => 'x' };
  await expect(openLayer({}, {}, 0, { prompts: [prompt, prompt] })).rejects.toMatchObject({ code: 'E3007' });
});
