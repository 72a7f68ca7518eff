import { Ajv2020 } from 'ajv/dist/2020.js';
import Schema from 'typebox/schema';
import { expect, test } from 'vitest';
import { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import type { ToolOverride } from '../../../../api/schemas/upstream.ts';
import type { ListedMcpTool } from '../../importer.port.ts';
import { importMcpTools } from './mcp-importer.ts';

const tool = (name: string, more: Partial<ListedMcpTool> = {}): ListedMcpTool => ({
  name,
  inputSchema: { type: 'object' },
  ...more,
});
const one = (listed: ListedMcpTool, version = '1.0.0') =>
  importMcpTools([listed], { name: 'up', version }).manifests[0] as ToolManifest;
const check = Schema.Compile(ToolManifest);

test('a tool of an MCP server becomes a manifest that keeps its schemas as they are', () => {
  const inputSchema = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: { a: {} } };
  const outputSchema = { type: 'object', properties: { t: { type: 'number' } }, required: ['t'] };
  const annotations = { title: 'Ignored', readOnlyHint: true, destructiveHint: 'no', other: { deep: true } };
  const manifest = one(
    tool('get', { title: 'Get it', description: 'Gets.', inputSchema, outputSchema, annotations }),
    '2.1.0',
  );
  expect(manifest).toEqual({
    tool_id: 'up__get',
    tool_name: 'Get it',
    version: '2.1.0',
    description: 'Gets.',
    category: 'external_api',
    tags: ['mcp', 'up', 'read-only-claimed'],
    parameters_schema: inputSchema,
    result_schema: {
      type: 'object',
      required: ['content'],
      properties: { content: { type: 'array' }, structuredContent: outputSchema },
    },
    side_effect_policy: 'irreversible',
    executor: {
      kind: 'mcp',
      config: {
        upstream: 'up',
        tool: 'get',
        annotations: { title: 'Ignored', readOnlyHint: true, other: { deep: true } },
        output_schema: outputSchema,
        title: 'Get it',
      },
    },
  });
  expect(check.Check(manifest)).toBe(true);
});

test('REG-02 no annotation makes a tool harmless', () => {
  for (const annotations of [undefined, {}, { readOnlyHint: true, idempotentHint: true, destructiveHint: false }]) {
    const manifest = one(tool('t', annotations === undefined ? {} : { annotations }));
    expect(manifest.side_effect_policy).toBe('irreversible');
    expect(manifest.idempotent).toBeUndefined();
  }
  expect(one(tool('t', { annotations: { readOnlyHint: false } })).tags).toEqual(['mcp', 'up']);
});

test('what the operator states of a tool holds against whatever its server says; what is said of one wins over all', () => {
  const overrides: Record<string, ToolOverride> = {
    '*': {
      side_effect_policy: 'idempotent',
      requires_approval: true,
      tags: ['ours'],
      argument_content: { '/q': 'fragment' },
    },
    get: {
      argument_content: { '/text': 'html' },
      side_effect_policy: 'pure',
      requires_approval: false,
      timeout_seconds: 2,
      tags: ['fast', 'mcp'],
    },
    put: { requires_confirmation: true },
  };
  const { manifests } = importMcpTools([tool('get'), tool('put'), tool('toString')], {
    ...{ name: 'up', version: '1.0.0', overrides },
  });
  expect(manifests).toMatchObject([
    {
      side_effect_policy: 'pure',
      tags: ['mcp', 'up', 'ours', 'fast'],
      execution_config: {
        requires_approval: false,
        default_timeout_seconds: 2,
        argument_content: { '/q': 'fragment', '/text': 'html' },
      },
    },
    {
      side_effect_policy: 'idempotent',
      requires_confirmation: true,
      tags: ['mcp', 'up', 'ours'],
      execution_config: { requires_approval: true, argument_content: { '/q': 'fragment' } },
    },
    { side_effect_policy: 'idempotent' },
  ]);
  for (const manifest of manifests) expect(check.Check(manifest)).toBe(true);
});

test('an id that has a holder goes to nobody else, wherever they stand in the list', () => {
  const holderOf = (toolId: string) => (toolId === 'up__a_b' ? 'a b' : undefined);
  const imported = importMcpTools([tool('a_b'), tool('a b')], { name: 'up', version: '', holderOf });
  expect(imported.manifests.map(({ executor }) => executor.config?.['tool'])).toEqual(['a b']);
  expect(imported.skipped.map(({ place }) => place)).toEqual(['a_b']);
});

