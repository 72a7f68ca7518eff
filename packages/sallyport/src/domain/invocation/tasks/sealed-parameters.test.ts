import { expect, test } from 'vitest';
import { parametersSeal } from './sealed-parameters.ts';

const PLACE = ['acme', 'call-1', 'parameters'];
const seal = parametersSeal(new Uint8Array(32));

test('PIPE-07 encrypted arguments open with their key at their place, and nowhere else', () => {
  const parameters = { text: 'hello \0 🙂', deep: [{ n: 1.5 }, null] };
  const sealed = seal.seal(parameters, PLACE);
  expect(JSON.stringify(sealed)).not.toContain('hello');
  expect(seal.open(sealed, PLACE)).toEqual(parameters);
  expect(seal.open(sealed, ['acme', 'call-2', 'parameters'])).toBeUndefined();
  expect(parametersSeal(new Uint8Array(32).fill(1)).open(sealed, PLACE)).toBeUndefined();
});

test('PIPE-07 arguments that look like encrypted ones come back as they are', () => {
  const parameters = { sealed: 'sealed:1:AAAA' };
  expect(seal.open(seal.seal(parameters, PLACE), PLACE)).toEqual(parameters);
});

test('PIPE-07 arguments that were stored before encryption are read as they are', () => {
  expect(seal.open({ sealed: 'yes', n: 1 }, PLACE)).toEqual({ sealed: 'yes', n: 1 });
});
