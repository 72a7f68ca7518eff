import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import Schema from 'typebox/schema';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ToolManifest } from '../../../packages/sallyport/api/schemas/tool-manifest.ts';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import { type OpenLayer, openLayer, post } from '../layer.fixture.ts';

const SERVER = fileURLToPath(
  new URL('../../../packages/sallyport/src/mcp-servers/test-servers/changing-server.mjs', import.meta.url),
);
/** What the providers of language models accept as the name of a property, and of a function. */
const PROPERTY = /^[a-zA-Z0-9_.-]{1,64}$/;
const FUNCTION = /^[a-zA-Z0-9_-]{1,48}$/;
const long = `options.${'very-'.repeat(14)}long`;

const seen: { url: string; type: string | undefined; body: string }[] = [];
const service = createServer(async (request, response) => {
  let body = '';
  for await (const part of request) body += String(part);
  seen.push({ url: request.url ?? '', type: request.headers['content-type'], body });
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
});

const filter = {
  type: 'object',
  properties: {
    'name[eq]': { type: 'string' },
    größe: { type: 'integer' },
    or: { $ref: '#/components/schemas/Filter' },
  },
  required: ['name[eq]'],
  additionalProperties: false,
};
const json = (schema: object) => ({ required: true, content: { 'application/json': { schema } } });
const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Shop', version: '1.0.0' },
  components: { schemas: { Filter: filter } },
  paths: {
    '/items': {
      get: {
        operationId: 'list',
        parameters: [
          { name: 'filter[name]', in: 'query', required: true, schema: { type: 'string' } },
          { name: '$top', in: 'query', schema: { type: 'integer' } },
          { name: 'X-Very/Odd', in: 'query', schema: { type: 'string' } },
          { name: 'deep', in: 'query', style: 'deepObject', schema: { $ref: '#/components/schemas/Filter' } },
        ],
      },
      post: {
        operationId: `find_items_by_everything_that_can_be_said_of_them`,
        requestBody: json({
          type: 'object',
          properties: {
            filters: { type: 'array', items: { $ref: '#/components/schemas/Filter' } },
            [long]: { type: 'boolean' },
            labels: { type: 'object', additionalProperties: { type: 'string' } },
          },
        }),
      },
    },
    '/form': {
      post: {
        operationId: 'form',
        requestBody: {
          content: {
            'application/x-www-form-urlencoded': {
              schema: { type: 'object', properties: { 'item[id]': { type: 'array', items: { type: 'string' } } } },
              encoding: { 'item[id]': { style: 'spaceDelimited', explode: false } },
            },
          },
        },
      },
    },
  },
};

let open: OpenLayer;
let folder: string;
let client: Client;
let port: number;
const known: Record<string, unknown>[] = [];

