import { expect, test } from 'vitest';
import { uniqueNames } from './unique-names.ts';

test('a name that is taken gets the first free number, whoever took the others', () => {
  const unique = uniqueNames(
    (name, number) => `${name}_${number}`,
    (name) => name === 'a_3',
  );
  expect(['a', 'b', 'a', 'a_2', 'a', 'a'].map(unique)).toEqual(['a', 'b', 'a_2', 'a_2_2', 'a_4', 'a_5']);
});

test('the time of 200,000 equal names grows with their number', () => {
  const unique = uniqueNames((name, number) => `${name} ${number}`);
  const names = Array.from({ length: 200_000 }, () => unique('same'));
  expect(new Set(names).size).toBe(200_000);
  expect(names.at(-1)).toBe('same 200000');
});
