import { describe, expect, test } from 'vitest';
import { checkPayload } from './check-payload.ts';

const nested = (levels: number): unknown => {
  let value: unknown = 1;
  for (let level = 1; level < levels; level++) value = { a: value };
  return value;
};
const codes = (value: unknown, bounds = {}) => checkPayload(value, bounds).map(({ code, path }) => `${code} ${path}`);

describe('checkPayload', () => {
  test('plain JSON passes', () => {
    expect(codes({ a: [1, 'x', null, true, { b: '😀' }], constructor: 'Ferrari', gone: undefined })).toEqual([]);
  });

  test('VAL-06.5 nesting is refused one level beyond the bound, and ten thousand levels do not overflow the stack', () => {
    expect(codes(nested(64))).toEqual([]);
    expect(checkPayload(nested(65))[0]).toMatchObject({ code: 'E3810', keyword: 'depth' });
    expect(checkPayload(nested(10_000))).toHaveLength(1);
    expect(checkPayload(nested(10_000), { depthMax: 1e9 })).toHaveLength(1);
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    expect(checkPayload(cyclic)).toHaveLength(1);
  });

  test.each([
    ['__proto__', '{"a":{"__proto__":{"x":1}}}', '/a/__proto__'],
    ['__proto__ with a scalar', '{"__proto__":1}', '/__proto__'],
    ['constructor with an object', '{"constructor":{"prototype":{}}}', '/constructor'],
    ['prototype with an object', '[{"prototype":{}}]', '/0/prototype'],
    ['a lone surrogate', '{"a":"\\ud800"}', '/a'],
    ['a lone surrogate in a name', '{"\\ud800":1}', '/\ufffd'],
    ['U+0000', '["\\u0000"]', '/0'],
  ])('VAL-06.2 %s is refused with its place', (_name, json, path) => {
    expect(codes(JSON.parse(json))).toEqual([`E3801 ${path}`]);
  });

  test.each([[Number.NaN], [Number.POSITIVE_INFINITY], [10n], [() => 1], [new Date(0)], [new Map()]])(
    '%s is not JSON',
    (value) => {
      expect(codes({ a: value })).toEqual(['E3801 /a']);
    },
  );

  test('VAL-06.3 the length of a text counts in bytes', () => {
    expect(codes('é'.repeat(50), { stringBytesMax: 100 })).toEqual([]);
    expect(codes('é'.repeat(51), { stringBytesMax: 100 })).toEqual(['E3810 ']);
    expect(codes({ ['é'.repeat(51)]: 1 }, { stringBytesMax: 100 })).toHaveLength(1);
  });

  test('members of the whole value are counted together', () => {
    expect(codes([[1, 2], [3]], { membersMax: 5 })).toEqual([]);
    expect(
      codes(
        [
          [1, 2],
          [3, 4],
        ],
        { membersMax: 5 },
      ),
    ).toEqual(['E3810 /1']);
  });

  test('all faults are listed up to a bound', () => {
    expect(codes(['\0', '\0'])).toHaveLength(2);
    expect(codes(new Array(1000).fill('\0'))).toHaveLength(20);
  });
});
