import { expect, test } from 'vitest';
import { type AppendColumn, valuesOf } from './append-columns.ts';

test('each column of rows is an array, as PostgreSQL reads one', () => {
  const text: AppendColumn<string | undefined> = { name: 'it', type: 'text', of: (row) => row };
  for (const [rows, array] of [
    [[], '{}'],
    [['a'], '{"a"}'],
    [['a', undefined], '{"a",NULL}'],
    [['', 'NULL', 'a,{}', '"\\"'], '{"","NULL","a,{}","\\"\\\\\\""}'],
  ] as const) {
    expect(valuesOf([text], rows)).toEqual([array]);
  }
  const number: AppendColumn<string> = { name: 'size', type: 'bigint', of: ({ length }) => length };
  const upper: AppendColumn<string> = { ...text, of: (row) => row, write: (given) => given.toUpperCase() };
  expect(valuesOf([number, upper], ['ab', 'c'])).toEqual(['{2,1}', '{"AB","C"}']);
});
