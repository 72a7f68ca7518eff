import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createToolbox } from '../../../packages/sallyport/src/doors/toolbox/create-toolbox.ts';
import { LOCAL_CALLER, type Settings } from '../../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../../packages/sallyport/src/manifest.ts';
import {
  embeddedDatabases,
  type TestDatabases,
} from '../../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { DOUBLE, double, type OpenLayer, openLayer } from '../layer.fixture.ts';

let databases: TestDatabases;
/** Two instances over one database. */
let first: OpenLayer;
let second: OpenLayer;

/** `write` waits for `read` and `look`, and `always` would. */
const TOOLS: readonly (Partial<ToolManifest> & { readonly tool_id: string })[] = [
  { tool_id: 'look' },
  { tool_id: 'read' },
  { tool_id: 'write', requires: ['read', 'look'] },
  { tool_id: 'always', requires: ['read'] },
  { tool_id: 'report-x' },
  { tool_id: 'report-y', prefers: ['look'] },
  { tool_id: 'report-z', prefers: ['look', 'read'] },
];

beforeAll(async () => {
  databases = await embeddedDatabases(true);
  const connection = await databases.fresh();
  const settings: Partial<Settings> = {
    'database.url': 'url' in connection ? connection.url : '',
    'tenant.catalog': 'default',
    'search.embedder': 'none',
    'visibility.dependency_gates': true,
    'visibility.always_on': ['always'],
  };
  first = await openLayer(settings);
  second = await openLayer(settings);
  for (const { layer } of [first, second]) {
    for (const more of TOOLS)
      await layer.registerFunction({ ...DOUBLE, ...more, description: 'Treats a page.' }, ({ n }) => {
        if (n === 0) throw new Error('no');
        return double({ n });
      });
  }
  for (const { tool_id } of TOOLS)
    await first.layer.ask('availability.set', { tool_id, available: true }, { ...LOCAL_CALLER, tenantId: 'globex' });
});
afterAll(async () => {
  await second?.[Symbol.asyncDispose]();
  await first?.[Symbol.asyncDispose]();
  await databases.close();
});

const HELD = ['always', 'look', 'read', 'report-x', 'report-y', 'report-z'];
const ALL = [...HELD, 'write'];

const mint = async (claims: object, { layer } = first): Promise<string> =>
  (await layer.mintToken(claims)).capability_token;

async function call({ layer }: OpenLayer, tool_id: string, capability_token: string, n = 1): Promise<string> {
  return (await layer.invoke({ tool_id, parameters: { n }, capability_token })).status;
}

/** Names of the tools that are listed over REST. */
async function listed({ server }: OpenLayer, token: string, query = ''): Promise<string[]> {
  const response = await fetch(`${server.url}/v1/tools${query}`, { headers: { authorization: `Bearer ${token}` } });
  const { tools } = (await response.json()) as { tools: { tool_id: string }[] };
  return tools.map(({ tool_id }) => tool_id).sort();
}

/** Asks as an MCP client. */
async function overMcp<T>({ server }: OpenLayer, token: string, ask: (client: Client) => Promise<T>, path = '/mcp') {
  const client = new Client({ name: 'gates', version: '1.0.0' });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url + path), { requestInit }));
  try {
    return await ask(client);
  } finally {
    await client.close();
  }
}

const namesOf = async (client: Client): Promise<string[]> => (await client.listTools()).tools.map(({ name }) => name);

