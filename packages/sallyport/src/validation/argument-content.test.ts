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
    ['application/x-sql', 'sql'],
    ['APPLICATION/SQL; charset=utf-8', 'sql'],
    ['application/sqlite3', 'text'],
    ['text/xml', 'html'],
    ['application/xml', 'html'],
    ['application/xhtml+xml', 'html'],
    ['text/x-shellscript', 'command'],
    ['application/x-csh', 'command'],
    ['text/x-bash', 'command'],
    ['text/css', 'code'],
    ['application/javascript', 'code'],
    ['application/typescript', 'code'],
    ['application/x-ruby', 'code'],
    ['', 'text'],
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

  test('VAL-04 stands in alternatives, in elements by their place, and more specific places go before', () => {
    const sql = { 'x-content': 'sql' };
    const contentAt = argumentContent({
      properties: {
        any: { anyOf: [{}, sql] },
        one: { oneOf: [{ properties: { a: sql } }] },
        all: { allOf: [{ items: sql }] },
        pair: { prefixItems: [sql, { 'x-content': 'code' }] },
        old: { items: [{}, sql] },
        wide: { 'x-content': 'code', properties: { a: { properties: { b: sql } } } },
        number: { 'x-content': 7 },
        flag: true,
      },
    });
    expect(['/any', '/one/a', '/all/3', '/pair/0', '/pair/1', '/old/1'].map(contentAt)).toEqual([
      ...['sql', 'sql', 'sql', 'sql', 'code', 'sql'],
    ]);
    expect(['/wide', '/wide/a', '/wide/a/b', '/wide/a/b/c'].map(contentAt)).toEqual(['code', 'code', 'sql', 'sql']);
    expect(['/one', '/pair/2', '/old/0', '/number', '/flag', '/all'].map(contentAt)).toEqual(
      new Array(6).fill('fragment'),
    );
  });

  test('VAL-04 stands in definitions of the document alone', () => {
    const $defs = { 'a/b~c': { 'x-content': 'sql' } };
    const contentOf = ($ref: unknown) => argumentContent({ properties: { q: { $ref } }, $defs } as never)('/q');
    expect(contentOf('#/$defs/a~1b~0c')).toBe('sql');
    const others = ['https://x.test/$defs/a~1b~0c', '#a', '#/$defs/none', '#/$defs/toString', '#/$defs/a~1b~0c/x/y', 7];
    expect(others.map(contentOf)).toEqual(others.map(() => 'fragment'));
  });

  test('VAL-04 is looked for sixteen levels deep, and kept for 256 places', () => {
    const deep = (levels: number): object =>
      levels === 0 ? { 'x-content': 'sql' } : { properties: { a: deep(levels - 1) } };
    const at = (levels: number) => argumentContent(deep(levels) as never)('/a'.repeat(levels));
    expect([at(16), at(17)]).toEqual(['sql', 'fragment']);
    const many = Object.fromEntries(Array.from({ length: 257 }, (_, place) => [`p${place}`, { 'x-content': 'sql' }]));
    const contentAt = argumentContent({ properties: many });
    expect([contentAt('/p255'), contentAt('/p256')]).toEqual(['sql', 'fragment']);
    const wide = Object.fromEntries(Array.from({ length: 2_000 }, (_, place) => [`p${place}`, { 'x-content': 'no' }]));
    const last = argumentContent({
      properties: { ...wide, p1998: { 'x-content': 'sql' }, p1999: { 'x-content': 'sql' } },
    });
    expect([last('/p1998'), last('/p1999')]).toEqual(['sql', 'fragment']);
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
