import { describe, expect, test } from 'vitest';
import { plainCopy } from './plain-json.ts';

const paths = (value: unknown): string[] => plainCopy(value).faults.map(({ path, keyword }) => `${path} ${keyword}`);

test('JSON is copied as it is, members that are undefined are left out, and the copy is independent', () => {
  const given = { a: [1, 'x', null, { b: true }], gone: undefined };
  const { value, faults } = plainCopy(given);
  expect(value).toEqual({ a: [1, 'x', null, { b: true }] });
  expect(Object.keys(value as object)).toEqual(['a']);
  expect(faults).toEqual([]);
  expect((value as typeof given).a).not.toBe(given.a);
});

test('what JSON cannot hold is a fault with its place', () => {
  const given = { f: () => 1, list: [Symbol('s'), 1n], when: new Date(0), pattern: /x/, n: Number.NaN };
  expect(paths(given)).toEqual(['/f type', '/list/0 type', '/list/1 type', '/when type', '/pattern type', '/n number']);
});

describe('hostile objects', () => {
  test('circles end, and the same object in two places is no circle', () => {
    const circle: Record<string, unknown> = { a: {} };
    (circle['a'] as Record<string, unknown>)['back/up'] = circle;
    expect(paths(circle)).toEqual(['/a/back~1up circle']);
    const shared = { x: 1 };
    expect(plainCopy({ one: shared, two: shared })).toEqual({ value: { one: { x: 1 }, two: { x: 1 } }, faults: [] });
  });

  test('getters are read once, and one that throws is a fault', () => {
    let reads = 0;
    const given = {
      get calm() {
        reads += 1;
        return 'x';
      },
      get angry(): string {
        throw new Error('no');
      },
    };
    const { value, faults } = plainCopy(given);
    expect(value).toEqual({ calm: 'x' });
    expect(reads).toBe(1);
    expect(faults).toMatchObject([{ path: '/angry', keyword: 'getter' }]);
  });

  test('a member named __proto__ is a fault and changes no prototype', () => {
    const { value, faults } = plainCopy(JSON.parse('{"a": 1, "__proto__": {"admin": true}}'));
    expect(faults).toMatchObject([{ path: '/__proto__', keyword: 'key' }]);
    expect((value as { admin?: boolean }).admin).toBeUndefined();
    expect(plainCopy(JSON.parse('{"constructor": 1}')).faults).toEqual([]);
  });

  test('deep, huge and sparse values are bounded', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 128; level += 1) deep = [deep];
    expect(plainCopy(deep).faults).toEqual([]);
    expect(plainCopy([deep]).faults).toMatchObject([{ keyword: 'depth' }]);
    expect(plainCopy(Array.from({ length: 200_001 }, () => 0)).faults).toMatchObject([{ keyword: 'size' }]);
    const unfolding: unknown[] = [[]];
    for (let level = 0; level < 60; level += 1) unfolding.push([unfolding[level], unfolding[level]]);
    expect(plainCopy(unfolding[60]).faults[0]).toMatchObject({ keyword: 'size' });
    expect(plainCopy(new Array(4_000_000_000)).faults).toMatchObject([{ keyword: 'size' }]);
  });
});
