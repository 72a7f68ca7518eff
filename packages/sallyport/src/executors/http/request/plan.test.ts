import { describe, expect, test } from 'vitest';
import type { HttpOperation, HttpParameter } from '../../../registry/http-operation.ts';
import { callOf } from '../../conformance/executor-call.fixture.ts';
import { type BuiltRequest, buildRequest, planOf } from './plan.ts';

const BASE = 'https://api.example.com/v1';

function build(
  operation: Partial<HttpOperation>,
  parameters: Record<string, unknown>,
  secrets: ReadonlyMap<string, string> = new Map(),
): BuiltRequest {
  const config = { base_url: BASE, method: 'GET', path: '/', ...operation };
  const { tool } = callOf({ executor: { kind: 'http', config } });
  return buildRequest(planOf(tool, 'test'), parameters, { secrets, tokens: new Map() });
}

const parameter = (more: Partial<HttpParameter>): HttpParameter => ({
  property: 'v',
  name: 'v',
  in: 'query',
  style: 'form',
  explode: true,
  ...more,
});

const inPath = (value: unknown, more: Partial<HttpParameter> = {}): string =>
  build(
    { path: '/a/{v}/b', parameters: [parameter({ in: 'path', style: 'simple', explode: false, ...more })] },
    { v: value },
  ).url.href;
const inQuery = (value: unknown, more: Partial<HttpParameter> = {}): string =>
  build({ parameters: [parameter(more)] }, { v: value }).url.search;
const inHeader = (value: unknown, more: Partial<HttpParameter> = {}): string | undefined =>
  build({ parameters: [parameter({ in: 'header', name: 'X-V', style: 'simple', ...more })] }, { v: value }).headers[
    'x-v'
  ];
const inCookie = (value: unknown, more: Partial<HttpParameter> = {}): string | undefined =>
  build({ parameters: [parameter({ in: 'cookie', ...more })] }, { v: value }).headers['cookie'];

const LIST = ['blue', 'black', 'brown'];
const COLOUR = { R: 100, G: 200, B: 150 };

// The examples of the table in OpenAPI 3.1 §4.8.12.4.
test.each([
  ['matrix', false, 'blue', ';v=blue'],
  ['matrix', false, LIST, ';v=blue,black,brown'],
  ['matrix', true, LIST, ';v=blue;v=black;v=brown'],
  ['matrix', false, COLOUR, ';v=R,100,G,200,B,150'],
  ['matrix', true, COLOUR, ';R=100;G=200;B=150'],
  ['label', false, 'blue', '.blue'],
  ['label', false, LIST, '.blue,black,brown'],
  ['label', true, LIST, '.blue.black.brown'],
  ['label', true, COLOUR, '.R=100.G=200.B=150'],
  ['matrix', false, '', ';v'],
  ['matrix', true, ['', 'a'], ';v;v=a'],
  ['matrix', true, { R: '', G: 1 }, ';R;G=1'],
  ['label', false, COLOUR, '.R,100,G,200,B,150'],
  ['label', true, 'blue', '.blue'],
  ['simple', true, LIST, 'blue,black,brown'],
  ['simple', false, 'blue', 'blue'],
  ['simple', false, LIST, 'blue,black,brown'],
  ['simple', false, COLOUR, 'R,100,G,200,B,150'],
  ['simple', true, COLOUR, 'R=100,G=200,B=150'],
] as const)('EXE-06 path style %s, explode %s, value %#', (style, explode, value, written) => {
  expect(inPath(value, { style, explode })).toBe(`${BASE}/a/${written}/b`);
});

test.each([
  ['form', true, 'blue', '?v=blue'],
  ['form', false, LIST, '?v=blue,black,brown'],
  ['form', true, LIST, '?v=blue&v=black&v=brown'],
  ['form', false, COLOUR, '?v=R,100,G,200,B,150'],
  ['form', true, COLOUR, '?R=100&G=200&B=150'],
  ['spaceDelimited', false, LIST, '?v=blue%20black%20brown'],
  ['spaceDelimited', false, COLOUR, '?v=R%20100%20G%20200%20B%20150'],
  ['spaceDelimited', true, LIST, '?v=blue&v=black&v=brown'],
  ['pipeDelimited', false, LIST, '?v=blue%7Cblack%7Cbrown'],
  ['pipeDelimited', false, COLOUR, '?v=R%7C100%7CG%7C200%7CB%7C150'],
  ['pipeDelimited', true, LIST, '?v=blue&v=black&v=brown'],
  ['deepObject', true, COLOUR, '?v[R]=100&v[G]=200&v[B]=150'],
  ['deepObject', true, { a: { b: [1, 2] } }, '?v[a][b]=1&v[a][b]=2'],
  ['form', true, [], ''],
  ['form', false, {}, ''],
  ['form', true, '', '?v='],
  ['form', true, true, '?v=true'],
  ['form', true, null, '?v='],
  ['form', true, [{ a: 1 }], '?v=%7B%22a%22%3A1%7D'],
] as const)('EXE-06 query style %s, explode %s, value %#', (style, explode, value, written) => {
  expect(inQuery(value, { style, explode })).toBe(written);
});

