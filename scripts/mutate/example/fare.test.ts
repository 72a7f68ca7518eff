import { expect, test } from 'vitest';
import { fareOf } from './fare.ts';

test('a child rides free up to five', () => {
  expect(fareOf({ age: 5, isNight: false })).toBe(0);
  expect(fareOf({ age: 6, isNight: false })).toBeGreaterThan(0);
});
