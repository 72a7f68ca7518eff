import { describe, expect, test } from 'vitest';
import { argumentContent } from './argument-content.ts';

describe('VAL-04 what the owner of a tool says of an argument', () => {
  test('stands in the schema, at any depth, for what is below it too', () => {
    const contentAt = argumentContent({
      properties: {
        query: { type: 'string', 'x-content': 'sql' },
        pages: { items: { properties: { html: { contentMediaType: 'text/html; charset=utf-8' } } } },
        env: { additionalProperties: { 'x-content': 'command' } },
        files: { 'x-content': 'code', items: { properties: { path: { 'x-content': 'fragment' } } } },
      },
    });
    expect(contentAt('/query')).toBe('sql');
    expect(contentAt('/pages/7/html')).toBe('html');
    expect(contentAt('/env/PATH')).toBe('command');
    expect(contentAt('/files/0/text')).toBe('code');
    expect(contentAt('/files/0/path')).toBe('fragment');
    expect(contentAt('/other')).toBe('fragment');
    expect(contentAt('/queryx')).toBe('fragment');
  });

  test.each([
    ['application/sql', 'sql'],
    ['image/svg+xml', 'html'],
    ['application/x-sh', 'command'],
    ['text/x-python', 'code'],
    ['text/markdown', 'code'],
    ['application/octet-stream', 'raw'],
    ['text/plain', 'text'],
    ['application/json', 'text'],
  ])('%s means %s', (contentMediaType, content) => {
    expect(argumentContent({ properties: { a: { contentMediaType } } })('/a')).toBe(content);
  });

  test('stands in a definition that is referred to, also in one that refers to itself', () => {
    const node = { 'x-content': 'code', properties: { next: { $ref: '#/$defs/node' }, self: { $ref: '#' } } };
    const contentAt = argumentContent({
      $ref: '#/$defs/tree',
      $defs: { tree: { properties: { n: { $ref: '#/$defs/node' } } }, node },
    });
    expect(contentAt('/n')).toBe('code');
    expect(contentAt('/m')).toBe('fragment');
    expect(argumentContent({ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } })('/n')).toBe('fragment');
  });

  test('stands in the manifest, which has the last word', () => {
    const schema = { properties: { 'a/b': { 'x-content': 'sql' }, list: {} } };
    const contentAt = argumentContent(schema, { '/a~1b': 'html', '/list/*/raw': 'raw', '/note': 'fragment' });
    expect([contentAt('/a~1b'), contentAt('/list/3/raw'), contentAt('/list/3')]).toEqual(['html', 'raw', 'fragment']);
    expect(contentAt('/note')).toBe('fragment');
  });

  test('a word that is none, and a schema that holds itself, mean nothing', () => {
    const schema: Record<string, unknown> = { 'x-content': 'toString' };
    schema['allOf'] = [schema];
    schema['properties'] = { again: schema };
    expect(argumentContent(schema)('/again')).toBe('fragment');
  });
});

describe('VAL-04 an argument of which nothing is said', () => {
  const contentAt = argumentContent({ type: 'object' });

  test.each([
    ...['/content', '/fileText', '/commit_message', '/edits/0/newText', '/observations/3', '/old_string'],
    ...['/issue/body', '/description-html', '/code', '/README', '/file.contents', '/data'],
  ])('%s is content by its name', (path) => {
    expect(contentAt(path)).toBe('text');
  });

  test.each([
    ...['/id', '/query', '/sql', '/command', '/args/0', '/where', '/country_code', '/connection_string', '/message_id'],
    ...['/content/user', '/path', '/url', '', '/3'],
  ])('%s may become a part of something that is run', (path) => {
    expect(contentAt(path)).toBe('fragment');
  });

  test('is what the caller of this function says of all of them', () => {
    expect(argumentContent({}, { '/sql': 'fragment' }, 'text')('/id')).toBe('text');
    expect(argumentContent({}, { '/sql': 'fragment' }, 'text')('/sql')).toBe('fragment');
  });
});