beforeAll(async () => {
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  port = (service.address() as AddressInfo).port;
  folder = await mkdtemp(join(tmpdir(), 'property-names-'));
  open = await openLayer({ 'agent.allowed_hosts': ['127.0.0.1'] });
  const { layer } = open;
  const document = JSON.stringify({ ...DOCUMENT, servers: [{ url: `http://127.0.0.1:${port}` }] });
  await layer.ask('tools.import-openapi', { document }, LOCAL_CALLER);
  const state = join(folder, 'state.json');
  const inputSchema = {
    type: 'object',
    properties: {
      '@type': { type: 'string' },
      at: { type: 'array', items: { type: 'object', properties: { 'x y': {} } } },
    },
    required: ['@type'],
  };
  await writeFile(
    state,
    JSON.stringify({
      version: '1.0.0',
      tools: [
        { name: 'echo', inputSchema },
        { name: 'a.b', inputSchema: { type: 'object' } },
      ],
    }),
  );
  const transport = {
    ...{ type: 'stdio' as const, command: 'node', args: [SERVER, 'stdio', state] },
    mounts: [{ path: folder, mode: 'rw' as const }],
  };
  await layer.ask('upstreams.add', { upstream: { name: 'odd', transport } }, LOCAL_CALLER);
  await layer.registerLangChainTools([
    {
      name: 'chained',
      description: 'Remembers what it was given.',
      schema: z.object({ 'odd name': z.string().refine((text) => text !== 'no', 'is not wanted') }),
      invoke: (input: Record<string, unknown>) => {
        known.push(input);
        return 'done';
      },
    },
  ]);
  await layer.registerFunction(
    {
      name: 'measured',
      description: 'Judges by its own schema.',
      input: z.object({ deep: z.object({ 'per cent %': z.number().refine((part) => part <= 100, 'is too much') }) }),
      sideEffect: 'pure',
    },
    ({ deep }) => deep,
  );
  const { capability_token } = await layer.mintToken({ hosts: ['127.0.0.1'], ports: [port] });
  open = { ...open, token: capability_token };
  const requestInit = { headers: { Authorization: `Bearer ${capability_token}` } };
  client = new Client({ name: 'names', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${open.server.url}/mcp`), { requestInit }));
});
afterAll(async () => {
  await client.close();
  await open[Symbol.asyncDispose]();
  service.closeAllConnections();
  service.close();
  await rm(folder, { recursive: true, force: true });
});

const call = async (tool_id: string, parameters: object) =>
  (await post(open, '/v1/invocations', JSON.stringify({ tool_id, parameters }))).body;
const sent = async (tool_id: string, parameters: object) => {
  seen.length = 0;
  expect(await call(tool_id, parameters)).toMatchObject({ status: 'success' });
  expect(seen).toHaveLength(1);
  return seen[0];
};

/** Names of properties in a schema, at every depth. */
function names(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([keyword, value]) => [
    ...(keyword === 'properties' ? Object.keys(Object(value)) : []),
    ...names(value),
  ]);
}

test('REG-02 every name that a client lists is one that the providers of models take', async () => {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['shop__list', 'shop__form', 'odd__echo', 'odd__a_b', 'langchain__chained', 'measured']),
  );
  for (const { name, inputSchema } of tools) {
    expect(name).toMatch(FUNCTION);
    for (const property of names(inputSchema)) expect(property, name).toMatch(PROPERTY);
  }
  const list = tools.find(({ name }) => name === 'shop__list');
  expect(list?.inputSchema.properties).toMatchObject({
    filter_name: { description: 'Called "filter[name]" in the original.' },
    top: { description: 'Called "$top" in the original.' },
    'X-Very_Odd': { description: 'Called "X-Very/Odd" in the original.' },
  });
  expect(list?.inputSchema.required).toEqual(['filter_name']);
});

describe('the call goes out under the original names', () => {
  test('EXE-06 in the query, below it, in JSON at every depth, and in a form', async () => {
    const listed = { filter_name: 'a b', top: 3, 'X-Very_Odd': 'y', deep: { name_eq: 'n', or: { name_eq: 'm' } } };
    expect((await sent('shop__list', listed))?.url).toBe(
      '/items?filter%5Bname%5D=a%20b&%24top=3&X-Very%2FOdd=y&deep[name%5Beq%5D]=n&deep[or][name%5Beq%5D]=m',
    );
    const { tools } = await client.listTools();
    const find = tools.find(({ name }) => name.startsWith('shop__find_items'));
    const body = names(find?.inputSchema);
    const cut = body.find((name) => name.startsWith('options.')) ?? '';
    // Properties that the schema does not declare are data, so their names stay as they are.
    const labels = { name_eq: 'kept', 'any name': 'kept' };
    const filters = [{ name_eq: 'n', gro_e: 2, or: { name_eq: 'm' } }];
    const request = await sent(find?.name ?? '', { body: { filters, [cut]: true, labels } });
    expect(JSON.parse(request?.body ?? '')).toEqual({
      filters: [{ 'name[eq]': 'n', größe: 2, or: { 'name[eq]': 'm' } }],
      [long]: true,
      labels,
    });
    expect((await sent('shop__form', { body: { item_id: ['1', '2'] } }))?.body).toBe('item%5Bid%5D=1%202');
  });

  test('EXE-07 to an MCP server, from any client', async () => {
    const given = { type: 'x', at: [{ x_y: 1 }] };
    const answer = await client.callTool({ name: 'odd__echo', arguments: given });
    expect(answer.content).toEqual([{ type: 'text', text: '{"@type":"x","at":[{"x y":1}]}' }]);
  });

  test('REG-02 to a function of a program', async () => {
    expect(await call('langchain__chained', { odd_name: 'yes' })).toMatchObject({ status: 'success' });
    expect(known).toEqual([{ 'odd name': 'yes' }]);
    expect(await call('measured', { deep: { per_cent: 7 } })).toMatchObject({ result: { 'per cent %': 7 } });
  });
});

describe('faults are told in the names that the caller knows', () => {
  test('VAL-01 by the layer', async () => {
    const answer = await call('odd__echo', { at: [] });
    expect(answer).toMatchObject({ error: { details: { faults: [{ path: '/type', keyword: 'required' }] } } });
  });

  test('VAL-01 by the library of a function', async () => {
    expect(await call('measured', { deep: { per_cent: 101 } })).toMatchObject({
      error: {
        e_code: 'E3509',
        message: expect.stringContaining('/deep/per_cent'),
        details: { faults: [{ path: '/deep/per_cent', message: 'is too much' }] },
      },
    });
  });
});

test('REG-02 a tool that is registered under a longer id keeps it at the next import', async () => {
  const { layer } = open;
  const { tools } = await client.listTools();
  const short = tools.find(({ name }) => name.startsWith('shop__find_items'))?.name ?? '';
  const { manifest } = await layer.ask('tools.get', { tool_id: short }, LOCAL_CALLER);
  const former = 'shop__find_items_by_everything_that_can_be_said_of_them';
  expect([short.length, former.length]).toEqual([48, 55]);
  await layer.ask('tools.register', { manifest: { ...manifest, tool_id: former } }, LOCAL_CALLER);
  const document = JSON.stringify({ ...DOCUMENT, servers: [{ url: `http://127.0.0.1:${port}` }] });
  const { registrations, missing } = await layer.ask('tools.import-openapi', { document }, LOCAL_CALLER);
  expect(registrations.map(({ tool_id, outcome }) => `${outcome} ${tool_id}`)).toEqual([
    'unchanged shop__list',
    `unchanged ${former}`,
    'unchanged shop__form',
  ]);
  expect(missing).toEqual([short]);
});

test('REG-01.1 a tool has one type of manifest, whichever source it came from', async () => {
  const { layer } = open;
  const files = [{ path: 'SKILL.md', content: '---\nname: notes\ndescription: Takes notes.\n---\n' }];
  await layer.ask('tools.import-skill', { files }, LOCAL_CALLER);
  const check = Schema.Compile(ToolManifest);
  const kinds = new Map<string, string>();
  for (const tool_id of ['shop__list', 'odd__echo', 'langchain__chained', 'measured', 'skill__notes']) {
    const { manifest } = await layer.ask('tools.get', { tool_id }, LOCAL_CALLER);
    expect([tool_id, check.Check(manifest)]).toEqual([tool_id, true]);
    kinds.set(tool_id, manifest.executor.kind);
  }
  expect([...kinds.values()]).toEqual(['http', 'mcp', 'native', 'native', 'skill']);
});