test('EXE-06 headers and cookies, exploded and not', () => {
  expect(inHeader(LIST)).toBe('blue,black,brown');
  expect(inHeader(COLOUR, { explode: true })).toBe('R=100,G=200,B=150');
  expect(inHeader(COLOUR)).toBe('R=100,G=200,B=150');
  expect(inHeader(COLOUR, { explode: false })).toBe('R,100,G,200,B,150');
  expect(inHeader('')).toBe('');
  expect(inCookie(7)).toBe('v=7');
  expect(inCookie(LIST, { explode: false })).toBe('v=blue,black,brown');
  expect(inCookie('a; admin=1')).toBe('v=a%3B%20admin%3D1');
});

test('EXE-06 what is left out is not sent, JSON content is sent as JSON', () => {
  expect(build({ parameters: [parameter({})] }, {}).url.href).toBe(`${BASE}/`);
  expect(build({ parameters: [parameter({ property: 'constructor', name: 'c' })] }, {}).url.href).toBe(`${BASE}/`);
  expect(inQuery({ a: 1 }, { json: true })).toBe('?v=%7B%22a%22%3A1%7D');
});

test('EXE-06 reserved characters stay where they are allowed, but none that could end the value', () => {
  expect(inQuery('a/b?c:d@e', { allow_reserved: true })).toBe('?v=a/b?c:d@e');
  expect(inQuery('a&b=c#d+e', { allow_reserved: true })).toBe('?v=a%26b%3Dc%23d%2Be');
});

test('EXE-06.2 no argument stands beside the credential of its name', () => {
  const operation: Partial<HttpOperation> = {
    parameters: [
      parameter({ property: 'key', name: 'key' }),
      parameter({ property: 'more' }),
      parameter({ property: 'sid', name: 'sid', in: 'cookie' }),
    ],
    auth: [
      { type: 'api_key', in: 'query', name: 'key', secret: 'S' },
      { type: 'api_key', in: 'cookie', name: 'sid', secret: 'S' },
    ],
  };
  const given = { key: 'mine', more: { key: 'mine', keys: 1 }, sid: 'mine' };
  const { url, headers } = build(operation, given, new Map([['S', 'theirs']]));
  expect([url.search, headers['cookie']]).toEqual(['?keys=1&key=theirs', 'sid=theirs']);
});

describe('hostile arguments', () => {
  test.each(['?admin=1', '#x', 'a/b', 'a/.b/..c', '%2e%2e', 'a\0b', '\ud800', 'http://evil/'])(
    'a path value %j stays inside its segment',
    (value) => {
      const { pathname, search, hash, host } = new URL(inPath(value));
      expect(pathname.split('/')).toHaveLength(5);
      expect(pathname.startsWith('/v1/a/') && pathname.endsWith('/b')).toBe(true);
      expect({ search, hash, host }).toEqual({ search: '', hash: '', host: 'api.example.com' });
    },
  );

  test.each(['../admin', 'x/../../admin', 'a/.', '\\..\\'])(
    'EXE-06.1 a path value %j that leaves its folder where a proxy decodes it is refused, by its own name',
    (v) => {
      const parameters = ['u', 'v'].map((name) => parameter({ in: 'path', style: 'simple', name, property: name }));
      expect(() => build({ path: '/{u}/{v}.json', parameters }, { u: 'a', v: `/${v}/` })).toThrow(
        expect.objectContaining({ code: 'E3509', message: expect.stringContaining('/v makes') }),
      );
    },
  );

  test.each(['.', '..', '', undefined, []])('a path value %j that would change the path is refused', (value) => {
    expect(() => inPath(value)).toThrow(expect.objectContaining({ code: 'E3509' }));
  });

  test('two values that make a dot segment together are refused', () => {
    const parameters = ['a', 'b'].map((name) => parameter({ in: 'path', style: 'simple', name, property: name }));
    expect(() => build({ path: '/{a}{b}/x', parameters }, { a: '.', b: '.' })).toThrow(
      expect.objectContaining({ code: 'E3509' }),
    );
    expect(build({ path: '/{a}{b}/x', parameters }, { a: '.', b: 'well' }).url.pathname).toBe('/v1/.well/x');
  });

  test.each(['a\r\nX-Admin: 1', 'a\nb', 'a\0', '\u2028', 'naïve 日本'])('a header value %j is refused', (value) => {
    expect(() => inHeader(value)).toThrow(expect.objectContaining({ code: 'E3509' }));
  });

  test('a parameter name cannot leave its place', () => {
    expect(inQuery('1', { name: 'a&admin' })).toBe('?a%26admin=1');
    expect(inCookie('1', { name: 'a; admin' })).toBe('a%3B%20admin=1');
  });
});

