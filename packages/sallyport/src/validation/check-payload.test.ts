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

  test('VAL-06 each fault says what is wrong and what to change', () => {
    const text = (value: unknown, bounds = {}) =>
      checkPayload(value, bounds).map(({ code, keyword, message, hint }) => [code, keyword, message, hint]);
    expect(text(nested(3), { depthMax: 2 })).toEqual([
      ['E3810', 'depth', 'The value is nested more than 2 levels deep.', 'Make it flatter.'],
    ]);
    expect(checkPayload(nested(600), { depthMax: 1000 })[0]?.message).toContain('more than 512 levels');
    expect(text([1, 2, 3], { membersMax: 2 })).toEqual([
      ['E3810', 'members', 'The value has more than 2 members and elements.', 'Send less at once.'],
    ]);
    expect(text('abc', { stringBytesMax: 2 })).toEqual([
      ['E3810', 'length', 'The text is longer than 2 bytes.', 'Shorten it.'],
    ]);
    expect(text({ abc: 1 }, { stringBytesMax: 2 })).toEqual([
      ['E3810', 'length', 'The property name is longer than 2 bytes.', 'Shorten it.'],
    ]);
    const unicode = (what: string, how: string, hint: string) => [
      ['E3801', 'unicode', `The ${what} holds ${how}.`, hint],
    ];
    expect(text('\udc00')).toEqual(unicode('text', 'half of a surrogate pair', 'Send well-formed Unicode.'));
    expect(text('\0')).toEqual(unicode('text', 'U+0000', 'Leave that character out.'));
    expect(text({ '\u0001': 1 })).toEqual(
      unicode('property name', 'a control character or a byte order mark', 'Leave it out.'),
    );
    expect(text(2n ** 53n + 1n)).toEqual([
      [
        'E3801',
        'json',
        'The whole number has more digits than a number keeps.',
        'Send it as a text, if the tool takes one; as a number it would become another one.',
      ],
    ]);
    expect(text(1n)).toEqual([
      [
        'E3801',
        'json',
        'The value is not JSON.',
        'Use null, true, false, a finite number, a text, a list or an object.',
      ],
    ]);
    expect(text(new Date(0))).toEqual([['E3801', 'json', 'The value is not a plain JSON object.', 'Send plain JSON.']]);
    expect(text({ prototype: {} })).toEqual([
      ['E3801', 'key', 'The property name "prototype" is not allowed.', 'Rename it.'],
    ]);
  });

  test('VAL-06 objects without a prototype, and names of the prototype without an object, are plain', () => {
    const bare = Object.assign(Object.create(null), { a: 1 });
    expect(codes([bare, { prototype: 1, constructor: null }, { prototype: undefined }])).toEqual([]);
    expect(codes(Object.create({ a: 1 }))).toEqual(['E3801 ']);
    expect(codes({ toString: 1, valueOf: {} })).toEqual([]);
  });

  test('VAL-06 a bound ends the check, other faults do not; what is not there does not count', () => {
    expect(codes(['\0', nested(3), '\0'], { depthMax: 3 })).toEqual(['E3801 /0', 'E3810 /1/a/a']);
    expect(codes({ a: '\0', b: [1, 2, 3], c: '\0' }, { membersMax: 5 })).toEqual(['E3801 /a', 'E3810 /b']);
    expect(codes({ a: 'xxx', b: '\0' }, { stringBytesMax: 2 })).toEqual(['E3810 /a']);
    expect(codes({ a: undefined, b: 1 }, { membersMax: 1 })).toEqual(['E3810 ']);
    expect(codes({ '\0': '\0' })).toEqual(['E3801 /\ufffd', 'E3801 /\ufffd']);
  });

  test('VAL-06 a name in a place is shortened to 64 characters', () => {
    const place = (length: number) => checkPayload({ ['n'.repeat(length)]: '\0' })[0]?.path;
    expect([place(64), place(65)]).toEqual([`/${'n'.repeat(64)}`, `/${'n'.repeat(64)}`]);
    expect(codes({ 'a/b': ['\0'] })).toEqual(['E3801 /a~1b/0']);
  });

  test('all faults are listed up to a bound', () => {
    expect(codes(['\0', '\0'])).toHaveLength(2);
    expect(codes(new Array(1000).fill('\0'))).toHaveLength(20);
  });
});
