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
    ['a promise that nobody awaited', { a: Promise.resolve(1) }, '/a'],
    ['an error', { a: Object.assign(new Error('x'), { code: 1 }) }, '/a'],
    ['a response of fetch', new Response('x'), ''],
    ['a generator', [(function* () {})()], '/0'],
    ['what fails to write itself', { a: { toJSON: () => Reflect.get(Object(undefined).none, 'x') } }, '/a'],
    ['one of many', [1, 'x', 7n, null], '/2'],
  ])('%s would be lost, so it is a fault with its place', (_name, value, path) => {
    expect(plainJson(value).faults).toMatchObject([{ path, code: 'E3501', keyword: 'json' }]);
  });

  test('VAL-03 a fault says what JSON cannot hold, and null stands in its place', () => {
    const said = (value: unknown) => plainJson([value]).faults.map(({ message }) => message);
    const message = (what: string) => [`Holds ${what}, which JSON cannot hold.`];
    expect(said(Number.POSITIVE_INFINITY)).toEqual(message('the number Infinity'));
    expect(said(7n)).toEqual(message('a bigint'));
    expect(said(() => 1)).toEqual(message('a function'));
    expect(said(Symbol('x'))).toEqual(message('a symbol'));
    expect(said(new Map())).toEqual(message('a Map or a Set'));
    expect(said(new Set())).toEqual(message('a Map or a Set'));
    expect(plainJson({ 'a/b': [1, { c: Number.NaN }], d: true })).toEqual({
      value: { 'a/b': [1, { c: null }], d: true },
      faults: [
        {
          path: '/a~1b/1/c',
          code: 'E3501',
          keyword: 'json',
          message: 'Holds the number NaN, which JSON cannot hold.',
          hint: 'Return plain JSON.',
        },
      ],
    });
  });

  test('VAL-03 what is nested 256 levels deep is read, and one level more is a fault', () => {
    const nested = (levels: number): unknown => (levels === 1 ? 1 : [nested(levels - 1)]);
    expect(plainJson(nested(257)).faults).toMatchObject([
      { path: '/0'.repeat(256), message: 'Holds more than 256 levels, or itself, which JSON cannot hold.' },
    ]);
    const value = nested(256);
    expect(plainJson(value).value).toBe(value);
    const dated = (levels: number): unknown => (levels === 1 ? new Date(0) : [dated(levels - 1)]);
    expect(plainJson(dated(256)).faults).toEqual([]);
    expect(plainJson(dated(257)).faults).toHaveLength(1);
  });

  test('VAL-03 a member named toJSON that is no function is a member, and members of a prototype are none', () => {
    expect(plainJson({ toJSON: 1 })).toEqual({ value: { toJSON: 1 }, faults: [] });
    expect(plainJson({ a: { toJSON: () => 'x' } })).toEqual({ value: { a: 'x' }, faults: [] });
    const bare = Object.assign(Object.create(null), { a: null, b: 'x' });
    expect(plainJson(bare).value).toBe(bare);
    const inherited = Object.assign(Object.create({ a: 1 }), { b: 2 });
    expect(plainJson(inherited)).toEqual({ value: { b: 2 }, faults: [] });
    expect(plainJson([undefined])).toEqual({ value: [null], faults: [] });
    expect(plainJson({ a: { b: undefined, c: new Date(0) } }).value).toEqual({ a: { c: new Date(0).toJSON() } });
  });

  test('a value that holds itself ends', () => {
    const value: Record<string, unknown> = {};
    value['self'] = value;
    expect(plainJson(value).faults).toHaveLength(1);
    expect(plainJson(new Array(100).fill(Number.NaN)).faults).toHaveLength(20);
  });
});