describe('bodies', () => {
  type Body = NonNullable<HttpOperation['body']>;
  const send = (body: Omit<Body, 'property'>, value: unknown): BuiltRequest =>
    build({ method: 'POST', body: { property: 'body', ...body } }, { body: value });
  const text = ({ body }: BuiltRequest): string | undefined => body?.toString('latin1');

  test('EXE-06 JSON, text and bytes', () => {
    const json = send({ content_type: 'application/vnd.x+json', encoding: 'json' }, { a: [null] });
    expect([text(json), json.headers['content-type']]).toEqual(['{"a":[null]}', 'application/vnd.x+json']);
    expect(text(send({ content_type: 'text/plain', encoding: 'text' }, 'plain'))).toBe('plain');
    expect(text(send({ content_type: 'image/png', encoding: 'base64' }, 'AP8='))).toBe('\0ÿ');
    expect(
      build({ method: 'POST', body: { property: 'body', content_type: 'a/b', encoding: 'json' } }, {}).body,
    ).toBeUndefined();
  });

  test('EXE-06 a form repeats lists, writes objects as JSON, and does as the operation says', () => {
    const value = { a: [1, 2], b: { c: 1 }, d: 'x&y=z', e: [1, 2], f: { g: 1 } };
    const fields = { e: { style: 'form', explode: false }, f: { style: 'deepObject' } } as const;
    expect(text(send({ content_type: 'application/x-www-form-urlencoded', encoding: 'form', fields }, value))).toBe(
      'a=1&a=2&b=%7B%22c%22%3A1%7D&d=x%26y%3Dz&e=1,2&f=g,1'.replace('f=g,1', 'f[g]=1'),
    );
  });

  test('EXE-06 multipart has one part for each field, and bytes for files', async () => {
    const sent = send(
      {
        content_type: 'multipart/form-data',
        encoding: 'multipart',
        fields: { file: { base64: true, content_type: 'image/png' } },
      },
      { name: 'x', tags: ['a', 'b'], meta: { k: 1 }, file: 'AP8=' },
    );
    const headers = { 'content-type': sent.headers['content-type'] ?? '' };
    const form = await new Response(new Uint8Array(sent.body ?? []), { headers }).formData();
    expect([form.get('name'), form.getAll('tags')]).toEqual(['x', ['a', 'b']]);
    const file = form.get('file') as File;
    expect([file.type, ...new Uint8Array(await file.arrayBuffer())]).toEqual(['image/png', 0, 255]);
    expect(form.get('meta')).toBeTruthy();
  });

  test('a field name cannot begin a header of its own', () => {
    const sent = send(
      { content_type: 'multipart/form-data', encoding: 'multipart' },
      { 'a"\r\nX-Admin: 1\r\n\r\n': 'v' },
    );
    expect(text(sent)).toContain('name="a%22%0D%0AX-Admin: 1%0D%0A%0D%0A"');
  });

  test.each([
    ['text', { a: 1 }],
    ['base64', 'not base64!'],
    ['base64', 7],
    ['form', 'text'],
    ['multipart', [1]],
  ] as const)('a body of encoding %s refuses %j', (encoding, value) => {
    expect(() => send({ content_type: 'a/b', encoding }, value)).toThrow(expect.objectContaining({ code: 'E3509' }));
  });
});
