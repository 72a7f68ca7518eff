import { isFailure } from '@sallyport/std/error/failure';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonSchemaObject } from '../../../api/schemas/identifiers.ts';
import { createSchemaValidator, type SchemaValidatorOptions } from '../schema-validator.ts';

const compiled = (schema: JsonSchemaObject, options: SchemaValidatorOptions = {}) => {
  const made = createSchemaValidator(options).compile(schema);
  if (isFailure(made)) throw new Error(JSON.stringify(made.details));
  return made;
};
const coerced = (schema: JsonSchemaObject, value: unknown, options?: SchemaValidatorOptions) =>
  compiled(schema, options).check(value, { coerce: true });

const DATES = { properties: { day: { type: 'string', format: 'date' }, at: { type: 'string', format: 'date-time' } } };

describe('VAL-02 dates', () => {
  test('VAL-02.2 are rewritten where the schema asks for them', () => {
    expect(coerced(DATES, { day: '5 Jan 2026', at: '2026-01-05T10:00Z' })).toEqual({
      value: { day: '2026-01-05', at: '2026-01-05T10:00:00Z' },
      faults: [],
    });
    const given = { day: '2026-01-05', at: '2026-01-05T10:00:00.5+02:00' };
    expect(coerced(DATES, given).value).toBe(given);
  });

  test('that do not convert are E3502 at their place, with an example', () => {
    expect(coerced(DATES, { day: '05/01/2026', at: 7 }).faults).toMatchObject([
      { path: '/day', code: 'E3502', keyword: 'format', hint: expect.stringContaining('2026-01-05') },
      { path: '/at', code: 'E3502', keyword: 'type' },
    ]);
  });

  test('stay as they are when nobody wants them rewritten, and without coercion', () => {
    const options = { coercion: { dates: false } };
    expect(coerced(DATES, { day: '5 Jan 2026' }, options).faults).toMatchObject([{ path: '/day', code: 'E3501' }]);
    expect(compiled(DATES).check({ day: '5 Jan 2026' }, { coerce: false }).faults).toHaveLength(1);
  });

  test('are made from numbers only when that is asked for', () => {
    const at = 1_767_607_200;
    expect(coerced(DATES, { at }).faults).toMatchObject([{ path: '/at', code: 'E3502' }]);
    const epochs = { coercion: { epochs: true } };
    expect(coerced(DATES, { at }, epochs).value).toEqual({ at: '2026-01-05T10:00:00Z' });
    expect(coerced(DATES, { day: at }, epochs).faults).toHaveLength(1);
    expect(coerced(DATES, { at: 5 }, epochs)).toMatchObject({ value: { at: 5 }, faults: [{ path: '/at' }] });
    const numbers = { type: ['number', 'string'], format: 'date-time' };
    expect(coerced(numbers, at, epochs).value).toBe(at);
    expect(coerced({ format: 'date-time' }, '2026-01-05 10:00Z').value).toBe('2026-01-05T10:00:00Z');
    const inList = { type: 'array', items: { type: ['null', 'string'], format: 'date' } };
    expect(coerced(inList, [null, '5 Jan 2026']).value).toEqual([null, '2026-01-05']);
    expect(coerced({ type: 'integer', format: 'date' }, '5').value).toBe(5);
  });
});

test('VAL-02 a value that is valid as it is stays, though it could be converted too', () => {
  for (const schema of [
    { enum: ['1', 1] },
    { type: ['string', 'integer'] },
    { anyOf: [{ type: 'string' }, { const: 1 }] },
  ])
    expect(coerced(schema, '1')).toEqual({ value: '1', faults: [] });
  expect(coerced({ enum: [2, 1] }, '1')).toEqual({ value: 1, faults: [] });
});

