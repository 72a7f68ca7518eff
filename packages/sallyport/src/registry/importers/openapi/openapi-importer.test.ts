import { describe, expect, test } from 'vitest';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { configOf, load, one, properties } from './documents.fixture.ts';
import { importOpenApi } from './openapi-importer.ts';

describe('one operation', () => {
  test('REG-02.4 REG-02.9 becomes a manifest that says what it is, where it goes and what it may leave behind', async () => {
    const manifest = await one(
      {
        operationId: 'pets.list',
        summary: 'List pets',
        description: 'All of them.',
        tags: ['pets', 'pets'],
        parameters: [{ name: 'limit', in: 'query', description: 'At most so many.', schema: { type: 'integer' } }],
        responses: { 200: { content: { 'application/json': { schema: { type: 'array' } } } } },
      },
      {},
    );
    expect(manifest).toEqual({
      tool_id: 'pet-store__pets_list',
      tool_name: 'List pets',
      version: '1.2.0',
      description: 'List pets\n\nAll of them.',
      category: 'external_api',
      tags: ['pets'],
      parameters_schema: {
        type: 'object',
        properties: { limit: { type: 'integer', description: 'At most so many.' } },
        additionalProperties: false,
      },
      result_schema: {
        type: 'object',
        properties: { status: { type: 'integer' }, headers: { type: 'object' }, body: { type: 'array' } },
        required: ['status'],
      },
      permissions: { network: [{ host: 'api.example.com', port: 443 }] },
      side_effect_policy: 'pure',
      executor: {
        kind: 'http',
        config: {
          base_url: 'https://api.example.com/v1',
          method: 'GET',
          path: '/pets',
          parameters: [{ property: 'limit', name: 'limit', in: 'query', style: 'form', explode: true }],
          accept: 'application/json',
        },
      },
    });
  });

  test.each([
    ['get', 'pure'],
    ['head', 'pure'],
    ['options', 'pure'],
    ['query', 'pure'],
    ['put', 'idempotent'],
    ['delete', 'idempotent'],
    ['post', 'irreversible'],
    ['patch', 'irreversible'],
  ])('%s is %s', async (method, expected) => {
    expect((await one({}, {}, '/pets', method)).side_effect_policy).toBe(expected);
  });

  test('DOC-05.1 keeps the mark of the parameter for documents, which no caller has to give', async () => {
    const schema = { type: 'array', items: { type: 'object' }, 'x-documents': true };
    const { parameters_schema } = await one(
      {
        operationId: 'review',
        parameters: [{ name: 'text', in: 'query', required: true, schema: { type: 'string', 'x-documents': 'yes' } }],
        requestBody: { required: true, content: { 'application/json': { schema } } },
        responses: {},
      },
      {},
      '/reviews',
      'post',
    );
    expect(parameters_schema).toMatchObject({
      properties: { body: schema, text: { type: 'string' } },
      required: ['text'],
    });
    expect(parameters_schema['properties']).not.toHaveProperty(['text', 'x-documents']);
  });

  test('without words of its own is named after its method and path', async () => {
    const manifest = await one({}, {}, '/pets/{petId}/toys');
    expect(manifest).toMatchObject({
      tool_id: 'pet-store__get_pets_petId_toys'.replace('get', 'GET'),
      tool_name: 'GET /pets/{petId}/toys',
    });
    expect(manifest.parameters_schema['required']).toEqual(['petId']);
  });
});

