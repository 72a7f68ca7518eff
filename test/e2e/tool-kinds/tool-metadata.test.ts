import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import { DOUBLE, double, type OpenLayer, openLayer, post } from '../layer.fixture.ts';

type Tool = Record<string, unknown> & { readonly name: string };

const fileOf = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const CHANGING = fileOf('packages/sallyport/src/mcp-servers/test-servers/changing-server.mjs');
const PACKAGES = 'node_modules/@modelcontextprotocol';
const EVERYTHING = fileOf(`${PACKAGES}/server-everything/dist/index.js`);
const FILES = fileOf(`${PACKAGES}/server-filesystem/dist/index.js`);

/** A tool with every member that MCP defines for a tool. */
const RICH: Tool = {
  name: 'rich',
  title: 'Rich in words',
  description: 'Says everything of itself.',
  inputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { of: { type: 'string', description: 'What.', examples: ['it'], 'x-own': { kept: true } } },
    required: ['of'],
    additionalProperties: false,
  },
  outputSchema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { node: { $ref: '#/$defs/node' } },
    $defs: { node: { type: 'object' } },
  },
  annotations: { title: 'Another title', readOnlyHint: true, destructiveHint: false, 'example.com/own': { deep: [1] } },
  icons: [
    { src: 'https://example.com/icon.png', mimeType: 'image/png', sizes: ['48x48'], theme: 'dark' },
    { src: `data:image/png;base64,${'A'.repeat(180_000)}` },
  ],
  _meta: { 'example.com/ui': { resource: 'ui://panel' }, plain: [1, null, 'x'] },
  execution: { taskSupport: 'forbidden' },
};
/** A tool with only the members that MCP requires. */
const BARE: Tool = { name: 'bare', inputSchema: { type: 'object' } };
/** A tool with members of wrong types, and an icon whose address may run a script. */
const ODD: Tool = {
  name: 'odd',
  inputSchema: { type: 'object' },
  annotations: { readOnlyHint: 'yes', openWorldHint: false, title: 7 },
  icons: [{ src: 'javascript:alert(1)' }, 7, { src: 'https://example.com/a.svg', sizes: '48x48' }],
  _meta: 'none',
  execution: { taskSupport: 'required' },
};
/** A tool whose result is a list, which only the newer protocol allows. */
const LISTING: Tool = {
  name: 'listing',
  description: 'Lists.',
  inputSchema: { type: 'object' },
  outputSchema: { type: 'array', items: { type: 'string' } },
};

let open: OpenLayer;
let place: string;
/** Token of an agent, which has no role. */
let agent: string;
const clients: Client[] = [];

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'tool-metadata-'));
  const state = join(place, 'state.json');
  await writeFile(state, JSON.stringify({ version: '1.0.0', tools: [RICH, BARE, ODD, LISTING] }));
  open = await openLayer();
  await open.layer.registerFunction({ ...DOUBLE, result_schema: { type: 'object' } }, double);
  await add('up', [CHANGING, 'stdio', state], [{ path: place, mode: 'rw' }]);
  await add('everything', [EVERYTHING, 'stdio']);
  await add('files', [FILES, place], [{ path: place, mode: 'rw' }]);
  ({ capability_token: agent } = await open.layer.mintToken({ agent_did: 'did:example:a', user_did: 'did:example:u' }));
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await rm(place, { recursive: true, force: true });
});

type Mounts = readonly { readonly path: string; readonly mode: 'ro' | 'rw' }[];

async function add(name: string, args: readonly string[], mounts: Mounts = []): Promise<void> {
  const transport = { type: 'stdio' as const, command: 'node', args: [...args], mounts: [...mounts] };
  const added = await open.layer.ask('upstreams.add', { upstream: { name, transport } }, LOCAL_CALLER);
  expect(added.registrations.map(({ outcome }) => outcome)).not.toContain('refused');
}

/** The tools of an upstream as the gateway lists them, unchanged, by the names that the upstream gives to them. */
async function listed(upstream: string, era: 'legacy' | 'modern', token = agent): Promise<ReadonlyMap<string, Tool>> {
  const version = '2026-07-28';
  const meta = { 'io.modelcontextprotocol/protocolVersion': version, 'io.modelcontextprotocol/clientCapabilities': {} };
  const session: Record<string, string> = era === 'modern' ? {} : await openSession(token);
  const headers = era === 'modern' ? { 'mcp-protocol-version': version, 'mcp-method': 'tools/list' } : session;
  const params = era === 'modern' ? { _meta: meta } : {};
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params });
  const answer = await post({ ...open, token }, '/mcp', body, { ...BOTH, ...headers });
  const { tools } = answer.body['result'] as { tools: Tool[] };
  const own = tools.filter(({ name }) => name.startsWith(`${upstream}__`));
  return new Map(own.map((tool) => [tool.name.slice(upstream.length + 2), tool]));
}

