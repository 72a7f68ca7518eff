import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { convertScalar, isOfType } from './coerce-scalar.ts';

describe('convertScalar', () => {
  test.each([
    ['number', '12', 12],
    ['number', '-0.10', -0.1],
    ['number', '1e3', 1000],
    ['number', '0', 0],
    ['number', '-0', undefined],
    ['number', '-0.0', undefined],
    ['number', '0.0', 0],
    ['number', '-12e+2', -1200],
    ['number', '1E-2', 0.01],
    ['number', '0.00120', 0.0012],
    ['number', '1200', 1200],
    ['number', `0.${'1'.repeat(15)}`, 0.111111111111111],
    ['number', `1${'0'.repeat(39)}`, 1e39],
    ['number', `1${'0'.repeat(40)}`, undefined],
    ['number', '1e', undefined],
    ['number', '1.', undefined],
    ['number', '12\n', undefined],
    ['number', '9007199254740993', undefined],
    ['number', '0.1000000000000000055', undefined],
    ['number', '1e400', undefined],
    ['number', '1e-400', undefined],
    ['number', '', undefined],
    ['number', ' 12 ', undefined],
    ['number', '12abc', undefined],
    ['number', '0x10', undefined],
    ['number', '+1', undefined],
    ['number', '.5', undefined],
    ['number', '007', undefined],
    ['number', '1_000', undefined],
    ['number', 'NaN', undefined],
    ['number', 'Infinity', undefined],
    ['number', '١', undefined],
    ['number', true, undefined],
    ['number', null, undefined],
    ['integer', '12.0', 12],
    ['integer', '12.5', undefined],
    ['integer', '9007199254740991', 9007199254740991],
    ['integer', '9007199254740992', undefined],
    ['integer', 12, undefined],
    ['object', '{}', undefined],
    ['string', '12', undefined],
    ['string', -0.5, '-0.5'],
    ['string', Number.NaN, undefined],
    ['string', Number.POSITIVE_INFINITY, undefined],
    ['string', 2 ** 53 - 1, '9007199254740991'],
    ['string', 1e-7, undefined],
    ['string', 0.000001, '0.000001'],
    ['boolean', 'true', true],
    ['boolean', 'false', false],
    ['boolean', 'True', undefined],
    ['boolean', '1', undefined],
    ['boolean', 1, undefined],
    ['boolean', '', undefined],
    ['string', 12, '12'],
    ['string', 1.5, '1.5'],
    ['string', 1e21, undefined],
    ['string', 2 ** 53, undefined],
    ['string', true, undefined],
    ['string', null, undefined],
    ['null', 'null', undefined],
    ['null', '', undefined],
  ])('VAL-02.1 VAL-02.4 to %s from %j gives %j', (type, from, to) => {
    expect(convertScalar(from, type)).toBe(to);
  });

  test('VAL-02 a value has the types that JSON Schema gives it', () => {
    const types = ['null', 'array', 'object', 'integer', 'number', 'string', 'boolean'];
    const typesOf = (value: unknown) => types.filter((type) => isOfType(value, type)).join(' ');
    const values = [null, [], {}, 1, 1.5, 1.0, 'x', true, Number.NaN, Number.POSITIVE_INFINITY, undefined];
    expect(values.map(typesOf)).toEqual([
      ...['null', 'array', 'object', 'integer number', 'number', 'integer number', 'string', 'boolean', '', '', ''],
    ]);
  });

  test('what a number writes reads back as that number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        expect(convertScalar(String(number), 'number')).toBe(number === 0 ? 0 : number);
      }),
    );
  });

  const corpus = new URL('../../../../../../shared/corpora/coercion/ajv_coercion.jsonl', import.meta.url);
  test.skipIf(!existsSync(corpus))('nothing converts that the corpus refuses, and never to another value', () => {
    for (const line of readFileSync(corpus, 'utf8').trim().split('\n')) {
      const { target, from, accepted, to } = JSON.parse(line);
      const made = convertScalar(from, target);
      if (made !== undefined) expect([accepted, made]).toEqual([true, to]);
    }
  });
});
