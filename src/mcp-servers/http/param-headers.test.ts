import { expect, test } from 'vitest';
import { headersFor, paramHeadersOf } from './param-headers.ts';

const property = (name: unknown) => ({ type: 'string', 'x-mcp-header': name });
const declared = paramHeadersOf({
  name: 't',
  inputSchema: {
    'x-mcp-header': 'Root',
    properties: {
      a: property('A'),
      deep: { type: 'object', properties: { b: property('B') } },
      bad: property('two words\r\nX: y'),
      none: property(7),
    },
  },
});

test('only properties with a valid header name are repeated', () => {
  expect(declared).toEqual([
    { header: 'Mcp-Param-A', path: ['a'] },
    { header: 'Mcp-Param-B', path: ['deep', 'b'] },
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
