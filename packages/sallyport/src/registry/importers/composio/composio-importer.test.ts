import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importComposioTools } from './composio-importer.ts';
import { listComposioTools } from './list-tools.ts';

const tool = (slug: string, more: object = {}): Record<string, unknown> => ({
  slug,
  name: 'Create an issue',
  description: 'Creates an issue.',
  toolkit: { slug: 'github', name: 'GitHub', logo: 'https://example.org/logo' },
  input_parameters: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] },
  output_parameters: {},
  no_auth: false,
  available_versions: ['20250905_01'],
  version: '20250905_01',
  scopes: [],
  tags: ['issues', 'readOnlyHint'],
  is_deprecated: false,
  ...more,
});

describe('EXE-08 tools of Composio become manifests', () => {
  test('with what it takes to call them', () => {
    const { manifests, skipped, source } = importComposioTools([tool('GITHUB_CREATE_AN_ISSUE')]);
    expect([source, skipped]).toEqual(['composio', []]);
    expect(manifests).toEqual([
      {
        tool_id: 'composio__GITHUB_CREATE_AN_ISSUE',
        tool_name: 'Create an issue',
        version: '20250905.1.0',
        description: 'Creates an issue.',
        category: 'external_api',
        tags: ['composio', 'github', 'read-only-claimed', 'issues', 'readOnlyHint'],
        parameters_schema: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] },
        side_effect_policy: 'irreversible',
        permissions: { network: [{ host: 'backend.composio.dev', port: 443 }], credentials: ['composio_api_key'] },
        executor: {
          kind: 'composio',
          config: {
            tool: 'GITHUB_CREATE_AN_ISSUE',
            version: '20250905_01',
            base_url: 'https://backend.composio.dev/api/v3',
            secret: 'composio_api_key',
            user_from: 'agent',
          },
        },
      },
    ]);
  });

  test.each<[object, object, object]>([
    [{ userId: 'u' }, {}, { user_id: 'u' }],
    [{ connectedAccountId: 'ca_1' }, {}, { connected_account_id: 'ca_1' }],
    [{ userFrom: 'tenant', connectedAccountId: 'ca_1' }, {}, { user_from: 'tenant', connected_account_id: 'ca_1' }],
    [{ userId: 'u' }, { no_auth: true }, { no_auth: true }],
  ])('the account of %j is used', (source, more, account) => {
    const [manifest] = importComposioTools([tool('A', { version: undefined, ...more })], source).manifests;
    const { tool: _, base_url: __, secret: ___, ...rest } = manifest?.executor.config ?? {};
    expect(rest).toEqual(account);
  });

  test('parameters in the form of the documentation become a schema', () => {
    const parameters = { repo: { type: 'string', required: true }, page: { type: 'number', required: false } };
    const [manifest] = importComposioTools([tool('A', { input_parameters: parameters })]).manifests;
    expect(manifest?.parameters_schema).toEqual({
      type: 'object',
      properties: { repo: { type: 'string' }, page: { type: 'number' } },
      required: ['repo'],
    });
  });

  const ID = { type: 'integer' };
  const DATA = { type: 'object', properties: { id: ID }, required: ['id'] };
  const whole = (data: unknown, more: object = {}) => ({
    type: 'object',
    properties: { data, successful: { type: 'boolean' }, error: { type: 'string' } },
    ...more,
  });
  test.each<[string, unknown, object | undefined]>([
    ['the data', DATA, DATA],
    ['the data of a whole answer', whole(DATA), DATA],
    ['the same in the older spelling', { properties: { data: DATA, successfull: {} } }, DATA],
    [
      'data with what its references lead to',
      whole({ $ref: '#/$defs/D' }, { $defs: { D: DATA } }),
      { $defs: { D: DATA }, $ref: '#/$defs/D' },
    ],
    [
      'data that is called data',
      { type: 'object', properties: { data: ID } },
      { type: 'object', properties: { data: ID } },
    ],
    ['nothing', {}, undefined],
    ['an empty object', { type: 'object', properties: {} }, undefined],
    ['an answer without a word on its data', whole({}), undefined],
    ['a reference into what is left out', whole({ $ref: '#/properties/error' }), undefined],
    ['a reference to nothing', { properties: { id: { $ref: '#/$defs/Nothing' } } }, undefined],
    ['a reference elsewhere', { properties: { id: { $ref: 'https://elsewhere.example/x' } } }, undefined],
    ['a text', 'object', undefined],
  ])('the schema of its result is %s', (_name, output_parameters, schema) => {
    const [manifest] = importComposioTools([tool('A', { output_parameters })]).manifests;
    expect(manifest?.result_schema).toEqual(schema);
  });

  test('what is no tool is skipped with its reason', () => {
    const given = [
      null,
      tool('../admin'),
      tool('A', { is_deprecated: true }),
      tool('B', { input_parameters: [] }),
      tool('C'),
      tool('C'),
      JSON.parse('{"slug": "D", "input_parameters": {"__proto__": {}}}'),
    ];
    const { manifests, skipped } = importComposioTools(given);
    expect(manifests.map(({ tool_id }) => tool_id)).toEqual(['composio__C']);
    expect(skipped.map(({ reason }) => reason)).toEqual([
      'it is no object',
      'its slug is no name that an address can hold',
      'Composio calls it deprecated',
      'its input_parameters are no object',
      'The id composio__C belongs to the tool "C" of the same list.',
      expect.stringContaining('__proto__'),
    ]);
  });
});

