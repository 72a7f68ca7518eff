import { expect, test } from 'vitest';
import { findMutants } from './find-mutants.ts';
import { instrument, SWITCH } from './instrument.ts';

const mutantsOf = (body: string) =>
  findMutants(`function f(a: number, b?: string) { ${body} }`).map(
    ({ original, replacement }) => `${original} -> ${replacement}`,
  );

test('a condition becomes true and false, a comparison its neighbours', () => {
  expect(mutantsOf('if (a < 3) b;')).toEqual([
    'a < 3 -> true',
    'a < 3 -> false',
    'a < 3 -> a <= 3',
    'a < 3 -> a >= 3',
    'b; -> ',
  ]);
});

test('an operand is left out, and an operator swapped', () => {
  expect(mutantsOf('return a && b;')).toEqual([
    'a && b -> undefined',
    'a && b -> a || b',
    'a && b -> a',
    'a && b -> b',
  ]);
});

test('an awaited call is left out, and not waited for', () => {
  expect(mutantsOf('await a.write();')).toEqual(['await a.write(); -> ', 'await a.write(); -> a.write();']);
});

test('types, names, sentences and what runs when the module is loaded stay as they are', () => {
  expect(findMutants(`const LIMIT = [1]; type T = 'a' | 'b'; import x from 'y';`)).toEqual([]);
  expect(mutantsOf(`return { 'x': b as 'y', ...['one two'] }.toString();`)).toEqual([
    `{ 'x': b as 'y', ...['one two'] }.toString() -> undefined`,
    `{ 'x': b as 'y', ...['one two'] } -> {}`,
    `['one two'] -> []`,
  ]);
});

test('an instrumented source does what it did, and with a mutant what the mutant does', () => {
  const source = 'const f = (a, b) => { let n = 1; if (a === 1 || !b) n += 2; return n; }; f';
  const mutants = findMutants(source).map((mutant, index) => ({ ...mutant, id: index + 1 }));
  const run = (id: number): ((a: number, b: boolean) => number) =>
    new Function(SWITCH, `return ${instrument(source, mutants).replace('const f =', '').replace('; f', '')}`)(
      (each: number) => each === id,
    );
  const idOf = (replacement: string) => mutants.find((mutant) => mutant.replacement === replacement)?.id ?? 0;
  expect(run(0)(1, true)).toBe(3);
  expect(run(0)(2, true)).toBe(1);
  expect(run(idOf('b'))(2, true)).toBe(3);
  expect(run(idOf('a !== 1'))(1, true)).toBe(1);
  expect(run(idOf('n -= 2'))(1, true)).toBe(-1);
});
