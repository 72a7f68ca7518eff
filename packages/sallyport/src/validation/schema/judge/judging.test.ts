import { isFailure } from '@sallyport/std/error/failure';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonSchemaObject } from '../../../../api/schemas/identifiers.ts';
import { createSchemaValidator } from '../../schema-validator.ts';
import { isMultipleOf } from './multiple-of.ts';

const validator = createSchemaValidator();
const faults = (schema: JsonSchemaObject, value: unknown) => {
  const made = validator.compile(schema);
  if (isFailure(made)) throw new Error(JSON.stringify(made.details));
  return made.check(value, { coerce: false }).faults;
};
const isValid = (schema: JsonSchemaObject, value: unknown) => faults(schema, value).length === 0;

describe('multipleOf', () => {
  test.each([
    [19.99, 0.01, true],
    [0.07, 0.01, true],
    [1.1, 0.1, true],
    [19.995, 0.01, false],
    [1e308, 0.5, true],
    [1e308, 0.123456789, false],
    [3, 1.5, true],
    [-7, 2, false],
    [0, 0.3, true],
    [5e-324, 1, false],
  ])('%d of %d: %s', (number, factor, expected) => {
    expect(isMultipleOf(number, factor)).toBe(expected);
  });

  test('cents are whole, whatever their binary form leaves', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e9 }), (cents) => {
        expect(isMultipleOf(cents / 100, 0.01)).toBe(true);
      }),
    );
  });
});

describe('enum and uniqueItems', () => {
  test('tell values of different types apart', () => {
    const many = Array.from({ length: 20 }, (_, index) => index);
    for (const allowed of [many, [...many, { a: 1, b: 2 }]])
      expect([
        isValid({ enum: allowed }, 7),
        isValid({ enum: allowed }, '7'),
        isValid({ enum: allowed }, null),
      ]).toEqual([true, false, false]);
    expect(isValid({ enum: [{ a: 1, b: [2] }] }, { b: [2], a: 1 })).toBe(true);
    expect(isValid({ enum: [null, false, 0, ''] }, '')).toBe(true);
    expect(isValid({ uniqueItems: true }, [1, '1', true, 'true', null, 'null', [1], '[1]', { a: 1 }])).toBe(true);
    expect(
      isValid({ uniqueItems: true }, [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ]),
    ).toBe(false);
    expect(isValid({ uniqueItems: false }, [1, 1])).toBe(true);
  });
});

describe('unevaluated', () => {
  test('properties that an `if` alone has looked at count, those of a branch that fails do not', () => {
    const schema = {
      if: { properties: { kind: { const: 'a' } }, required: ['kind'] },
      anyOf: [
        { properties: { x: { type: 'number' } }, required: ['x'] },
        { properties: { y: true }, required: ['y'] },
      ],
      patternProperties: { '^s_': true },
      unevaluatedProperties: false,
    };
    expect(isValid(schema, { kind: 'a', x: 1, s_1: 0 })).toBe(true);
    expect(faults(schema, { kind: 'b', x: 1 })).toMatchObject([{ path: '/kind', keyword: 'unevaluatedProperties' }]);
    expect(faults(schema, { x: 'no', y: 1 })).toMatchObject([{ path: '/x' }]);
  });

  test('properties are judged by the schema that is given for them, with their places', () => {
    const schema = {
      $ref: '#/$defs/base',
      unevaluatedProperties: { type: 'number' },
      $defs: { base: { properties: { a: true } } },
    };
    expect(isValid(schema, { a: 'x', b: 1 })).toBe(true);
    expect(faults(schema, { a: 'x', b: 'y' })).toMatchObject([{ path: '/b', code: 'E3507' }]);
  });

  test('items that `contains` has found count in 2020-12, not in 2019-09', () => {
    const schema = { prefixItems: [true], contains: { type: 'string' }, unevaluatedItems: false };
    expect(isValid(schema, [1, 'a', 'b'])).toBe(true);
    expect(faults(schema, [1, 2, 'a'])).toMatchObject([
      { path: '/1', keyword: 'unevaluatedItems', hint: 'Remove it.' },
    ]);
    const older = {
      $schema: 'https://json-schema.org/draft/2019-09/schema',
      contains: { type: 'string' },
      unevaluatedItems: false,
    };
    expect(isValid(older, ['a'])).toBe(false);
  });
});

