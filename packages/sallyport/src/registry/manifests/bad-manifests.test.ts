import { MiB } from '@sallyport/std/bytes';
import { isFailure } from '@sallyport/std/error/failure';
import { expect, test } from 'vitest';
import type { Fault } from '../../../api/schemas/error.ts';
import { memoryToolStore } from '../../../test/stores/memory-tool-store.ts';
import { silentLog } from '../../telemetry/log.ts';
import { createSchemaValidator } from '../../validation/schema-validator.ts';
import { createRegistry, RETENTION, type Registry } from '../registry.ts';
import { clockAtNoon, manifest } from '../versions/registry.fixture.ts';

const schemas = createSchemaValidator();
const open = (): Registry =>
  createRegistry({
    store: memoryToolStore(),
    clock: clockAtNoon(),
    log: silentLog,
    retention: RETENTION,
    timeoutSecondsMax: 300,
    compileSchema: (schema) => schemas.inspect(schema),
    configFaults: ({ executor }) =>
      executor.config?.['broken'] === true
        ? [{ path: '/executor/config/broken', code: 'E3008', keyword: 'test', message: 'is wrong' }]
        : [],
  });

const faultsOf = (given: unknown): readonly Fault[] =>
  (open().check('acme', given).failure?.details?.['faults'] ?? []) as readonly Fault[];
const placesOf = (given: unknown): string[] =>
  faultsOf(given)
    .map(({ path }) => path)
    .sort();
const withSchema = (parameters_schema: unknown) => manifest('1.0.0', { parameters_schema });

test('REG-08.1 faults of every kind are told at once, each with its place', () => {
  const bad = {
    tool_id: '../etc',
    tool_name: '',
    version: '1',
    category: 'magic',
    tags: ['', 7],
    extra: true,
    parameters_schema: { type: 'array', properties: { a: { type: 'strin' } } },
    result_schema: { $ref: 'https://example.com/schema.json' },
    permissions: { filesystem: [{ path: '/a/../b', mode: 'ro' }], network: [{ host: 'http://x', port: 443 }] },
    compatibility_range: 'not a range',
    document_dependencies: [{ document_pattern: 'policies/*' }, { document_pattern: 'two words' }],
    executor: { kind: 'native', config: { broken: true } },
  };
  expect(placesOf(bad)).toEqual(
    [
      '/category',
      '/compatibility_range',
      '/description',
      '/document_dependencies/1/document_pattern',
      '/executor/config/broken',
      '/extra',
      '/parameters_schema/properties/a/type',
      '/parameters_schema/type',
      '/permissions/filesystem/0/path',
      '/permissions/network/0/host',
      '/result_schema/$ref',
      '/tags/0',
      '/tags/1',
      '/tool_id',
      '/tool_name',
      '/version',
    ].sort(),
  );
  for (const { code, message, keyword } of faultsOf(bad)) {
    expect([code, message, keyword]).toEqual(['E3008', expect.stringMatching(/./), expect.stringMatching(/./)]);
  }
});

test.each([
  ['a reference to another server', { type: 'object', properties: { a: { $ref: 'https://example.com/a.json' } } }],
  ['a reference to a file', { type: 'object', properties: { a: { $ref: 'file:///etc/passwd' } } }],
  ['a reference to nowhere', { type: 'object', properties: { a: { $ref: '#/$defs/none' } } }],
  ['a remote dialect', { $schema: 'https://example.com/dialect', type: 'object' }],
  ['a pattern with a back-reference', { type: 'object', properties: { a: { pattern: '(a+)\\1$' } } }],
  ['a pattern with look-around', { type: 'object', properties: { a: { pattern: '(?=(a+)+)b' } } }],
  ['a pattern that is none', { type: 'object', properties: { a: { pattern: '(' } } }],
])('REG-08 %s is refused at registration, with its place', async (_, schema) => {
  await expect(open().register('acme', withSchema(schema))).rejects.toMatchObject({ code: 'E3008' });
  for (const place of placesOf(withSchema(schema))) expect(place).toMatch(/^\/parameters_schema\//);
});

test('REG-08.1 a fault says what to write: the member that may be meant, the words that are possible, what a member is', () => {
  const hintOf = (given: object): string | undefined => faultsOf({ ...manifest('1.0.0'), ...given })[0]?.hint;
  expect(hintOf({ paramaters_schema: {} })).toBe('Write parameters_schema, or remove it.');
  expect(hintOf({ unheard_of: 1 })).toBe('Remove this member; it is not part of the contract.');
  expect(hintOf({ tool_id: 'a b' })).toMatch(/128 letters, digits/);
  expect(hintOf({ tool_name: undefined })).toBe('Add this member.');
  expect(hintOf({ category: 'magic' })).toMatch(/^One of /);
});

test('REG-08 a fault in one list of permissions does not hide those of the other', () => {
  const network = [{ host: 'http://x', port: 99_999 }];
  const filesystem = [{ path: 'relative', mode: 'rw' }];
  expect(placesOf(manifest('1.0.0', { permissions: { filesystem, network } as never }))).toEqual([
    '/permissions/filesystem/0/path',
    '/permissions/network/0/port',
  ]);
  for (const permissions of [[], 'all', { filesystem: 'all' }, { network: [null] }]) {
    expect(
      placesOf(manifest('1.0.0', { permissions: permissions as never })),
      JSON.stringify(permissions),
    ).toHaveLength(1);
  }
});

test('a pattern that would be catastrophic elsewhere is registered and judged in linear time', async () => {
  const schema = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } };
  const { version } = await open().register('acme', withSchema(schema));
  const compiled = schemas.compile(version.manifest.parameters_schema);
  const { faults } = isFailure(compiled)
    ? { faults: [] }
    : compiled.check({ a: `${'a'.repeat(50_000)}!` }, { coerce: false });
  expect(faults).toHaveLength(1);
});

