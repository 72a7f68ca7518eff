import { expect, test } from 'vitest';
import { presentedCredential } from './bearer.ts';

test.each([
  ['nothing', {}, undefined],
  ['a token', { authorization: 'bearer  t ' }, 't'],
  ['a key', { 'x-api-key': ' sp_a ' }, 'sp_a'],
  ['both: Authorization counts', { authorization: 'Bearer t', 'x-api-key': 'sp_a' }, 't'],
  ['a key beside another scheme: neither', { authorization: 'Basic dTpw', 'x-api-key': 'sp_a' }, undefined],
  ['an empty key', { 'x-api-key': ' ' }, undefined],
  ['two keys', { 'x-api-key': ['sp_a', 'sp_b'] }, undefined],
])('PRM-10 %s', (_name, headers, expected) => {
  expect(presentedCredential(headers)).toBe(expected);
});
