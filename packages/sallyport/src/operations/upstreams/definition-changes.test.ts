import { expect, test } from 'vitest';
import { CHANGES_MAX, definitionChanges } from './definition-changes.ts';

test('REG-09 what differs is told member by member, with pointers', () => {
  const before = {
    description: 'Old.',
    inputSchema: { required: ['a'], properties: { a: { type: 'string' }, b: {} } },
  };
  const after = {
    description: 'New.\nTwo lines.',
    inputSchema: { required: ['a', 'c'], properties: { a: { type: 'number' }, 'c/d': { items: [{ x: 1 }] } } },
  };
  expect(definitionChanges(before, after)).toEqual({
    changes: [
      { path: '/description', kind: 'changed', before: '"Old."', after: '"New.\\nTwo lines."' },
      { path: '/inputSchema/required', kind: 'changed', before: '["a"]', after: '["a","c"]' },
      { path: '/inputSchema/properties/a/type', kind: 'changed', before: '"string"', after: '"number"' },
      { path: '/inputSchema/properties/b', kind: 'removed', before: '{}' },
      { path: '/inputSchema/properties/c~1d', kind: 'added', after: '{"items":[{"x":1}]}' },
    ],
    leftOut: 0,
  });
  expect(definitionChanges({ a: 1, b: 2 }, { b: 2, a: 1 }).changes).toEqual([]);
});

test('many changes and long ones are cut, and a name of the language is a name like any other', () => {
  const many = (value: number) =>
    Object.fromEntries(Array.from({ length: CHANGES_MAX + 5 }, (_, at) => [`m${at}`, value]));
  const { changes, leftOut } = definitionChanges(many(1), many(2));
  expect([changes.length, leftOut]).toEqual([CHANGES_MAX, 5]);
  expect(definitionChanges('', 'x'.repeat(10_000)).changes[0]?.after?.length).toBe(2_000);
  const odd = JSON.parse('{"__proto__": {"x": 1}, "constructor": 2}') as object;
  expect(definitionChanges({}, odd).changes.map(({ path }) => path)).toEqual(['/__proto__', '/constructor']);
});