test('a description of 5 MB is refused, and named', () => {
  const [fault] = faultsOf(manifest('1.0.0', { description: 'x'.repeat(5 * MiB) }));
  expect(fault).toMatchObject({ path: '/description', keyword: 'size' });
  expect(placesOf(manifest('1.0.0', { description: 'x'.repeat(65_537) }))).toEqual(['/description']);
  expect(placesOf(manifest('1.0.0', { description: 'x'.repeat(65_536) }))).toEqual([]);
});

test.each([
  'a/b',
  '../weather',
  '..',
  '.',
  '',
  'weather.',
  '.weather',
  '/weather',
  'weather\\x',
  'weather\u0000',
  'weather\n',
  'wea ther',
  'погода',
  'wеather',
  'weather🙂',
  'we\u200bather',
  '__proto__',
  '-rf',
  'a'.repeat(129),
  '%2e%2e',
])('REG-08 %j is no tool id', (tool_id) => {
  expect(placesOf(manifest('1.0.0', { tool_id }))).toEqual(['/tool_id']);
});

test.each(['con', 'NUL', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'a..b', '0', 'a'.repeat(128)])(
  '%s is a tool id like any other',
  async (tool_id) => {
    const registry = open();
    expect(registry.find('acme', tool_id)).toMatchObject({ code: 'E3001' });
    await registry.register('acme', manifest('1.0.0', { tool_id, requires: [tool_id === '0' ? '1' : '0'] }));
    expect(registry.find('acme', tool_id)).toMatchObject({ tool: { manifest: { tool_id } } });
    expect(registry.list('acme', { tags: ['constructor'] }, { page: 1, pageSize: 1 }).total).toBe(0);
    await registry.move({ tenantId: 'acme', toolId: tool_id, to: 'removed', force: true });
    expect(registry.find('acme', tool_id)).toMatchObject({ code: 'E3004' });
  },
);

test('REG-08 a check tells faults, what schemas lack and what a registration would warn of, and writes nothing', async () => {
  const registry = open();
  await registry.register('acme', manifest('1.0.0'));
  const checked = registry.check('acme', withSchema({ type: 'object', properties: { a: {} }, required: ['a'] }));
  expect(checked).toMatchObject({ compliance: { points: 5, points_met: 1, score: 20 } });
  const next = registry.check('acme', { ...withSchema({ type: 'object', required: ['a'] }), version: '1.0.1' });
  expect(next.warnings.map(({ code }) => code)).toEqual(['schema_compliance', 'breaking_change']);
  expect(registry.versions('acme', 'weather')).toHaveLength(1);
});

test('REG-08 a registration carries the count alone, and nothing when nothing is missing', async () => {
  const registry = open();
  const { warnings } = await registry.register('acme', withSchema({ type: 'object', properties: { a: {}, b: {} } }));
  expect(warnings).toEqual([
    {
      code: 'schema_compliance',
      message: 'The schemas meet 0 of 7 points (0 %). Ask for its compliance to see the rest.',
      details: { score: 0, points: 7, points_met: 0 },
    },
  ]);
  const whole = { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' };
  expect((await registry.register('globex', withSchema(whole))).warnings).toEqual([]);
});

test('PRM-03 only a tool that reads pages may ask for hosts by a pattern', () => {
  const asking = (kind: 'web' | 'http' | 'shell', host: string) =>
    placesOf(manifest('1.0.0', { permissions: { network: [{ host, port: 443 }] }, executor: { kind } }));
  for (const host of ['*', '*.example.com', 'example.com', '192.0.2.1', '2001:db8::1'])
    expect([host, asking('web', host)]).toEqual([host, []]);
  for (const host of ['**', 'a.*', '*.*', '*example.com', 'https://*', '*:443', ''])
    expect([host, asking('web', host)]).toEqual([host, ['/permissions/network/0/host']]);
  for (const kind of ['http', 'shell'] as const)
    for (const host of ['*', '*.example.com']) expect(asking(kind, host)).toEqual(['/permissions/network/0/host']);
});
