import { existsSync, readFileSync } from 'node:fs';
import { isFailure } from '@sallyport/std/error/failure';
import { describe, expect, test } from 'vitest';
import { createSchemaValidator } from '../../../validation/schema-validator.ts';
import { checkManifest } from '../../manifests/check-manifest.ts';
import { importLangChain } from './langchain-importer.ts';

const checks = { compileSchema: createSchemaValidator().inspect, configFaults: () => [] };
const faultsOf = (manifest: unknown): string[] => {
  const checked = checkManifest(manifest, checks);
  return isFailure(checked) ? [checked.message] : [];
};
const only = (tool: unknown) => {
  const { manifests, skipped } = importLangChain(tool);
  expect(skipped).toEqual([]);
  expect(manifests).toHaveLength(1);
  expect(faultsOf(manifests[0])).toEqual([]);
  return manifests[0];
};

const schema = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] };

test('REG-02.11 a serialised tool becomes a native tool that nobody vouches for', () => {
  expect(only({ name: 'Web search', description: ' Finds pages. ', schema, tags: ['web'] })).toEqual({
    tool_id: 'langchain__Web_search',
    tool_name: 'Web search',
    version: '1.0.0',
    description: 'Finds pages.',
    tags: ['langchain', 'web'],
    parameters_schema: schema,
    side_effect_policy: 'irreversible',
    executor: { kind: 'native' },
  });
});

describe('forms', () => {
  test('the schema stands under many names, in the form of OpenAI and in that of LangChain itself', () => {
    const named = { name: 'a', description: 'A.' };
    const forms = [
      { ...named, schema },
      { ...named, parameters: schema },
      { ...named, args_schema: schema },
      { ...named, input_schema: schema },
      { ...named, inputSchema: schema },
      { ...named, schema: JSON.stringify(schema) },
      { type: 'function', function: { ...named, parameters: schema, strict: true } },
      { type: 'function', ...named, parameters: schema },
      { lc: 1, type: 'constructor', id: ['langchain', 'tools', 'DynamicStructuredTool'], kwargs: { ...named, schema } },
    ];
    for (const form of forms) expect(only(form)?.parameters_schema, JSON.stringify(form)).toEqual(schema);
    expect(only({ ...named, args: schema.properties })?.parameters_schema).toEqual({
      type: 'object',
      properties: schema.properties,
    });
  });

  test('a list, a list under tools, and tools by name', () => {
    const ids = (given: unknown) => importLangChain(given).manifests.map(({ tool_id }) => tool_id);
    const tools = [{ name: 'a' }, { name: 'b' }];
    expect(ids(tools)).toEqual(['langchain__a', 'langchain__b']);
    expect(ids({ tools })).toEqual(['langchain__a', 'langchain__b']);
    expect(ids({ a: { description: 'A.' }, b: {} })).toEqual(['langchain__a', 'langchain__b']);
    expect(importLangChain(tools, { name: 'mine', version: '2.0.0' }).manifests[0]).toMatchObject({
      tool_id: 'mine__a',
      version: '2.0.0',
    });
  });

  test('arguments are always one object', () => {
    expect(only({ name: 'a' })?.parameters_schema).toEqual({ type: 'object', properties: {} });
    expect(only({ name: 'a', schema: { properties: {} } })?.parameters_schema).toEqual({
      properties: {},
      type: 'object',
    });
    const draft = 'http://json-schema.org/draft-07/schema#';
    const single = { $schema: draft, $ref: '#/definitions/s', definitions: { s: { type: 'string' } }, type: 'string' };
    expect(only({ name: 'a', schema: single })?.parameters_schema).toEqual({
      $schema: draft,
      type: 'object',
      properties: { input: { $ref: '#/definitions/s', type: 'string' } },
      required: ['input'],
      additionalProperties: false,
      definitions: { s: { type: 'string' } },
    });
  });

  test('REG-12 a schema keeps the dialect that it declares', () => {
    const draft7 = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { p: { items: [{}, {}] } },
    };
    expect(only({ name: 'a', schema: draft7 })?.parameters_schema).toEqual(draft7);
    const { manifests } = importLangChain({ name: 'a', schema: { ...draft7, $schema: undefined } });
    expect(faultsOf(manifests[0])[0]).toContain('/parameters_schema/properties/p/items');
  });
});