test('names become ids; of two that become the same the first stands and the other is skipped with its reason', () => {
  const { manifests, skipped } = importMcpTools(
    [tool('a b'), tool('a_b'), tool('a b'), tool('get/files.list'), tool('ends.'), tool('x'.repeat(200)), tool('日本')],
    { name: 'up', version: '' },
  );
  expect(manifests.map(({ tool_id }) => tool_id)).toEqual([
    'up__a_b',
    'up__get_files_list',
    'up__ends_',
    `up__${'x'.repeat(35)}_ee191dc0`,
    'up____',
  ]);
  expect(manifests[0]?.executor.config?.['tool']).toBe('a b');
  expect(skipped.map(({ place }) => place)).toEqual(['a_b', 'a b']);
  expect(skipped[0]?.reason).toContain('up__a_b belongs to the tool "a b"');
  for (const manifest of manifests) expect(check.Check(manifest)).toBe(true);
});

test('REG-02 a tool that has an id keeps it, whatever a new one would be called', () => {
  const idOf = (name: string) => (name === 'files.list' ? 'up__files.list' : undefined);
  const { manifests } = importMcpTools([tool('files.list'), tool('files.read')], { name: 'up', version: '', idOf });
  expect(manifests.map(({ tool_id }) => tool_id)).toEqual(['up__files.list', 'up__files_read']);
});

test('REG-02 properties whose names a provider refuses are renamed, with the way back beside them', () => {
  const manifest = one(tool('get', { inputSchema: { type: 'object', properties: { 'filter[name]': {} } } }));
  expect(manifest.parameters_schema['properties']).toEqual({
    filter_name: { description: 'Called "filter[name]" in the original.' },
  });
  expect(manifest.executor.property_names).toEqual({ filter_name: 'filter[name]' });
  expect(check.Check(manifest)).toBe(true);
});

test.each([
  ['2026.8.31', '2026.8.31'],
  ['v1.2.3', '1.2.3'],
  ['0.6', '0.6.0'],
  ['1.0.0-beta.1', '1.0.0-beta.1'],
  ['', '1.0.0'],
  ['nightly', '1.0.0'],
  [`1.0.0-${'x'.repeat(100)}`, '1.0.0'],
])('the version %j of a server counts as %s', (given, expected) => {
  expect(one(tool('t'), given).version).toBe(expected);
});

test('texts are bounded and never cut within a character', () => {
  const manifest = one(tool('t', { title: '😀'.repeat(200), description: `a${'😀'.repeat(40_000)}` }));
  expect(manifest.tool_name.length).toBeLessThanOrEqual(255);
  expect(manifest.description.length).toBeLessThanOrEqual(65_536);
  expect(manifest.tool_name.isWellFormed() && manifest.description.isWellFormed()).toBe(true);
  expect(one(tool('bare')).description).toBe('bare');
  expect(check.Check(manifest)).toBe(true);
});

test('references inside an output schema still lead where they led', () => {
  const outputSchema = {
    type: 'object',
    properties: { node: { $ref: '#/$defs/node' }, note: { const: { $ref: '#/kept' } } },
    $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' }, size: { type: 'number' } } } },
  };
  const schema = one(tool('t', { outputSchema })).result_schema as object;
  const fits = new Ajv2020({ strict: false }).compile(schema);
  const result = (node: unknown, note: unknown = { $ref: '#/kept' }) => ({
    content: [],
    structuredContent: { node, note },
  });
  expect(fits(result({ next: { size: 1 } }))).toBe(true);
  expect(fits(result({ next: { size: 'one' } }))).toBe(false);
  expect(fits(result({}, { $ref: '#/other' }))).toBe(false);
  expect(fits({ content: [] })).toBe(true);
  expect(fits({ structuredContent: {} })).toBe(false);
});

test('PRM-11 credentials that a connection is made with are asked for by every tool', () => {
  const { manifests } = importMcpTools([tool('a'), tool('b')], {
    name: 'up',
    version: '1',
    credentials: ['key', 'id'],
  });
  expect(manifests.map(({ permissions }) => permissions)).toEqual([
    { credentials: ['key', 'id'] },
    { credentials: ['key', 'id'] },
  ]);
  for (const manifest of manifests) expect(check.Check(manifest)).toBe(true);
  const shared = importMcpTools([tool('a')], { name: 'up', version: '1', credentials: [] });
  expect(shared.manifests[0]).not.toHaveProperty('permissions');
});
