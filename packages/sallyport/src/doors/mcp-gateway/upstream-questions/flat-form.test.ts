import { describe, expect, it } from 'vitest';
import { flatFormOf } from './flat-form.ts';

const form = (properties: Record<string, unknown>, required: unknown = []) =>
  flatFormOf({ type: 'object', properties, required });

describe('a flat form', () => {
  it.each<[string, Record<string, unknown>, unknown[], unknown[]]>([
    ['text', { type: 'string', minLength: 1, maxLength: 2 }, ['a', '👍👍'], ['', 'abc', 1, null]],
    ['a number', { type: 'number', minimum: 0, maximum: 1 }, [0, 0.5, 1], [-1, 2, '0', Number.NaN]],
    ['a whole number', { type: 'integer' }, [3], [3.5, '3']],
    ['a box', { type: 'boolean' }, [true, false], ['true', 0]],
    ['a choice', { type: 'string', enum: ['a', 'b'] }, ['a'], ['c', 'A', ['a']]],
    ['a titled choice', { type: 'string', oneOf: [{ const: 'a', title: 'A' }] }, ['a'], ['A']],
    [
      'several',
      { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, maxItems: 1 },
      [['a'], []],
      [['a', 'b'], 'a', ['c']],
    ],
  ])('takes %s that fits, and nothing else', (_what, field, good, bad) => {
    const made = form({ x: field });
    for (const value of good) expect(made?.fits({ x: value }), JSON.stringify(value)).toBe(true);
    for (const value of bad) expect(made?.fits({ x: value }), JSON.stringify(value)).toBe(false);
  });

  it('wants what is required, and nothing that was not asked for', () => {
    const made = form({ x: { type: 'string' }, y: { type: 'string' } }, ['x', 'toString']);
    expect(made?.fits({ x: 'a' })).toBe(true);
    for (const content of [{}, { y: 'a' }, { x: 'a', z: 'b' }, { x: 'a', constructor: 'b' }])
      expect(made?.fits(content)).toBe(false);
  });

  it('shows nothing but what is known, with nothing hidden in it', () => {
    const field = { type: 'string', title: 'a\u202eb', pattern: '(a+)+$', format: 'password', $ref: '#/x', default: 1 };
    expect(form({ x: field })?.schema).toEqual({
      type: 'object',
      properties: { x: { type: 'string', title: 'a\\u{202e}b' } },
    });
  });

  it('EXE-07 names of choices stand beside them, one for each and with nothing hidden', () => {
    const shown = (enumNames: unknown) => {
      const field = { type: 'string', enum: ['a', 'b'], enumNames };
      return form({ x: field })?.schema;
    };
    const plain = { type: 'string', enum: ['a', 'b'] };
    const of = (x: object) => ({ type: 'object', properties: { x } });
    expect(shown(['First', 'Sec\u202eond'])).toEqual(of({ ...plain, enumNames: ['First', 'Sec\\u{202e}ond'] }));
    for (const odd of [['First'], ['First', 2], 'First', undefined]) expect(shown(odd)).toEqual(of(plain));
  });

  it.each([
    ['no object', { type: 'string' }],
    ['no properties', { type: 'object' }],
    ['nested objects', { type: 'object', properties: { x: { type: 'object' } } }],
    ['a field without a type', { type: 'object', properties: { x: {} } }],
    ['lists of anything', { type: 'object', properties: { x: { type: 'array', items: { type: 'string' } } } }],
    ['no choices', { type: 'object', properties: { x: { type: 'string', enum: [] } } }],
    [
      'too many fields',
      {
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: 33 }, (_, n) => [n, { type: 'boolean' }])),
      },
    ],
    ['nothing', undefined],
  ])('is refused with %s', (_what, schema) => expect(flatFormOf(schema)).toBeUndefined());
});
