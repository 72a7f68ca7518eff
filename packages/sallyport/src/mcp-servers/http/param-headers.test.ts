import { expect, test } from 'vitest';
import { headersFor, takeParamHeaders } from './param-headers.ts';

const property = (name: unknown, type: unknown = 'string') => ({ type, 'x-mcp-header': name });
const take = (...schemas: readonly Record<string, unknown>[]) =>
  takeParamHeaders({
    tools: schemas.map((inputSchema, at) => ({ name: `t${at}`, inputSchema })),
    malformed: [{ place: 'tools[7]', reason: 'the entry has no name' }],
  });

const declared =
  take({
    properties: {
      a: property('A'),
      deep: { type: 'object', properties: { b: property('B', 'integer') } },
      plain: { type: 'array', items: { type: 'string' } },
    },
  }).headers.get('t0') ?? [];

test('EXE-07 properties below properties are repeated as headers', () => {
  expect(declared).toEqual([
    { header: 'Mcp-Param-A', path: ['a'] },
    { header: 'Mcp-Param-B', path: ['deep', 'b'] },
  ]);
});

test.each<[string, Record<string, unknown>]>([
  ['its root', property('Root')],
  ['no name', { properties: { a: property(7) } }],
  ['an empty name', { properties: { a: property('') } }],
  ['a name that ends the header', { properties: { a: property('two words\r\nX: y') } }],
  ['a number', { properties: { a: property('A', 'number') } }],
  ['an object', { properties: { a: property('A', 'object') } }],
  ['several types', { properties: { a: property('A', ['string', 'null']) } }],
  ['one name twice', { properties: { a: property('A'), b: property('a') } }],
  ['an element', { properties: { a: { type: 'array', items: property('A') } } }],
  ['a property of an element', { properties: { a: { items: { properties: { b: property('B') } } } } }],
  ['a branch', { anyOf: [{ properties: { a: property('A') } }] }],
  ['a definition', { $defs: { a: property('A') }, properties: { a: { $ref: '#/$defs/a' } } }],
])('EXE-07 a tool that marks %s for a header is no tool, and the reason is told', (_what, schema) => {
  const fine = { properties: { a: property('A') } };
  const { listing, headers } = take(schema, fine);
  expect(listing.tools.map(({ name }) => name)).toEqual(['t1']);
  expect([...headers.keys()]).toEqual(['t1']);
  expect(listing.malformed).toEqual([
    { place: 'tools[7]', reason: 'the entry has no name' },
    { place: 't0', reason: expect.stringContaining('x-mcp-header at /') },
  ]);
});

test('values are sent plainly where a header can hold them, else encoded, and not at all when they are none', () => {
  const header = (a: unknown) => headersFor(declared, { a })['Mcp-Param-A'];
  expect(header('plain text')).toBe('plain text');
  expect(header(42)).toBe('42');
  expect(header(false)).toBe('false');
  for (const text of ['', ' padded', 'é', 'line\r\nX-Evil: 1', '=?base64?eA==?=']) {
    expect(header(text)).toBe(`=?base64?${Buffer.from(text).toString('base64')}?=`);
  }
  for (const none of [null, undefined, {}, [], Number.NaN]) expect(header(none)).toBeUndefined();
  expect(headersFor(declared, { deep: { b: 'x' } })).toEqual({ 'Mcp-Param-B': 'x' });
  expect(headersFor(declared, { deep: 'no object' })).toEqual({});
});
