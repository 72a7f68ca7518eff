import { describe, expect, test } from 'vitest';
import type { ToolManifest } from '../../../../../api/schemas/tool-manifest.ts';
import type { HttpOperation } from '../../../http-operation.ts';
import { configOf, load, type Members, one, properties } from '../documents.fixture.ts';

describe('bodies', () => {
  const bodyOf = async (content: Members): Promise<HttpOperation['body']> =>
    configOf(await one({ requestBody: { content } }, {}, '/pets', 'post')).body;

  test('REG-02.7 take the content type that is easiest to write', async () => {
    expect(await bodyOf({ 'application/xml': {}, 'application/json; charset=utf-8': {} })).toMatchObject({
      encoding: 'json',
      content_type: 'application/json',
    });
    expect(await bodyOf({ 'multipart/form-data': {}, 'application/x-www-form-urlencoded': {} })).toMatchObject({
      encoding: 'form',
    });
    expect(await bodyOf({ 'application/xml': {} })).toMatchObject({
      encoding: 'text',
      content_type: 'application/xml',
    });
    expect(await bodyOf({ 'image/png': {} })).toMatchObject({ encoding: 'base64', content_type: 'image/png' });
    expect(await bodyOf({ '*/*': {} })).toMatchObject({ encoding: 'json', content_type: 'application/json' });
  });

  test('of files say which fields are bytes', async () => {
    const schema = {
      properties: {
        file: { type: 'string', format: 'binary' },
        files: { type: 'array', items: { type: 'string', format: 'binary' } },
        name: {},
      },
    };
    const manifest = await one(
      { requestBody: { content: { 'multipart/form-data': { schema } } } },
      {},
      '/pets',
      'post',
    );
    expect(configOf(manifest).body?.fields).toEqual({ file: { base64: true }, files: { base64: true } });
    expect(properties(manifest)['body']).toMatchObject({
      properties: { file: { type: 'string', contentEncoding: 'base64' } },
    });
  });
});

describe('OpenAPI 3.2', () => {
  const schema = { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] };
  const media = { $ref: '#/components/mediaTypes/Sizes' };
  const newer = { openapi: '3.2.0', components: { mediaTypes: { Sizes: { schema } } } };

  test('REG-02.3 media types are components, and QUERY sends a body', async () => {
    const content = { 'application/json': media };
    const manifest = await one({ requestBody: { content }, responses: { 200: { content } } }, newer, '/pets', 'query');
    expect(configOf(manifest)).toMatchObject({ method: 'QUERY', body: { encoding: 'json' } });
    expect(properties(manifest)['body']).toEqual(schema);
    expect(manifest.result_schema).toMatchObject({ properties: { body: schema } });
  });

  test('REG-02.3 REG-02.6 a query that is described as a whole is one argument, written as its fields', async () => {
    const query = { name: 'filter', in: 'querystring', required: true };
    const content = { 'application/x-www-form-urlencoded': media };
    const manifest = await one({ parameters: [{ ...query, content }] }, newer);
    expect(manifest.parameters_schema).toMatchObject({ properties: { filter: schema }, required: ['filter'] });
    expect(configOf(manifest).parameters).toEqual([
      { property: 'filter', name: 'filter', in: 'query', style: 'form', explode: true },
    ]);
    const other = { '/pets': { get: { parameters: [{ ...query, content: { 'application/json': media } }] } } };
    expect(await load({ ...newer, paths: other })).toMatchObject({
      manifests: [],
      skipped: [{ place: 'GET /pets', reason: expect.stringContaining('application/json') }],
    });
  });

  test('REG-02.3 operations of other methods are listed', async () => {
    const paths = { '/pets': { additionalOperations: { COPY: { summary: 'Copies a pet.' } }, get: {} } };
    const { manifests, skipped } = await load({ ...newer, paths });
    expect(manifests).toHaveLength(1);
    expect(skipped).toEqual([{ place: 'COPY /pets', reason: 'its HTTP method is none that the layer sends' }]);
  });
});