describe('names', () => {
  test('of several tools that map to one id the first keeps it, and the others are listed', () => {
    const { manifests, skipped } = importLangChain([{ name: 'a b' }, { name: 'a/b' }, { name: '🙂' }, { name: '🙃' }]);
    expect(manifests.map(({ tool_name }) => tool_name)).toEqual(['a b', '🙂', '🙃']);
    expect(new Set(manifests.map(({ tool_id }) => tool_id)).size).toBe(3);
    expect(skipped).toEqual([{ place: 'tool 1 (a/b)', reason: expect.stringContaining('"a b"') }]);
  });

  test('classes tell tools of one name apart, whatever their order', () => {
    const tools = [
      { class: 'SerpAPI', name: 'search' },
      { class: 'Serper', name: 'search' },
      { id: ['langchain', 'SearchApi'], name: 'search' },
      { name: 'other', class: 'Other' },
    ];
    const ids = [
      'langchain__SerpAPI_search',
      'langchain__Serper_search',
      'langchain__SearchApi_search',
      'langchain__other',
    ];
    expect(importLangChain(tools).manifests.map(({ tool_id }) => tool_id)).toEqual(ids);
    expect(importLangChain(tools.toReversed()).manifests.map(({ tool_id }) => tool_id)).toEqual(ids.toReversed());
  });
});

describe('hostile input', () => {
  test('what is no tool is listed with its reason, and keeps no other out', () => {
    const circle: Record<string, unknown> = { type: 'object' };
    circle['default'] = circle;
    const given = [
      7,
      null,
      {},
      { name: '' },
      [{ name: 'a' }],
      { name: 'b', schema: 'no JSON' },
      { name: 'c', schema: circle },
    ];
    const { manifests, skipped } = importLangChain([...given, { name: 'good' }]);
    expect(manifests.map(({ tool_id }) => tool_id)).toEqual(['langchain__good']);
    expect(skipped.map(({ reason }) => reason)).toEqual([
      'it is no object',
      'it is no object',
      'it has no name',
      'it has no name',
      'it is no object',
      expect.stringContaining('is a string, not a schema'),
      expect.stringContaining('/default leads back'),
    ]);
  });

  test('names of prototypes are ordinary names or faults', () => {
    expect(only(JSON.parse('{"name": "constructor", "schema": {"type": "object"}}'))?.tool_id).toBe(
      'langchain__constructor',
    );
    const { skipped } = importLangChain(JSON.parse('{"name": "a", "schema": {"properties": {"__proto__": {}}}}'));
    expect(skipped[0]?.reason).toContain('/properties/__proto__');
    expect(importLangChain('text').manifests).toEqual([]);
  });

  test('long texts are cut, a huge enum stays, and tools beyond the bound are listed', () => {
    const values = Array.from({ length: 10_000 }, (_, index) => `v${index}`);
    const tool = only({
      name: 'n'.repeat(300),
      description: 'd'.repeat(70_000),
      tags: ['x'.repeat(65)],
      schema: { type: 'object', properties: { e: { enum: values } } },
    });
    expect(tool?.tool_name).toHaveLength(255);
    expect(tool?.description).toHaveLength(65_536);
    expect(tool?.tags).toEqual(['langchain']);
    const many = importLangChain(Array.from({ length: 5002 }, (_, index) => ({ name: `t${index}` })));
    expect([many.manifests.length, many.skipped.length]).toEqual([5000, 2]);
  });
});

const CORPUS = new URL('../../../../../../../shared/corpora/langchain/tools.jsonl', import.meta.url);

test.skipIf(!existsSync(CORPUS))('REG-02 every tool of the community imports, and each schema compiles', () => {
  const rows = readFileSync(CORPUS, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, string>);
  const tools = rows.map(({ schemaHead = '', ...row }) => ({ ...row, schema: completed(schemaHead) }));
  const { manifests, skipped } = importLangChain(tools);
  expect(skipped).toEqual([]);
  expect(manifests).toHaveLength(15);
  expect(manifests.flatMap(faultsOf)).toEqual([]);
  expect(
    manifests.map(({ parameters_schema }) => Object.keys(parameters_schema['properties'] ?? {}).length),
  ).not.toContain(0);
});

/**
 * The corpus holds the first 120 characters of each schema: an incomplete member is removed, and open brackets are
 * closed.
 */
function completed(head: string): unknown {
  for (let end = head.length; end > 0; end -= 1) {
    const kept = head.slice(0, end).replace(/,$/, '');
    const open = [...kept.replaceAll(/"(?:[^"\\]|\\.)*"/g, '')].filter((one) => one === '{').length;
    const closed = [...kept.replaceAll(/"(?:[^"\\]|\\.)*"/g, '')].filter((one) => one === '}').length;
    try {
      return JSON.parse(kept + '}'.repeat(Math.max(0, open - closed)));
    } catch {
      // Try again with one character less.
    }
  }
  return undefined;
}
