import { describe, expect, test } from 'vitest';
import { plainJson } from './plain-json.ts';

describe('VAL-03 a result as JSON', () => {
  test('that is plain is the very same value', () => {
    const value = { a: [1, 'x', null, { b: false }], [Symbol.iterator.toString()]: 1 };
    expect(plainJson(value)).toEqual({ value, faults: [] });
    expect(plainJson(value).value).toBe(value);
    expect(plainJson(undefined)).toEqual({ value: undefined, faults: [] });
  });

  test('dates, and what writes itself, become what they write; what is undefined goes', () => {
    class Money {
      readonly cents = 12;
      toJSON(): string {
        return '0.12';
      }
    }
    class Point {
      readonly x = 1;
    }
    const given = { at: new Date(0), sum: new Money(), gone: undefined, list: [undefined, new Point()] };
    expect(plainJson(given)).toEqual({
      value: { at: '1970-01-01T00:00:00.000Z', sum: '0.12', list: [null, { x: 1 }] },
      faults: [],
    });
    expect(given.at).toBeInstanceOf(Date);
  });

  test.each([
    ['NaN', { a: Number.NaN }, '/a'],
    ['infinity', [Number.NEGATIVE_INFINITY], '/0'],
    ['a big integer', { a: { b: 7n } }, '/a/b'],
    ['a map', new Map([[1, 2]]), ''],
    ['a set', { a: new Set([1]) }, '/a'],
    ['a function', { a: () => 1 }, '/a'],
    ['a symbol', [Symbol('x')], '/0'],
    ['one of many', [1, 'x', 7n, null], '/2'],
  ])('%s would be lost, so it is a fault with its place', (_name, value, path) => {
    expect(plainJson(value).faults).toMatchObject([{ path, code: 'E3501', keyword: 'json' }]);
  });

  test('a value that holds itself ends', () => {
    const value: Record<string, unknown> = {};
    value['self'] = value;
    expect(plainJson(value).faults).toHaveLength(1);
    expect(plainJson(new Array(100).fill(Number.NaN)).faults).toHaveLength(20);
  });
});