describe('servers', () => {
  test.each([
    ['http://localhost:8080', 'http://localhost:8080', 'localhost', 8080],
    ['https://{region}.example.com/{base}', 'https://eu.example.com/v2', 'eu.example.com', 443],
    ['http://[::1]/', 'http://[::1]', '::1', 80],
  ])('%s', async (url, base_url, host, port) => {
    const servers = [{ url, variables: { region: { default: 'eu' }, base: { enum: ['v2'] } } }];
    const manifest = await one({}, { servers });
    expect(configOf(manifest).base_url).toBe(base_url);
    expect(manifest.permissions?.network).toEqual([{ host, port }]);
  });

  test('of the operation win over those of the path and the document', async () => {
    const manifest = await one({ servers: [{ url: 'https://own.example.com' }] });
    expect(configOf(manifest).base_url).toBe('https://own.example.com');
  });

  test.each([
    '/v1',
    '',
    'ws://api.example.com',
    'https://{region}.example.com',
    'https://u:p@api.example.com',
    'https://x/?q=1',
    `https://x${'/'.repeat(500_000)}y`,
    `https://x/${'{long}'.repeat(50_000)}`,
  ])('the server %# is of no use: the operation is skipped, and a base URL helps', async (url) => {
    const variables = { long: { default: 'x'.repeat(50_000) } };
    const document = { servers: [{ url, variables }], paths: { '/pets': { get: {} } } };
    const { manifests, skipped } = await load(document);
    expect(manifests).toEqual([]);
    expect(skipped).toEqual([{ place: 'GET /pets', reason: expect.stringContaining('--base-url') }]);
    const helped = await load(document, { baseUrl: 'https://mine.example.com/api/' });
    expect(configOf(helped.manifests[0] as ToolManifest).base_url).toBe('https://mine.example.com/api');
  });

  test.each(['/api', 'ftp://x', 'https://x/?a=1', 'https://u:p@x', 'nonsense'])(
    'the base URL %s is refused',
    async (baseUrl) => {
      await expect(load({ paths: {} }, { baseUrl })).rejects.toMatchObject({ code: 'E3801' });
    },
  );
});

describe('credentials', () => {
  const components = {
    securitySchemes: {
      apiKey: { type: 'apiKey', in: 'header', name: 'X-Key' },
      login: { type: 'http', scheme: 'Basic' },
      token: { type: 'http', scheme: 'bearer' },
      oauth: { type: 'oauth2', flows: {} },
      oidc: { $ref: '#/components/securitySchemes/oauth' },
      client: { type: 'mutualTLS' },
      digest: { type: 'http', scheme: 'digest' },
    },
  };
  const auth = async (security: unknown): Promise<HttpOperation['auth']> =>
    configOf(await one({ security }, { components })).auth;

  test('REG-02.8 become secrets named after document and scheme', async () => {
    const manifest = await one({}, { components, security: [{ apiKey: [], login: [] }] });
    expect(manifest.permissions?.credentials).toEqual(['PET_STORE_API_KEY', 'PET_STORE_LOGIN']);
    expect(configOf(manifest).auth).toEqual([
      { type: 'api_key', in: 'header', name: 'X-Key', secret: 'PET_STORE_API_KEY' },
      { type: 'basic', secret: 'PET_STORE_LOGIN' },
    ]);
  });

  test('of the first alternative that can be met are taken, and none where none is needed', async () => {
    expect(await auth([{ client: [] }, { oidc: ['read'] }, { token: [] }])).toEqual([
      { type: 'bearer', secret: 'PET_STORE_OIDC' },
    ]);
    expect(await auth([{ token: [] }, {}])).toBeUndefined();
    expect(await auth([])).toBeUndefined();
  });

  test('of a client itself are a token that is fetched, when no other flow is offered', async () => {
    const flow = { tokenUrl: 'https://login.example.com/token', scopes: { read: '', write: '' } };
    const schemes = (flows: object) => ({ securitySchemes: { own: { type: 'oauth2', flows } } });
    const security = [{ own: ['read'] }];
    const manifest = await one({ security }, { components: schemes({ clientCredentials: flow }) });
    expect(configOf(manifest).auth).toEqual([
      {
        type: 'oauth2_client_credentials',
        secret: 'PET_STORE_OWN',
        token_url: 'https://login.example.com/token',
        scopes: ['read'],
      },
    ]);
    expect(manifest.permissions).toMatchObject({
      network: [{}, { host: 'login.example.com', port: 443 }],
      credentials: ['PET_STORE_OWN'],
    });
    for (const flows of [
      { clientCredentials: flow, authorizationCode: flow },
      { clientCredentials: { tokenUrl: 'http://login.example.com/token' } },
      { clientCredentials: { tokenUrl: '/token' } },
    ]) {
      const bearer = await one({ security }, { components: schemes(flows) });
      expect(configOf(bearer).auth).toEqual([{ type: 'bearer', secret: 'PET_STORE_OWN' }]);
    }
  });

  test('REG-02 that cannot be sent leave the operation on record, marked so that nobody calls it', async () => {
    const document = {
      components,
      paths: {
        '/x': { get: { security: [{ client: [] }, { digest: [] }, { unheard: [] }] }, trace: { tags: ['Debug'] } },
      },
    };
    const { manifests, skipped } = await load(document);
    expect(skipped).toEqual([]);
    const [get, trace] = manifests;
    const reason =
      'it needs mutualTLS or the HTTP scheme digest or the undeclared security scheme unheard, which cannot be sent';
    expect(configOf(get as ToolManifest)).toMatchObject({ method: 'GET', not_callable: reason });
    expect(get?.description).toContain(reason);
    expect(get?.tags).toEqual(['not-callable']);
    expect(configOf(trace as ToolManifest).not_callable).toBe('TRACE sends the credentials back in the answer');
    expect(trace?.tags).toEqual(['not-callable', 'Debug']);
  });
});
