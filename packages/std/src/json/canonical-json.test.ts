import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson } from './canonical-json.ts';

test('members stand in the order of their keys, at every depth, without white space', () => {
  expect(canonicalJson({ b: 1, a: { d: [3, { z: null, y: true }], c: 'x' } })).toBe(
    '{"a":{"c":"x","d":[3,{"y":true,"z":null}]},"b":1}',
  );
});

test('keys are sorted by UTF-16 code units (RFC 8785 §3.2.3)', () => {
  const keys = ['\u20ac', '\r', '\ufb33', '1', '\ud83d\ude00', '\u0080', '\u00f6'];
  const text = canonicalJson(Object.fromEntries(keys.map((key) => [key, 0])));
  expect(Object.keys(JSON.parse(text))).toEqual(['1', '\r', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33']);
});

test('numbers are written as RFC 8785 says', () => {
  expect(canonicalJson(JSON.parse('[333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001, -0]'))).toBe(
    '[333333333.3333333,1e+30,4.5,0.002,1e-27,0]',
  );
});

test('what JSON cannot say is written as JSON.stringify does', () => {
  expect(canonicalJson({ a: undefined, b: () => 1, c: Symbol('s'), d: [undefined] })).toBe('{"d":[null]}');
  expect(canonicalJson(undefined)).toBe('null');
  expect(canonicalJson({ at: new Date(0) })).toBe('{"at":"1970-01-01T00:00:00.000Z"}');
  expect(canonicalJson(Number.NaN)).toBe('null');
});

test('a bigint is refused', () => {
  expect(() => canonicalJson({ a: 1n })).toThrow(TypeError);
});

test('a member named __proto__ is a member like others', () => {
  expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"x":1}}'))).toBe('{"__proto__":{"x":1},"b":1}');
});

test('for every JSON value: it reads back as the same value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test('for every JSON value: the order of members does not matter', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
    }),
  );
});

test('different values have different texts', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      const same = JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
      expect(canonicalJson(one) === canonicalJson(other)).toBe(same);
    }),
  );
});

function mapMembers(value: unknown, order: (keys: string[]) => string[], inner: (value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(inner);
  if (typeof value !== 'object' || value === null) return value;
  const members = value as Record<string, unknown>;
  // Entries are defined, not assigned, so that a key __proto__ stays a member.
  return Object.fromEntries(order(Object.keys(members)).map((key) => [key, inner(members[key])]));
}

function reversed(value: unknown): unknown {
  return mapMembers(value, (keys) => keys.reverse(), reversed);
}

function sorted(value: unknown): unknown {
  return mapMembers(value, (keys) => keys.sort(), sorted);
}
