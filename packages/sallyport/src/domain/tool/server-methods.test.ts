import { expect, test } from 'vitest';
import { nameInUpstream } from './server-methods.ts';

test('REG-09.5 a name of a server ends in no dash, is none of the layer’s own, and is read in time', () => {
  expect(['add', 'a b', 'a--', '-', ''].map(nameInUpstream)).toEqual(['add', 'a_b', 'a_', '_', '_']);
  expect(nameInUpstream(`a${'-'.repeat(1_000_000)}b`)).toHaveLength(1_000_002);
});
