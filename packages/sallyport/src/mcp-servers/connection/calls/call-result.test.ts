import { expect, test } from 'vitest';
import { callResultOf } from './call-result.ts';

test.each<[string, object | undefined, object | undefined]>([
  ['keys of the protocol', { 'io.modelcontextprotocol/serverInfo': {}, mine: 1 }, { mine: 1 }],
  ['keys of the layer', { 'sallyport/dry_run': true, 'example.com/x': 1 }, { 'example.com/x': 1 }],
  ['nothing else', { 'io.modelcontextprotocol/related-task': {} }, undefined],
  [
    'a look-alike',
    { 'io.modelcontextprotocol.evil/x': 1, 'my-sallyport/x': 1 },
    { 'io.modelcontextprotocol.evil/x': 1, 'my-sallyport/x': 1 },
  ],
])('API-03 of the _meta of a result the reserved keys are taken out: %s', (_what, given, kept) => {
  const content = [{ type: 'text', text: 'x', _meta: { a: 1 } }];
  const meta = given === undefined ? {} : { _meta: given };
  expect(callResultOf({ content, isError: false, ...meta }, 'up')).toEqual({
    ...{ content, isError: false },
    ...(kept === undefined ? {} : { _meta: kept }),
  });
});

test('a result without _meta is the same object', () => {
  const result = { content: [] };
  expect(callResultOf(result, 'up')).toBe(result);
});