describe('VAL-02 what is converted', () => {
  test('VAL-02.1 a type among several, when one alone can be meant', () => {
    expect(coerced({ type: ['integer', 'null'] }, '5').value).toBe(5);
    expect(coerced({ type: ['integer', 'number'] }, '5').value).toBe(5);
    expect(coerced({ type: ['integer', 'boolean'] }, 'x').value).toBe('x');
    expect(coerced({ const: 5 }, '5').value).toBe(5);
    expect(coerced({ const: null }, 'null').value).toBe('null');
    expect(coerced({ enum: [1, true, 'a'] }, 'true').value).toBe(true);
    expect(coerced({ enum: [1, '2'] }, 2).value).toBe('2');
    expect(coerced({ enum: [[1]] }, '1').value).toBe('1');
    expect(coerced({ type: 'string', enum: ['5'] }, 5).value).toBe('5');
  });

  test('VAL-02.1 parts of a schema, each in its turn', () => {
    const parts = { allOf: [{ properties: { a: { type: 'integer' } } }, { properties: { b: { type: 'boolean' } } }] };
    expect(coerced(parts, { a: '1', b: 'true', c: '3' }).value).toEqual({ a: 1, b: true, c: '3' });
    const list = { prefixItems: [{ type: 'integer' }], items: { type: 'boolean' } };
    expect(coerced(list, ['1', 'true', 'false', 'x']).value).toEqual([1, true, false, 'x']);
    const older = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      items: [{ type: 'integer' }],
      additionalItems: { type: 'boolean' },
    };
    expect(coerced(older, ['1', 'true']).value).toEqual([1, true]);
    expect(coerced({ additionalProperties: { type: 'integer' } }, { a: '1' }).value).toEqual({ a: 1 });
    const unchanged = { a: ['x'], b: { c: 'y' } };
    expect(coerced({ properties: { a: { items: { type: 'integer' } } } }, unchanged).value).toBe(unchanged);
  });

  test('VAL-02 no member that a pattern may mean, and none of a prototype', () => {
    const schema = { patternProperties: { '^x': { type: 'string' } }, additionalProperties: { type: 'integer' } };
    expect(coerced(schema, { x1: '5', a: '5' }).value).toEqual({ x1: '5', a: '5' });
    const others = { properties: { toString: { type: 'integer' } }, additionalProperties: { type: 'integer' } };
    expect(coerced(others, { toString: '1', valueOf: '2' }).value).toEqual({ toString: 1, valueOf: 2 });
    const given = JSON.parse('{"__proto__":{"n":"1"},"n":"1"}');
    const nested = {
      additionalProperties: { anyOf: [{ type: 'integer' }, { properties: { n: { type: 'integer' } } }] },
    };
    const { value: made } = coerced(nested, given);
    expect(Object.getPrototypeOf(made)).toBe(Object.prototype);
    expect(Object.keys(made as object)).toEqual(['__proto__', 'n']);
  });

  test('VAL-02 a union of 32 branches, and of no more; by the one branch that then fits', () => {
    const branches = (count: number) => [
      ...Array.from({ length: count - 1 }, (_, at) => ({ const: `c${at}` })),
      { type: 'integer' },
    ];
    for (const keyword of ['anyOf', 'oneOf']) {
      expect(coerced({ [keyword]: branches(32) }, '5').value).toBe(5);
      expect(coerced({ [keyword]: branches(33) }, '5').value).toBe('5');
    }
    const two = { anyOf: [{ type: 'object', properties: { a: { type: 'integer' } } }, { required: ['b'] }] };
    expect(coerced(two, { a: '5' }).value).toEqual({ a: 5 });
    expect(coerced({ anyOf: [{ type: 'integer' }, { type: 'number' }] }, '5').value).toBe(5);
    expect(coerced({ anyOf: [{ type: 'integer', minimum: 9 }, { type: 'null' }] }, '5').value).toBe('5');
  });

  test('VAL-02 ten thousand values; what comes after them stays as it is', () => {
    const of = (length: number) => coerced({ items: { type: 'integer' } }, new Array(length).fill('1'));
    expect(of(9_999).faults).toEqual([]);
    const { value: made, faults } = of(10_001);
    expect((made as unknown[]).slice(9_998)).toEqual([1, '1', '1']);
    expect(faults).toHaveLength(2);
  });
});

const leaf = fc.constantFrom<JsonSchemaObject>(
  { type: 'integer' },
  { type: 'number' },
  { type: 'boolean' },
  { type: 'string' },
  { type: ['integer', 'null'] },
  { type: 'string', format: 'date' },
  { type: 'string', format: 'date-time' },
  { enum: [1, 'two', true] },
  { anyOf: [{ type: 'integer' }, { type: 'boolean' }] },
);
const schema = fc.oneof(
  leaf,
  leaf.map((items) => ({ type: 'array', items })),
  fc.record({ a: leaf, b: leaf }).map((properties) => ({ type: 'object', properties })),
);
const scalar = fc.oneof(
  fc.constantFrom('12', '1.5', '1e3', 'true', 'false', '', ' 1', '0x1', '-0', '9007199254740993', '5 Jan 2026'),
  fc.constantFrom<unknown>(0, 12, 1.5, true, null, 1_767_607_200),
  fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
  fc.string(),
);
const value = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.record({ a: scalar, b: scalar }));

/** The text of a value: a string unchanged, every other value as JSON. */
const spelled = (given: unknown): string => (typeof given === 'string' ? given : JSON.stringify(given));

describe('VAL-02 whatever the schema and the value', () => {
  const options = { coercion: { epochs: true } };

  test('what came out converts to itself, the input stays, and a valid value is the same one', () => {
    fc.assert(
      fc.property(schema, value, (asked, given) => {
        const before = structuredClone(given);
        const handle = compiled(asked, options);
        const first = handle.check(given, { coerce: true });
        const again = handle.check(first.value, { coerce: true });
        expect(given).toEqual(before);
        expect(again.value).toEqual(first.value);
        expect(again.faults).toEqual(first.faults);
        if (first.faults.length === 0) {
          expect(again.value).toBe(first.value);
          expect(handle.check(first.value, { coerce: false }).faults).toEqual([]);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('VAL-02.4 a number or a boolean reads back as the text that it was made from', () => {
    fc.assert(
      fc.property(fc.constantFrom('integer', 'number', 'boolean', 'string'), scalar, (type, given) => {
        const { value: made, faults } = coerced({ type }, given);
        if (faults.length > 0 || made === given) return;
        const same = typeof made === 'boolean' ? spelled(made) === spelled(given) : Number(made) === Number(given);
        expect(same).toBe(true);
      }),
    );
  });
});
