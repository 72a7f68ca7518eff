import { describe, expect, test } from 'vitest';
import type { ImportedTools } from '../../importer.port.ts';
import { importOpenApi } from './openapi-importer.ts';

const load = (
  paths: unknown,
  more: Record<string, unknown> = {},
  options: Parameters<typeof importOpenApi>[1] = {},
): Promise<ImportedTools> =>
  importOpenApi(
    JSON.stringify({
      openapi: '3.0.3',
      info: { title: 'x' },
      servers: [{ url: 'https://api.example.com' }],
      paths,
      ...more,
    }),
    options,
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

/** Members by name, for each number below `count`. */
const each = (count: number, member: (at: number) => [string, unknown]): object =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => member(at)));

/** Paths with one operation whose body has the schema. */
const referring = (schema: object): object => ({
  '/x': { post: { requestBody: { content: { 'application/json': { schema } } } } },
});

test('REG-02.4 3,000 definitions whose pointers end alike have names of their own', async () => {
  const parts = each(3_000, (at) => [`p${at}`, { schema: { const: at } }]);
  const items = { anyOf: Array.from({ length: 3_000 }, (_, at) => ({ $ref: `#/x-parts/p${at}/schema` })) };
  const { manifests, skipped } = await load(referring({ type: 'array', items }), { 'x-parts': parts });
  expect(skipped).toEqual([]);
  expect(Object.keys(manifests[0]?.parameters_schema['$defs'] as object).at(-1)).toBe('schema_3000');
});

describe('REG-02.3 the time grows with the length of the document alone', () => {
  // Each of these took minutes as long as something was compared with all before it.
  test.each(['$ref', 'allOf', 'anyOf'])('of a chain of 40,000 schemas along %s', async (keyword) => {
    const link = (at: number): unknown => {
      const next = { $ref: `#/components/schemas/s${at + 1}` };
      return keyword === '$ref' ? next : { [keyword]: [next, next] };
    };
    const schemas = { ...each(40_000, (at) => [`s${at}`, link(at)]), s40000: { type: 'string' } };
    const imported = await load(referring({ $ref: '#/components/schemas/s0' }), { components: { schemas } });
    expect(reasons(imported)).toEqual(['POST /x: its schema needs more than 8192 definitions']);
  });

  test('of 5,000 operations with one name, of which each looks for a few ids', async () => {
    const paths = each(5_000, (at) => [`/x${at}`, { get: { operationId: 'same' } }]);
    let looks = 0;
    const operationOf = (): undefined => {
      looks += 1;
    };
    const { manifests } = await load(paths, {}, { operationOf });
    const ids = manifests.map(({ tool_id }) => tool_id);
    expect(new Set(ids).size).toBe(5_000);
    expect(ids.at(-1)).toBe('x__same_5000');
    expect(looks).toBeLessThan(50_000);
  });

  test('of patterns whose repetitions multiply', async () => {
    const properties = each(200, (at) => [
      `m${at}`,
      { type: 'string', pattern: `(?:${'.'.repeat(800 + at)}){1,1000}` },
    ]);
    const { manifests } = await load(referring({ type: 'object', properties }));
    expect(JSON.stringify(manifests)).not.toContain('"pattern"');
  });
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
