import { describe, expect, test } from 'vitest';
import { declaredContent } from './declared-content.ts';

const exempt = (content: ReturnType<typeof declaredContent>, path: string): readonly string[] => [
  ...(content?.exemptAt(path) ?? []),
];
const EVERY = ['sql_injection', 'xss', 'command_injection'];

describe('VAL-04 what the owner of a tool declares', () => {
  test('is nothing for most tools', () => {
    expect(declaredContent({ type: 'object', properties: { a: { type: 'string' } } })).toBeUndefined();
  });

  test('stands in the schema, at any depth, for what is below it too', () => {
    const content = declaredContent({
      properties: {
        query: { type: 'string', 'x-content': 'sql' },
        pages: { items: { properties: { body: { contentMediaType: 'text/html; charset=utf-8' } } } },
        env: { additionalProperties: { 'x-content': 'command' } },
        files: { 'x-content': 'code', items: { properties: { path: { 'x-content': 'text' } } } },
      },
    });
    expect(exempt(content, '/query')).toEqual(['sql_injection']);
    expect(exempt(content, '/pages/7/body')).toEqual(['xss']);
    expect(exempt(content, '/env/PATH')).toEqual(['command_injection']);
    expect(exempt(content, '/files/0/text')).toEqual(EVERY);
    expect(exempt(content, '/files/0/path')).toEqual([]);
    expect(exempt(content, '/other')).toEqual([]);
    expect(exempt(content, '/queryx')).toEqual([]);
  });

  test.each([
    ['application/sql', ['sql_injection']],
    ['image/svg+xml', ['xss']],
    ['application/x-sh', ['command_injection']],
    ['text/x-python', EVERY],
    ['text/markdown', EVERY],
    ['application/octet-stream', EVERY],
    ['text/plain', []],
    ['application/json', []],
  ])('%s means %j', (contentMediaType, threats) => {
    expect(exempt(declaredContent({ properties: { a: { contentMediaType } } }), '/a')).toEqual(threats);
  });

  test('stands in a definition that is referred to, also in one that refers to itself', () => {
    const node = { 'x-content': 'code', properties: { next: { $ref: '#/$defs/node' }, self: { $ref: '#' } } };
    const content = declaredContent({
      $ref: '#/$defs/tree',
      $defs: { tree: { properties: { n: { $ref: '#/$defs/node' } } }, node },
    });
    expect(exempt(content, '/n')).toEqual(EVERY);
    expect(exempt(content, '/m')).toEqual([]);
    expect(declaredContent({ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } })).toBeUndefined();
  });

  test('stands in the manifest, which has the last word', () => {
    const schema = { properties: { 'a/b': { 'x-content': 'sql' }, list: {} } };
    const content = declaredContent(schema, { '/a~1b': 'html', '/list/*/raw': 'raw' });
    expect(exempt(content, '/a~1b')).toEqual(['xss']);
    expect([content?.isRaw('/list/3/raw'), content?.isRaw('/list/3')]).toEqual([true, false]);
  });

  test('a word that is none, and a schema that holds itself, mean nothing', () => {
    const schema: Record<string, unknown> = { 'x-content': 'toString' };
    schema['allOf'] = [schema];
    schema['properties'] = { again: schema };
    expect(declaredContent(schema)).toBeUndefined();
  });
});
