import { describe, expect, test } from 'vitest';
import { editDistance } from './edit-distance.ts';
import { nearestName } from './nearest-name.ts';

describe('nearestName', () => {
  test.each([
    ['gren', ['red', 'green', 'blue'], 'green'],
    ['userName', ['name', 'user_name'], 'user_name'],
    ['zzz', ['red', 'green'], undefined],
    ['cat', ['bat', 'rat'], 'bat'],
    ['abcdef', ['abcxyz', 'abcdxx'], 'abcdxx'],
    ['abcdef', ['abcxyz'], undefined],
    ['ab', ['xb'], 'xb'],
    ['ab', ['xy'], undefined],
    ['USER id', ['user-id'], 'user-id'],
    ['a'.repeat(64), [`${'a'.repeat(63)}b`], `${'a'.repeat(63)}b`],
    ['a'.repeat(64), ['a'.repeat(65)], undefined],
    ['x1', [...new Array<string>(511).fill('zzz'), 'x2'], 'x2'],
    ['x1', [...new Array<string>(512).fill('zzz'), 'x2'], undefined],
    ['x', [], undefined],
    ['a'.repeat(65), ['a'.repeat(65)], undefined],
  ])('%s of %j is %s', (given, candidates, expected) => {
    expect(nearestName(given, candidates)).toBe(expected);
  });
});

test('the distance counts insertions, deletions and replacements', () => {
  expect([editDistance('', 'abc'), editDistance('kitten', 'sitting'), editDistance('a', 'a')]).toEqual([3, 3, 0]);
});