describe('EXE-08 the list of Composio', () => {
  const seen: IncomingMessage[] = [];
  let reply: (url: URL) => { status?: number; headers?: Record<string, string>; body: string } = () => ({ body: '{}' });
  const server = createServer((request, response) => {
    seen.push(request);
    const { status = 200, headers = {}, body } = reply(new URL(request.url ?? '', 'http://x'));
    response.writeHead(status, headers).end(body);
  });
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  afterAll(() => new Promise((resolve) => server.close(resolve)));
  const list = (more: object = {}): Promise<readonly unknown[]> =>
    listComposioTools({
      fetch,
      apiKey: 'the-api-key',
      baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v3`,
      signal: AbortSignal.timeout(10_000),
      ...more,
    });

  test('is read page by page, with the key', async () => {
    seen.length = 0;
    reply = ({ searchParams }) => ({
      body: JSON.stringify(
        searchParams.get('cursor') === 'two' ? { items: [2], next_cursor: null } : { items: [1], next_cursor: 'two' },
      ),
    });
    expect(await list({ toolkit: 'github', slugs: ['A', 'B'], search: 'an issue' })).toEqual([1, 2]);
    expect(seen.map(({ headers }) => headers['x-api-key'])).toEqual(['the-api-key', 'the-api-key']);
    const { pathname, searchParams } = new URL(seen[0]?.url ?? '', 'http://x');
    expect(pathname).toBe('/api/v3/tools');
    expect(Object.fromEntries(searchParams)).toEqual({
      limit: '200',
      include_deprecated: 'false',
      toolkit_versions: 'latest',
      toolkit_slug: 'github',
      tool_slugs: 'A,B',
      search: 'an issue',
    });
  });

  test('ends although the pages do not', async () => {
    let count = 0;
    reply = () => ({ body: JSON.stringify({ items: [1], next_cursor: `${count++}` }) });
    expect(await list()).toHaveLength(50);
    reply = () => ({ body: JSON.stringify({ items: [1], next_cursor: 'same' }) });
    expect(await list()).toHaveLength(2);
  });

  test.each<[number, string, Record<string, string>, object]>([
    [
      401,
      '{"error":{"message":"Invalid API key the-api-key","code":1,"status":401}}',
      {},
      { code: 'E3307', failure: { details: { status: 401, said: 'Invalid API key [hidden]' } } },
    ],
    [403, 'no', {}, { code: 'E3307' }],
    [429, '{"message":"x"}', { 'retry-after': '7' }, { code: 'E3303', failure: { retryAfterMs: 7000 } }],
    [500, '', {}, { code: 'E3304' }],
    [404, '', {}, { code: 'E3309' }],
    [302, '', { location: '/elsewhere' }, { code: 'E3310' }],
    [200, 'no json', {}, { code: 'E3308' }],
    [200, '{"items":{}}', {}, { code: 'E3308' }],
  ])('%i %j is told by its code', async (status, body, headers, error) => {
    reply = () => ({ status, headers, body });
    await expect(list()).rejects.toMatchObject(error);
  });

  test('the key is taken out of what the service says', async () => {
    reply = () => ({ body: JSON.stringify({ items: [{ description: 'Use the-api-key.' }] }) });
    expect(await list()).toEqual([{ description: 'Use [hidden].' }]);
  });

  test('a page that is too large is not read to its end', async () => {
    reply = () => ({ body: ' '.repeat(17_000_000) });
    await expect(list()).rejects.toMatchObject({ code: 'E3308' });
  });

  test('a service that is not there is E3310, an abort its own reason', async () => {
    await expect(list({ baseUrl: 'http://127.0.0.1:1/api/v3' })).rejects.toMatchObject({ code: 'E3310' });
    const reason = new Error('enough');
    await expect(list({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});
