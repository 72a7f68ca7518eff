import { expect, test } from 'vitest';
import { type AppendColumn, valuesOfMany, valuesOfOne } from './append-columns.ts';

const TEXT: AppendColumn<string | undefined> = { name: 'it', type: 'text', of: (row) => row };
const OWN: AppendColumn<string | undefined> = { ...TEXT, own: true };

test('what all rows have travels once, and anything else as the array of all', () => {
  for (const [rows, values] of [
    [[], ['{}', null]],
    [['a'], ['{}', 'a']],
    [
      ['a', 'a'],
      ['{}', 'a'],
    ],
    [
      [undefined, undefined],
      ['{}', null],
    ],
    [
      ['a', undefined],
      ['{"a",NULL}', null],
    ],
    [
      [undefined, 'a'],
      ['{NULL,"a"}', null],
    ],
    [
      ['', 'NULL', 'a,{}', '"\\"'],
      ['{"","NULL","a,{}","\\"\\\\\\""}', null],
    ],
  ] as const) {
    expect(valuesOfMany([TEXT], rows)).toEqual(values);
  }
  expect(valuesOfMany([OWN], ['a', 'a'])).toEqual(['{"a","a"}']);
});

test('the columns of one row stand beside one another', () => {
  const number: AppendColumn<string> = { name: 'size', type: 'bigint', of: ({ length }) => length };
  const upper: AppendColumn<string> = {
    name: 'it',
    type: 'text',
    of: (row) => row,
    write: (text) => text.toUpperCase(),
  };
  expect(valuesOfOne([number, upper], ['ab'])).toEqual(['2', 'AB']);
});
