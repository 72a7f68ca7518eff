import { describe, expect, test } from 'vitest';
import { checkPayload } from './check-payload.ts';
import { withoutControls } from './control-characters.ts';

const ESC = String.fromCharCode(0x1b);
const BOM = '\ufeff';

describe('VAL-06 control characters', () => {
  test.each([['plain text'], ['a\tb\r\nc'], ['é 😀 \u0085 \u200b']])('%j passes as it is', (text) => {
    const value = { text: [text] };
    for (const mode of ['refuse', 'strip'] as const)
      expect(withoutControls(value, mode)).toEqual({ value, faults: [] });
    expect(withoutControls(value, 'strip').value).toBe(value);
  });

  test.each([
    ['an escape', `red ${ESC}[31m`, 'U+001B at 4', 'red [31m'],
    ['a backspace', 'rm\b\b', 'U+0008 at 2', 'rm'],
    ['a form feed', 'a\fb', 'U+000C at 1', 'ab'],
    ['DEL', 'a\x7f', 'U+007F at 1', 'a'],
    ['a byte order mark', `${BOM}{}`, 'U+FEFF at 0', '{}'],
  ])('%s is refused with its place, or taken out', (_name, text, where, stripped) => {
    expect(withoutControls({ 'a/b': [1, text] }, 'refuse').faults).toMatchObject([
      { path: '/a~1b/1', code: 'E3801', message: expect.stringContaining(where) },
    ]);
    expect(withoutControls({ a: [1, text] }, 'strip')).toEqual({ value: { a: [1, stripped] }, faults: [] });
  });

  test('may stand where the owner of the tool expects anything', () => {
    const isRaw = (path: string): boolean => path === '/raw';
    expect(withoutControls({ raw: ESC, text: 'x' }, 'refuse', isRaw).faults).toEqual([]);
    expect(withoutControls({ raw: ESC, text: ESC }, 'refuse', isRaw).faults).toMatchObject([{ path: '/text' }]);
    expect(withoutControls({ raw: ESC, text: ESC }, 'strip', isRaw).value).toEqual({ raw: ESC, text: '' });
  });

  test('VAL-06 a fault names the first of them and what to do; a copy is made of what holds one alone', () => {
    expect(withoutControls(`a\tb${ESC}\b`, 'refuse')).toEqual({
      value: `a\tb${ESC}\b`,
      faults: [
        {
          path: '',
          code: 'E3801',
          keyword: 'control',
          message: 'The text holds the control character U+001B at 3.',
          hint: 'Leave it out, or write it as an escape that the tool reads.',
        },
      ],
    });
    const value = { a: ESC, b: [null, 1, true, { c: 'x' }] };
    expect(withoutControls(value, 'strip')).toEqual({ value: { ...value, a: '' }, faults: [] });
    expect(value.a).toBe(ESC);
    for (const scalar of [null, 7, true, undefined])
      expect(withoutControls(scalar, 'refuse')).toEqual({ value: scalar, faults: [] });
    expect(withoutControls({ a: { b: [[ESC]] } }, 'refuse').faults).toMatchObject([{ path: '/a/b/0/0' }]);
    expect(withoutControls(`${ESC}a${ESC}b${BOM}`, 'strip').value).toBe('ab');
  });

  test('are listed up to a bound', () => {
    expect(withoutControls(new Array(1000).fill(ESC), 'refuse').faults).toHaveLength(20);
  });

  test.each([[`a${ESC}`], ['a\tb'], ['a\n'], [`${BOM}a`], ['a\u0085']])('never stand in a name: %j', (name) => {
    expect(checkPayload({ [name]: 1 })).toMatchObject([{ code: 'E3801', keyword: 'unicode' }]);
    expect(checkPayload({ a: name })).toEqual([]);
  });
});