/** The layer runs a call as a task where its server does not. 2026-07-28 has no such member. */
const asTask = (taskSupport: string, era: string) => (era === 'legacy' ? { execution: { taskSupport } } : {});

const BOTH = { accept: 'application/json, text/event-stream' };

async function openSession(token: string): Promise<Record<string, string>> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } };
  const response = await fetch(`${open.server.url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...BOTH },
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
  });
  return { 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' };
}

async function connect(token: string, query = ''): Promise<Client> {
  const client = new Client({ name: 'metadata', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  clients.push(client);
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${open.server.url}/mcp${query}`), { requestInit }));
  return client;
}

/** The tools that a server lists to a client that connects to the server directly. */
async function direct(...args: readonly string[]): Promise<readonly Tool[]> {
  const client = new Client({ name: 'direct', version: '1.0.0' });
  clients.push(client);
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [...args], stderr: 'ignore' }));
  return (await client.listTools()).tools as unknown as Tool[];
}

describe.each(['legacy', 'modern'] as const)("a list for an agent's own token, %s era", (era) => {
  test('EXE-07 a tool says of itself what its server says, member for member', async () => {
    const tools = await listed('up', era);
    const { execution, ...rich } = RICH;
    expect(execution).toEqual({ taskSupport: 'forbidden' });
    expect(tools.get('rich')).toEqual({ ...rich, ...asTask('optional', era), name: 'up__rich' });
    expect(tools.get('bare')).toEqual({ ...BARE, ...asTask('optional', era), name: 'up__bare' });
  });

  test('EXE-07 members of wrong types and unsafe addresses are left out, the rest stays', async () => {
    const odd = (await listed('up', era)).get('odd');
    const rest = { name: 'up__odd', inputSchema: { type: 'object' }, annotations: { openWorldHint: false } };
    expect(odd).toEqual({ ...rest, ...asTask('required', era) });
  });

  test('EXE-07 an output schema that is none of objects is told where the protocol knows it', async () => {
    const tool = (await listed('up', era)).get('listing');
    expect(tool?.['outputSchema']).toEqual(era === 'modern' ? LISTING['outputSchema'] : undefined);
  });

  test('EXE-07 the tools of real servers are listed as the servers list them', async () => {
    for (const [upstream, args] of [
      ['everything', [EVERYTHING, 'stdio']],
      ['files', [FILES, place]],
    ] as const) {
      const tools = await listed(upstream, era);
      const given = await direct(...args);
      expect(given.length).toBeGreaterThan(5);
      for (const tool of given) {
        const { execution, ...rest } = tool;
        const isRequired = (execution as Tool | undefined)?.['taskSupport'] === 'required';
        const support = asTask(isRequired ? 'required' : 'optional', era);
        const expected = { ...rest, ...support, name: `${upstream}__${tool.name}` };
        expect(tools.get(tool.name)).toEqual(expected);
      }
    }
  });

  test('REG-09 agents see of a tool what those who keep it see: its server, its name there and its listing', async () => {
    const { capability_token: viewer } = await open.layer.mintToken({ roles: ['viewer'] });
    expect(await listed('up', era, viewer)).toEqual(await listed('up', era));
    for (const token of [agent, viewer]) {
      const { manifest } = await open.layer.ask('tools.get', { tool_id: 'up__rich' }, { door: 'rest', token });
      const reached = { upstream: 'up', tool: 'rich' };
      const { name: _name, description: _description, inputSchema: _input, outputSchema, ...said } = RICH;
      expect(manifest.executor).toEqual({ kind: 'mcp', config: { ...said, output_schema: outputSchema, ...reached } });
    }
  });
});

test('MOD-11 describe_tool tells what the list would have told a model', async () => {
  const client = await connect(agent, '?tools=meta');
  const described = await client.callTool({ name: 'describe_tool', arguments: { name: 'up__rich' } });
  expect(described.structuredContent).toMatchObject({
    title: RICH['title'],
    description: RICH['description'],
    input_schema: RICH['inputSchema'],
    output_schema: RICH['outputSchema'],
    annotations: RICH['annotations'],
    _meta: RICH['_meta'],
  });
  const bare = await client.callTool({ name: 'describe_tool', arguments: { name: 'up__bare' } });
  expect(bare.structuredContent).toMatchObject({ description: 'bare' });
});

test('API-01 a tool of the layer itself tells title, schema of the result and hints from its manifest', async () => {
  const { tools } = await (await connect(agent)).listTools();
  expect(tools.find(({ name }) => name === 'double')).toEqual({
    name: 'double',
    title: 'Double',
    description: 'Doubles a number.',
    inputSchema: DOUBLE.parameters_schema,
    outputSchema: { type: 'object' },
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  });
});
