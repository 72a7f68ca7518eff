import type { Client } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Desk, openDesk } from '../../calls/desk.fixture.ts';
import { addServer, type ClientOptions, connect, read } from './offers.fixture.ts';

const UI = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } } };
const VIEW = { uri: 'ui://view/main.html', name: 'view', mimeType: 'text/html;profile=mcp-app' };
const CSP = { connectDomains: ['https://a.example'] };

let desk: Desk;
const clients: Client[] = [];

beforeAll(async () => {
  desk = await openDesk();
  await addServer(desk, 'one', { apps: true, resources: [VIEW] });
  await addServer(desk, 'two', { apps: true, resources: [VIEW] });
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});
afterAll(() => desk[Symbol.asyncDispose]());

async function client(options: ClientOptions): Promise<Client> {
  const made = await connect(desk, await desk.token(), options);
  clients.push(made);
  return made;
}

const listed = async (from: Client, name: string) => (await from.listTools()).tools.find((tool) => tool.name === name);

describe.each(['2025', '2026'] as const)('through the gateway, protocol of %s', (era) => {
  test('API-03.22 a tool leads to its own user interface, also where two servers have one of the same URI', async () => {
    const all = await client({ era, capabilities: UI });
    expect(all.getServerCapabilities()).toMatchObject(UI);
    const uri = 'ui://sallyport/one/ui://view/main.html';
    expect((await listed(all, 'one__view'))?._meta).toEqual({ ui: { resourceUri: uri, csp: CSP }, other: 1 });
    expect(await read(all, uri)).toBe('one has ui://view/main.html');
    const own = await client({ era, path: '/mcp/servers/two', capabilities: UI });
    expect((await listed(own, 'view'))?._meta).toEqual({ ui: { resourceUri: VIEW.uri, csp: CSP }, other: 1 });
    expect(await read(own, VIEW.uri)).toBe('two has ui://view/main.html');
  });

  test('API-03.22 a tool that only an interface calls is listed to clients that show interfaces, and to no other', async () => {
    const shows = await client({ era, path: '/mcp/servers/one', capabilities: UI });
    expect((await listed(shows, 'help'))?._meta).toEqual({ ui: { visibility: ['app'] } });
    const plain = await client({ era, path: '/mcp/servers/one' });
    expect(await listed(plain, 'help')).toBeUndefined();
    expect(await listed(plain, 'view')).toBeDefined();
    expect((await shows.callTool({ name: 'help', arguments: {} })).content).toEqual([
      { type: 'text', text: '"helped"' },
    ]);
  });

  test('API-03.23 what a client says in _meta reaches the server, and what the server says the client', async () => {
    const one = await client({ era, path: '/mcp/servers/one' });
    const reserved = {
      'io.modelcontextprotocol/related-task': { taskId: 't' },
      traceparent: 'x',
      'sallyport/phase': 'executor',
    };
    const _meta = { 'example.com/user': { locale: 'de' }, plain: 1, ...reserved };
    const answer = await one.callTool({ name: 'seen', arguments: {}, _meta });
    const [block] = answer.content as { text: string }[];
    expect(JSON.parse(String(block?.text))).toEqual({
      'example.com/user': { locale: 'de' },
      plain: 1,
      progressToken: expect.any(Number),
    });
    expect(answer._meta).toMatchObject({ 'example.com/result': 1, invocation_id: expect.any(String) });
    const large = { 'example.com/large': 'x'.repeat(20_000) };
    await expect(one.callTool({ name: 'seen', arguments: {}, _meta: large })).rejects.toMatchObject({ code: -32602 });
  });
});

test('API-03.22 what only an interface calls is found by no meta-tool', async () => {
  const meta = await client({ path: '/mcp?tools=meta' });
  const found = async (query: string) =>
    JSON.stringify((await meta.callTool({ name: 'find_tools', arguments: { query, limit: 50 } })).structuredContent);
  expect(await found('Shows something')).toContain('"one__view"');
  expect(await found('Helps the view')).not.toContain('one__help');
  expect(await found('Reads a resource of this MCP server')).not.toContain('resources-read');
});