describe('names', () => {
  test('are unique, the same each time, and fit what models take', async () => {
    const long = `get${'VeryLong'.repeat(20)}`;
    const document = {
      paths: Object.fromEntries(
        ['a b', 'a.b', 'a_b', long, `${long}2`].map((operationId, index) => [`/${index}`, { get: { operationId } }]),
      ),
    };
    const ids = (await load(document, { name: 'x' })).manifests.map(({ tool_id }) => tool_id);
    expect(ids.slice(0, 3)).toEqual(['x__a_b', 'x__a_b_2', 'x__a_b_3']);
    expect(new Set(ids).size).toBe(5);
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9][A-Za-z0-9_-]{0,47}$/);
    expect((await load(document, { name: 'x' })).manifests.map(({ tool_id }) => tool_id)).toEqual(ids);
  });

  test('REG-02.4 of namesakes stay with their requests when the document lists them in another order, or more of them', async () => {
    const document = (paths: readonly string[]) => ({
      paths: Object.fromEntries(paths.map((path) => [path, { get: { operationId: 'same' } }])),
    });
    const requests = async (paths: readonly string[], options: Parameters<typeof load>[1] = {}) => {
      const { manifests } = await load(document(paths), { name: 'x', ...options });
      return new Map(manifests.map((manifest) => [manifest.tool_id, `GET ${configOf(manifest).path}`]));
    };
    const first = await requests(['/a', '/b']);
    expect([...first]).toEqual([
      ['x__same', 'GET /a'],
      ['x__same_2', 'GET /b'],
    ]);
    const known = { operationOf: (toolId: string) => first.get(toolId) };
    const again = await requests(['/new', '/b', '/a'], known);
    expect(again).toEqual(new Map([...first, ['x__same_3', 'GET /new']]));
    // An id whose request is gone is free for a namesake: the operation has moved.
    expect(await requests(['/b', '/moved'], known)).toEqual(
      new Map([
        ['x__same_2', 'GET /b'],
        ['x__same', 'GET /moved'],
      ]),
    );
  });

  test('REG-02 stay as an earlier release made them where tools are registered, longer and numbered ones too', async () => {
    const long = `get${'VeryLong'.repeat(20)}`;
    const document = {
      paths: Object.fromEntries(['a', long, long].map((operationId, index) => [`/${index}`, { get: { operationId } }])),
    };
    const former = await load(document, { name: 'x', isRegistered: () => true });
    const ids = former.manifests.map(({ tool_id }) => tool_id);
    expect(ids.map(({ length }) => length)).toEqual([4, 64, 61]);
    expect(ids[2]).toMatch(/_2$/);
    const [, one, other] = (await load(document, { name: 'x', isRegistered: (id) => id === ids[1] })).manifests;
    expect(one?.tool_id).toBe(ids[1]);
    expect(other?.tool_id).toMatch(/^x__getVeryLong.{1,34}_[0-9a-f]{8}$/);
  });

  test.each([
    ['1.2.3', '1.2.3'],
    ['v1', '1.0.0'],
    ['2.0-beta', '2.0.0'],
    ['2021-08-11', '2021.8.11'],
    ['latest', '1.0.0'],
    [7, '7.0.0'],
    [undefined, '1.0.0'],
  ])('the version %s becomes %s', async (version, expected) => {
    expect((await one({}, { info: { title: 'x', version } })).version).toBe(expected);
  });

  test.each([
    ['Übergrößen & Söhne!', 'ubergro-en-sohne'],
    ['', 'api'],
    ['日本', 'api'],
    ['x'.repeat(80), 'x'.repeat(40)],
  ])('the title %j becomes the prefix %s', async (title, expected) => {
    expect((await load({ info: { title }, paths: {} })).source).toBe(expected);
  });
});