describe('unevaluated, in whatever is applied to the same value', () => {
  const DRAFT_2019 = 'https://json-schema.org/draft/2019-09/schema';
  test.each<[part: JsonSchemaObject, value: object, left: string[]]>([
    [{ properties: { a: true } }, { a: 1, b: 1 }, ['/b']],
    [{ allOf: [{ properties: { a: true } }, { properties: { b: true } }] }, { a: 1, b: 1 }, []],
    [{ allOf: [{ additionalProperties: true }, { properties: {} }] }, { a: 1 }, []],
    [{ allOf: [{ additionalProperties: { type: 'number' } }] }, { a: 1 }, []],
    [{ allOf: [{ unevaluatedProperties: true }] }, { a: 1 }, []],
    [{ oneOf: [{ properties: { a: true } }, false] }, { a: 1, b: 1 }, ['/b']],
    [{ if: { required: ['a'] }, else: { properties: { b: true } } }, { b: 1, c: 1 }, ['/c']],
    [{ if: false, else: { properties: { b: true } } }, { b: 1 }, []],
    [{ if: { properties: { a: true } }, else: { properties: { b: true } } }, { a: 1, b: 1 }, ['/b']],
    [{ dependentSchemas: { a: { properties: { a: true, b: true } } } }, { a: 1, b: 1 }, []],
    [{ dependentSchemas: { a: { properties: { a: true, b: true } } } }, { b: 1 }, ['/b']],
    [{ patternProperties: { '^a': true, b$: true } }, { a1: 1, xb: 1, c: 1 }, ['/c']],
    [{ not: { not: { properties: { a: true } } } }, { a: 1 }, ['/a']],
  ])('VAL-01 of the properties beside %j in %j is left %j', (part, value, left) => {
    const found = faults({ ...part, unevaluatedProperties: false }, value);
    expect(found.map(({ path }) => path)).toEqual(left);
  });

  test.each<[part: JsonSchemaObject, value: unknown[], left: string[]]>([
    [{ prefixItems: [true] }, [1, 2, 3], ['/1', '/2']],
    [{ allOf: [{ prefixItems: [true] }, { prefixItems: [true, true] }] }, [1, 2, 3], ['/2']],
    [{ allOf: [{ prefixItems: [true] }] }, [1, 2], ['/1']],
    [{ allOf: [{ items: true }] }, [1], []],
    [{ allOf: [{ unevaluatedItems: true }] }, [1], []],
    [{ contains: { type: 'string' } }, [1, 'a'], ['/0']],
    [{ $schema: DRAFT_2019, items: [true] }, [1, 2], ['/1']],
    [{ $schema: DRAFT_2019, items: [true], additionalItems: true }, [1, 2], []],
    [{ $schema: DRAFT_2019, items: true }, [1, 2], []],
    [{ $schema: DRAFT_2019, contains: true }, [1], ['/0']],
  ])('VAL-01 of the items beside %j in %j is left %j', (part, value, left) => {
    const found = faults({ ...part, unevaluatedItems: false }, value);
    expect(found.map(({ path }) => path)).toEqual(left);
  });

  test('VAL-01 what is left may be allowed, or judged by a schema', () => {
    expect(isValid({ unevaluatedProperties: true }, { a: 1 })).toBe(true);
    expect(faults({ prefixItems: [true], unevaluatedItems: { type: 'string' } }, [1, 'a', 2])).toMatchObject([
      { path: '/2', code: 'E3507' },
    ]);
    expect(isValid({ unevaluatedProperties: false, unevaluatedItems: false }, 7)).toBe(true);
  });
});

test('VAL-01 an enum of nothing allows nothing, and what only a reference of draft-07 forbids is forbidden', () => {
  expect(faults({ enum: [] }, 1)).toMatchObject([{ keyword: 'false' }]);
  expect(faults({ enum: [], allOf: [{ type: 'string' }] }, 1).map(({ keyword }) => keyword)).toEqual(['type', 'false']);
  const $schema = 'http://json-schema.org/draft-07/schema#';
  for (const allowed of [true, false]) {
    const definitions = { a: { $ref: '#/definitions/last' }, last: allowed };
    expect(isValid({ $schema, $ref: '#/definitions/a', definitions }, 1)).toBe(allowed);
    expect(isValid({ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: allowed } }, 1)).toBe(allowed);
  }
});

test('VAL-01 a url is one of the web, or of FTP', () => {
  const judged = [
    'https://a.test/x',
    'HTTP://a.test',
    'ftp://a.test',
    'mailto:a@b.test',
    'https://',
    'a.test',
    'x',
  ].map((text) => isValid({ format: 'url' }, text));
  expect(judged).toEqual([true, true, true, false, false, false, false]);
});

describe('a property named __proto__', () => {
  test('is judged like any other', () => {
    const schema = JSON.parse('{"properties":{"__proto__":{"type":"number"}},"additionalProperties":false}');
    expect(isValid(schema, JSON.parse('{"__proto__":1}'))).toBe(true);
    expect(isValid(schema, JSON.parse('{"__proto__":"x"}'))).toBe(false);
  });
});
