import { describe, expect, test } from 'vitest';
import type { ImportedTools } from '../../importer.port.ts';
import { importOpenApi } from './openapi-importer.ts';

const load = (paths: unknown, more: Record<string, unknown> = {}): Promise<ImportedTools> =>
  importOpenApi(
    JSON.stringify({
      openapi: '3.0.3',
      info: { title: 'x' },
      servers: [{ url: 'https://api.example.com' }],
      paths,
      ...more,
    }),
    {},
  );
const reasons = ({ skipped }: ImportedTools): string[] => skipped.map(({ place, reason }) => `${place}: ${reason}`);

test('a bad operation is skipped with its reason, and the others are imported', async () => {
  const imported = await load({
    '/good': { get: {} },
    '/../admin': { get: {} },
    '/a?b=c': { get: {} },
    'no-slash': { get: {} },
    '/space here': { get: {} },
    '/nameless': { get: { parameters: [{ in: 'query' }] } },
    '/nowhere': { get: { parameters: [{ name: 'a', in: 'moon' }] } },
    '/outside': { get: { parameters: [{ $ref: 'https://evil.example/p.json' }] } },
    '/circle': { $ref: '#/paths/~1circle' },
    '/body': { post: { requestBody: { $ref: '#/components/requestBodies/missing' } } },
    '/scalar': 7,
    '/fragment#one': { get: { operationId: 'one' } },
  });
  expect(imported.manifests.map(({ tool_name }) => tool_name)).toEqual(['GET /good', 'one']);
  expect(imported.manifests[1]?.executor.config).toMatchObject({ path: '/fragment' });
  expect(imported.skipped).toHaveLength(9);
  expect(reasons(imported)).toContainEqual(
    expect.stringMatching(/^GET \/outside: it refers to "https:.*outside the document/),
  );
  expect(reasons(imported)).toContainEqual(expect.stringMatching(/^\/circle: its references lead in a circle/));
});

test('a bad answer costs only its schema', async () => {
  const responses = { 200: { content: { 'application/json': { schema: { $ref: 'other.yaml#/Pet' } } } } };
  const { manifests } = await load({ '/x': { get: { responses } } });
  expect(manifests).toHaveLength(1);
  expect(manifests[0]).not.toHaveProperty('result_schema');
});

test('names like those of prototypes change nothing', async () => {
  const paths = JSON.parse(
    '{"__proto__":{"get":{}},"/x":{"get":{"parameters":[{"name":"__proto__","in":"query","schema":{}},{"name":"constructor","in":"query","schema":{}}]}}}',
  );
  const { manifests } = await load(paths);
  const [manifest] = manifests;
  expect(Object.keys(manifest?.parameters_schema['properties'] as object)).toEqual(['query___proto__', 'constructor']);
  expect({}).not.toHaveProperty('get');
});

test('a schema that grows too large is skipped', async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 5000 }, (_, index) => [`p${index}`, { description: 'x'.repeat(100) }]),
  );
  const imported = await load({
    '/x': { post: { requestBody: { content: { 'application/json': { schema: { properties } } } } } },
  });
  expect(reasons(imported)).toEqual([
    expect.stringMatching(/^POST \/x: the schema of its parameters has \d+ characters/),
  ]);
});

test('references that double at every level do not explode', async () => {
  const schemas = Object.fromEntries(
    Array.from({ length: 60 }, (_, level) => {
      const next = { $ref: `#/components/schemas/S${level + 1}` };
      return [`S${level}`, level === 59 ? { type: 'string' } : { properties: { a: next, b: next } }];
    }),
  );
  const body = { content: { 'application/json': { schema: { $ref: '#/components/schemas/S0' } } } };
  const { manifests } = await load({ '/x': { post: { requestBody: body } } }, { components: { schemas } });
  expect(JSON.stringify(manifests[0]).length).toBeLessThan(20_000);
});

describe('bounds', () => {
  test('operations beyond the bound are listed, not lost', async () => {
    const paths = Object.fromEntries(Array.from({ length: 5003 }, (_, index) => [`/p${index}`, { get: {} }]));
    const imported = await load(paths);
    expect(imported.manifests).toHaveLength(5000);
    expect(imported.skipped).toHaveLength(3);
  });

  test('words are cut to what a manifest may hold', async () => {
    const long = 'x'.repeat(100_000);
    const { manifests } = await load({ '/x': { get: { summary: long, description: long, tags: [long, 'ok'] } } });
    expect(manifests[0]?.tool_name).toHaveLength(255);
    expect(manifests[0]?.description).toHaveLength(4096);
    expect(manifests[0]?.tags).toEqual(['ok']);
  });
});

test('webhooks are listed as what they are', async () => {
  const { skipped } = await load({}, { webhooks: { newPet: { post: {} } } });
  expect(skipped).toEqual([{ place: 'webhook newPet', reason: expect.stringContaining('called by the service') }]);
});