describe('a tool whose requirements did not complete in the session', () => {
  test('MOD-05.1 is in no list that a model is shown, and the lists say why it is missing', async () => {
    const token = await mint({ session_id: 'shown' });
    expect(await listed(first, token)).toEqual(HELD);
    expect(await listed(first, token, '?capability_query=treats+a+page')).toEqual(HELD);
    expect(await overMcp(first, token, namesOf)).toEqual(HELD);
    const found = await overMcp(
      first,
      token,
      (client) => client.callTool({ name: 'find_tools', arguments: { query: 'treats a page' } }),
      '/mcp?tools=meta',
    );
    expect(found.structuredContent).toMatchObject({ total: HELD.length });
    using toolbox = createToolbox({ layer: first.layer, token });
    expect(await toolbox.listAvailable()).toEqual(HELD);
    expect(await toolbox.getUnavailableTools()).toMatchObject([
      { name: 'write', why_unavailable: { code: 'held_back', message: expect.stringContaining('read, look') } },
    ]);
    // The gates order what is shown; rights are for policies.
    expect(await call(first, 'write', token)).toBe('success');
  });

  test('MOD-05.1 is shown as soon as they did, and its clients are notified', async () => {
    const token = await mint({ session_id: 'soon' });
    await overMcp(first, token, async (client) => {
      const changed = Promise.withResolvers<void>();
      client.setNotificationHandler('notifications/tools/list_changed', async () => changed.resolve());
      expect(await namesOf(client)).toEqual(HELD);
      await client.callTool({ name: 'read', arguments: { n: 1 } });
      await client.callTool({ name: 'look', arguments: { n: 1 } });
      await changed.promise;
      await expect.poll(() => namesOf(client)).toEqual(ALL);
    });
  });

  test('MOD-05.6 counts what completed in any instance, and nothing that failed', async () => {
    const [here, there] = [await mint({ session_id: 'any' }), await mint({ session_id: 'any' }, second)];
    expect(await call(first, 'read', here)).toBe('success');
    expect(await call(second, 'look', there, 0)).toBe('error');
    expect(await listed(second, there)).toEqual(HELD);
    expect(await call(second, 'look', there)).toBe('success');
    expect([await listed(first, here), await listed(second, there)]).toEqual([ALL, ALL]);
  });

  test('MOD-05.6 is held back from every other session, agent, user and tenant', async () => {
    const done = { session_id: 'done', agent_did: 'did:agent:a', user_did: 'did:user:u' };
    const token = await mint(done);
    for (const tool of ['read', 'look']) expect(await call(first, tool, token)).toBe('success');
    expect(await listed(first, token)).toEqual(ALL);
    const others = [
      { ...done, session_id: 'other' },
      { ...done, agent_did: 'did:agent:b' },
      { ...done, user_did: 'did:user:v' },
      { ...done, tenant_id: 'globex' },
    ];
    for (const other of others) expect(await listed(first, await mint(other))).toEqual(HELD);
    expect(await listed(first, await mint({ ...done, tenant_id: 'globex', session_id: 'new' }))).toEqual(HELD);
  });
});

test('MOD-05.3 a search ranks tools higher after those that they prefer: 0.15 for each, 0.20 at most', async () => {
  const found = async (session_id: string, instance = first): Promise<Record<string, number>> => {
    const response = await fetch(`${instance.server.url}/v1/tool-search`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await mint({ session_id }, instance)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'report' }),
    });
    const { results } = (await response.json()) as { results: { tool: { tool_id: string }; score: number }[] };
    const least = results.at(-1)?.score ?? 0;
    return Object.fromEntries(results.map(({ tool, score }) => [tool.tool_id, score - least]));
  };
  const equal = { 'report-x': 0, 'report-y': 0, 'report-z': 0 };
  expect(await found('ranked')).toEqual(equal);
  expect(await call(first, 'look', await mint({ session_id: 'ranked' }))).toBe('success');
  const once = await found('ranked');
  expect(once).toMatchObject({ 'report-x': 0, 'report-y': once['report-z'] });
  expect(await call(second, 'read', await mint({ session_id: 'ranked' }, second))).toBe('success');
  const twice = await found('ranked', second);
  expect(Object.keys(twice)).toEqual(['report-z', 'report-y', 'report-x']);
  expect((twice['report-y'] ?? 0) / (twice['report-z'] ?? 0)).toBeCloseTo(0.15 / 0.2);
  expect(await found('another')).toEqual(equal);
});

test('MOD-05 without a session, and for who manages tools, nothing is held back', async () => {
  expect(await listed(first, await mint({}))).toEqual(ALL);
  expect(await listed(first, await mint({ session_id: 's', roles: ['operator'] }))).toEqual(ALL);
});

test('MOD-05.5 a session that is shown nothing else is shown what waits', async () => {
  const token = await mint({ session_id: 'alone', tool_id: 'write' });
  expect(await listed(first, token)).toEqual(['write']);
});