describe('parameters', () => {
  test('REG-02 with names that providers refuse are called otherwise, and sent under their own', async () => {
    const long = 'x'.repeat(60);
    const query = (name: string, more: object = {}) => ({ name, in: 'query', schema: { type: 'string' }, ...more });
    const manifest = await one({
      parameters: [
        query('filter[name]', { description: 'Part of it.' }),
        query('$top', { required: true }),
        query('filter_name'),
        { ...query('$top'), in: 'cookie' },
        query(long),
        { ...query(long), in: 'header' },
      ],
    });
    const names = configOf(manifest).parameters?.map(({ property, name }) => [name, property]);
    expect(names).toEqual([
      ['filter[name]', expect.stringMatching(/^filter_name_[0-9a-f]{8}$/)],
      ['$top', 'top'],
      ['filter_name', 'filter_name'],
      ['$top', 'cookie_top'],
      [long, long],
      [long, expect.stringMatching(/^header_x+_[0-9a-f]{8}$/)],
    ]);
    for (const name of Object.keys(properties(manifest))) expect(name).toMatch(/^[a-zA-Z0-9_.-]{1,64}$/);
    expect(manifest.parameters_schema['required']).toEqual(['top']);
    expect(properties(manifest)['top']).toMatchObject({ description: 'Called "$top" in the original.' });
    expect(manifest.executor.property_names).toBeUndefined();
  });

  test('of the path are taken over, and of two that are alike the operation keeps its own', async () => {
    const path = {
      parameters: [
        { name: 'a', in: 'query', schema: { type: 'string' } },
        { name: 'b', in: 'query', schema: {} },
      ],
    };
    const { manifests } = await load({
      paths: { '/x': { ...path, get: { parameters: [{ name: 'a', in: 'query', schema: { type: 'integer' } }] } } },
    });
    expect(properties(manifests[0] as ToolManifest)).toEqual({ a: { type: 'integer' }, b: {} });
  });

  test('REG-02.6 of one name in several places get their place before the name, also beside a body', async () => {
    const places = ['cookie', 'header', 'query', 'path'];
    const manifest = await one(
      {
        parameters: [
          ...places.map((place) => ({ name: 'id', in: place, required: true, schema: {} })),
          { name: 'body', in: 'query', schema: {} },
        ],
        requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } },
      },
      {},
      '/x/{id}',
      'post',
    );
    expect(Object.keys(properties(manifest)).sort()).toEqual([
      'body',
      'cookie_id',
      'header_id',
      'id',
      'query_body',
      'query_id',
    ]);
    const id = configOf(manifest).parameters?.find(({ property }) => property === 'id');
    expect(id?.in).toBe('path');
  });

  test('that belong to the connection are left out, content and styles are kept', async () => {
    const manifest = await one({
      parameters: [
        { name: 'Authorization', in: 'header', schema: { type: 'string' } },
        { name: 'filter', in: 'query', content: { 'application/json': { schema: { type: 'object' } } } },
        {
          name: 'ids',
          in: 'query',
          style: 'pipeDelimited',
          explode: false,
          allowReserved: true,
          schema: { type: 'array' },
        },
      ],
    });
    expect(configOf(manifest).parameters).toEqual([
      { property: 'filter', name: 'filter', in: 'query', style: 'form', explode: true, json: true },
      { property: 'ids', name: 'ids', in: 'query', style: 'pipeDelimited', explode: false, allow_reserved: true },
    ]);
  });
});

test('Swagger 2.0 is read too', async () => {
  const document = {
    swagger: '2.0',
    info: { title: 'Old', version: '1' },
    host: 'api.example.com',
    basePath: '/v2',
    schemes: ['http', 'https'],
    consumes: ['application/json'],
    securityDefinitions: { login: { type: 'basic' } },
    security: [{ login: [] }],
    definitions: { Pet: { type: 'object', properties: { id: { type: 'integer', format: 'int64' } } } },
    paths: {
      '/pets': {
        post: {
          parameters: [
            { name: 'tags', in: 'query', type: 'array', items: { type: 'string' }, collectionFormat: 'multi' },
            { name: 'ids', in: 'query', type: 'array', items: { type: 'integer' } },
            { name: 'pet', in: 'body', required: true, schema: { $ref: '#/definitions/Pet' } },
          ],
          responses: { 200: { schema: { $ref: '#/definitions/Pet' } } },
        },
      },
      '/upload': { post: { parameters: [{ name: 'file', in: 'formData', type: 'file', required: true }] } },
    },
  };
  const { manifests, skipped } = await importOpenApi(JSON.stringify(document), {});
  expect(skipped).toEqual([]);
  const [create, upload] = manifests as [ToolManifest, ToolManifest];
  expect(configOf(create)).toMatchObject({
    base_url: 'https://api.example.com/v2',
    parameters: [
      { property: 'tags', explode: true },
      { property: 'ids', explode: false },
    ],
    body: { encoding: 'json' },
    auth: [{ type: 'basic', secret: 'OLD_LOGIN' }],
  });
  expect(create.parameters_schema).toMatchObject({
    properties: { body: { $ref: '#/$defs/Pet' } },
    required: ['body'],
    $defs: { Pet: { properties: { id: { type: 'integer', format: 'int64' } } } },
  });
  expect(create.result_schema).toMatchObject({ properties: { body: { $ref: '#/$defs/Pet' } } });
  expect(configOf(upload).body).toMatchObject({ encoding: 'multipart', fields: { file: { base64: true } } });
});
