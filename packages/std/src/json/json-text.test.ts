import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactJson, repeatedMemberIn, roundedIn, roundedInAnswers, tooDeepAt } from './json-text.ts';

const repeated = (text: string) => repeatedMemberIn(text, JSON.parse(text));

describe('a member that an object has twice', () => {
  it.each([
    ['{"a":1,"a":1}', '/a'],
    ['{"a":1,"b":[1,{"c":{}}],"a":1}', '/a'],
    ['{"x":[0,{"a":1},{"a":1,"a":2}]}', '/x/2/a'],
    ['[[{"~/":1,"~/":2}]]', '/0/0/~0~1'],
    [String.raw`{"a":1,"\u0061":2}`, '/a'],
    ['{"a":["]",{}],"b":"{","a":1}', '/a'],
    [String.raw`{"a\\":1,"b":2,"a\\":2}`, '/a\\'],
    ['{"__proto__":1,"__proto__":2}', '/__proto__'],
    ['{"":1,"":2}', '/'],
  ])('%s is found at its place', (text, pointer) => {
    expect(repeated(text)).toBe(pointer);
  });

  it('in JSON that a program wrote there is none', () => {
    fc.assert(fc.property(fc.json({ maxDepth: 5 }), (text) => repeated(text) === undefined));
    expect(repeated(String.raw`{"a":"\"a\":1,","b":"{\"b\":[","c":"\\","d":[{"a":1},{"a":2}]}`)).toBeUndefined();
  });
});

describe('whole numbers that a double does not hold', () => {
  it.each([
    ['9007199254740993', 9007199254740993n],
    ['-9007199254740993', -9007199254740993n],
    ['{"a":[1,12345678901234567890]}', { a: [1, 12345678901234567890n] }],
  ])('%s is a bigint', (text, value) => {
    expect(exactJson(text)).toEqual({ value });
  });

  it.each([
    '9007199254740992',
    '9223372036854775808',
    '1e300',
    '1e400',
    '0.12345678901234567890',
    '12345678901234567.5',
    '"9007199254740993"',
    '{"9007199254740993":1}',
    '1'.repeat(400),
  ])('%s stays as it is', (text) => {
    expect(exactJson(text)).toBeUndefined();
  });
});

it('the places of what is rounded are named, the first 20', () => {
  expect(roundedIn('{"id":9007199254740993,"a/":[1,-12345678901234567890],"b":9007199254740992}')).toEqual([
    '/id',
    '/a~1/1',
  ]);
  expect(roundedIn(`[${Array(21).fill('9007199254740993').join(' , ')}]`)).toHaveLength(20);
  expect(roundedIn('{"a":"9007199254740993"}')).toEqual([]);
  const nested = (levels: number): string => `${'['.repeat(levels)}9007199254740993${']'.repeat(levels)}`;
  expect([512, 513, 100_000].map((levels) => roundedIn(nested(levels)).length)).toEqual([1, 0, 0]);
});

it('the places of what is rounded are named for each answer', () => {
  const answer = '{"id":7,"result":{"n":9007199254740993},"x":9007199254740993}';
  expect(roundedInAnswers(answer)).toEqual([[7, ['/n']]]);
  expect(roundedInAnswers(`[${answer},null,3,{"id":8,"result":{}}]`)).toContainEqual([8, []]);
  expect(roundedInAnswers('{"id":7,"result":{"n":1}}')).toEqual([]);
  expect(roundedInAnswers('{"n":9007199254740993')).toEqual([]);
});

it('levels are counted outside strings', () => {
  expect(tooDeepAt('[[1]]', 2)).toBe(-1);
  expect(tooDeepAt('[{"[[":[1]}]', 2)).toBe(7);
});
