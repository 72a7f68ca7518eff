import { describe, expect, test } from 'vitest';
import { editDistance } from './edit-distance.ts';
import { nearestName } from './nearest-name.ts';

describe('nearestName', () => {
  test.each([
    ['gren', ['red', 'green', 'blue'], 'green'],
    ['userName', ['name', 'user_name'], 'user_name'],
    ['zzz', ['red', 'green'], undefined],
    ['x', [], undefined],
    ['a'.repeat(65), ['a'.repeat(65)], undefined],
  ])('%s of %j is %s', (given, candidates, expected) => {
    expect(nearestName(given, candidates)).toBe(expected);
  });
});

test('the distance counts insertions, deletions and replacements', () => {
  expect([editDistance('', 'abc'), editDistance('kitten', 'sitting'), editDistance('a', 'a')]).toEqual([3, 3, 0]);
});
