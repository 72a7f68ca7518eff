import { isFailure } from '@sallyport/std/error/failure';
import { describe, expect, test } from 'vitest';
import type { JsonSchemaObject } from '../../api/schemas/identifiers.ts';
import { createSchemaValidator, FAULTS_MAX, SCHEMA_BOUNDS } from './schema-validator.ts';

const validator = createSchemaValidator();
const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';
const DRAFT_2019 = 'https://json-schema.org/draft/2019-09/schema';
const DRAFT_2020 = 'https://json-schema.org/draft/2020-12/schema';

const compiled = (schema: JsonSchemaObject) => {
  const made = validator.compile(schema);
  if (isFailure(made)) throw new Error(JSON.stringify(made.details));
  return made;
};
const faults = (schema: JsonSchemaObject, value: unknown) => compiled(schema).check(value, { coerce: false }).faults;
const isValid = (schema: JsonSchemaObject, value: unknown) => faults(schema, value).length === 0;
const refusals = (schema: JsonSchemaObject) =>
  validator.inspect(schema).map(({ path, keyword }) => `${path} ${keyword}`);

describe('dialects', () => {
  const tuple = { type: 'array', items: [{ type: 'string' }], additionalItems: false };

  test.each([
    [DRAFT_07, 'draft-07'],
    ['https://json-schema.org/draft-07/schema', 'draft-07'],
    ['http://json-schema.org/draft-06/schema#', 'draft-07'],
    [DRAFT_2019, '2019-09'],
    [DRAFT_2020, '2020-12'],
    [undefined, '2020-12'],
  ])('REG-12.1 REG-12.2 $schema %s is judged as %s', ($schema, dialect) => {
    expect(compiled($schema === undefined ? {} : { $schema }).dialect).toBe(dialect);
  });

  test('REG-12.1 the same words mean what the declared dialect says', () => {
    for (const $schema of [DRAFT_07, DRAFT_2019]) {
      expect(isValid({ $schema, ...tuple }, ['a'])).toBe(true);
      expect(isValid({ $schema, ...tuple }, ['a', 'b'])).toBe(false);
    }
    expect(isValid({ $schema: DRAFT_2020, prefixItems: [{ type: 'string' }], items: false }, ['a', 'b'])).toBe(false);
    expect(isValid({ $schema: DRAFT_07, prefixItems: [{ type: 'string' }] }, [1])).toBe(true);
    const siblings = { definitions: { a: {} }, properties: { x: { $ref: '#/definitions/a', type: 'string' } } };
    expect(isValid({ $schema: DRAFT_07, ...siblings }, { x: 1 })).toBe(true);
    expect(isValid({ $schema: DRAFT_2019, ...siblings }, { x: 1 })).toBe(false);
    const dependent = { dependentRequired: { a: ['b'] } };
    expect(isValid({ $schema: DRAFT_2019, ...dependent }, { a: 1 })).toBe(false);
    expect(isValid({ $schema: DRAFT_07, ...dependent }, { a: 1 })).toBe(true);
    expect(isValid({ $schema: DRAFT_07, dependencies: { a: ['b'] } }, { a: 1 })).toBe(false);
  });

  test('REG-12.2 a silent schema is 2020-12, where a list under items is refused with what to use instead', () => {
    expect(validator.inspect(tuple)[0]).toMatchObject({ path: '/items', hint: expect.stringContaining('prefixItems') });
  });

  test.each([['http://json-schema.org/draft-04/schema#'], ['https://example.com/own-dialect'], [42]])(
    'REG-12 the dialect %s is refused by name of the place',
    ($schema) => {
      expect(validator.inspect({ $schema }, '/parameters_schema')).toMatchObject([
        { path: '/parameters_schema/$schema', code: 'E3008', hint: expect.stringContaining('draft-07') },
      ]);
    },
  );
});

describe('schemas from strangers', () => {
  test('VAL-01 a schema is prepared once, and what is no schema is refused', () => {
    const schema = { type: 'string' };
    expect(compiled(schema)).toBe(compiled(schema));
    expect(compiled({ ...schema })).not.toBe(compiled(schema));
    for (const none of [[], null, 7, 'x'])
      expect(validator.inspect(none as never)).toEqual([
        { path: '', code: 'E3008', keyword: 'type', message: 'The schema is not a JSON object.' },
      ]);
    expect(validator.compile([] as never)).toMatchObject({
      code: 'E3008',
      message: 'The schema cannot be used; see details.faults.',
      details: { faults: [{ keyword: 'type' }] },
    });
  });

  test('REG-12.2 a fault of a schema says what the dialect asks', () => {
    const said = (schema: JsonSchemaObject) => validator.inspect(schema).map(({ message, hint }) => [message, hint]);
    expect(said({ type: 'strin' })).toEqual([
      [
        'The schema is not valid 2020-12: must be equal to one of the allowed values: array, boolean, integer, null, number, object, string.',
        'Correct it as 2020-12 asks.',
      ],
    ]);
    expect(said({ $schema: DRAFT_07, items: 7 })[0]?.[1]).toBe('Correct it as draft-07 asks.');
    expect(said({ items: [] })[0]?.[1]).toContain('In 2020-12 a list of schemas stands under prefixItems');
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`p${at}`, { minLength: -1 }]));
    expect(said({ properties: many })).toHaveLength(20);
  });

  test('foreign keywords are ignored, whatever they are', () => {
    const schema = {
      type: 'object',
      'x-a': 1,
      id: 'x',
      nullable: true,
      $async: true,
      discriminator: 3,
      instanceof: 'Date',
    };
    expect(isValid(schema, {})).toBe(true);
    expect(isValid(schema, 1)).toBe(false);
    expect(isValid(schema, null)).toBe(false);
  });

  test('two tools with the same $id do not meet', () => {
    const first = { $id: 'https://example.com/s', type: 'string' };
    const second = { $id: 'https://example.com/s', type: 'number' };
    expect([isValid(first, 'a'), isValid(second, 'a'), isValid(first, 1), isValid(second, 1)]).toEqual([
      true,
      false,
      false,
      true,
    ]);
  });

  test('references within the document resolve: pointer, anchor, $id, foreign places and recursion', () => {
    const tree = {
      $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } }, required: ['v'] } },
    };
    expect(isValid({ ...tree, $ref: '#/$defs/node' }, { v: 1, next: { v: 2 } })).toBe(true);
    expect(isValid({ ...tree, $ref: '#/$defs/node' }, { v: 1, next: {} })).toBe(false);
    expect(isValid({ $defs: { a: { $anchor: 'n', type: 'string' } }, $ref: '#n' }, 1)).toBe(false);
    const embedded = { $defs: { a: { $id: 'https://e.com/a', $defs: { b: { type: 'string' } }, $ref: '#/$defs/b' } } };
    expect(isValid({ ...embedded, $ref: 'https://e.com/a' }, 1)).toBe(false);
    expect(
      isValid({ components: { schemas: { 'a/b': { type: 'string' } } }, $ref: '#/components/schemas/a~1b' }, 1),
    ).toBe(false);
    expect(isValid({ properties: { self: { $ref: '#' } }, additionalProperties: false }, { self: { other: 1 } })).toBe(
      false,
    );
    expect(isValid({ $ref: '#/$defs/no', $defs: { no: false } }, 1)).toBe(false);
  });

  test.each([
    ['https://example.com/schema.json', '/properties/a/$ref $ref'],
    ['file:///etc/hosts', '/properties/a/$ref $ref'],
    ['other.json#/x', '/properties/a/$ref $ref'],
    ['#/$defs/missing', '/properties/a/$ref $ref'],
    ['#/$defs/toString', '/properties/a/$ref $ref'],
    ['#nowhere', '/properties/a/$ref $ref'],
    ['#/%', '/properties/a/$ref $ref'],
  ])('VAL-05.4 the reference %s is refused with its place', ($ref, place) => {
    expect(refusals({ $defs: {}, properties: { a: { $ref } } })).toEqual([place]);
  });

  test('VAL-05.2 patterns that cannot run in linear time are refused with their place', () => {
    expect(refusals({ properties: { a: { pattern: '(?=x)' } }, patternProperties: { '(a)\\1': {} } })).toEqual([
      '/properties/a/pattern pattern',
      '/patternProperties/(a)\\1 pattern',
    ]);
    const schema = { properties: { a: { pattern: '^(a+)+$' }, b: { pattern: 'x' } } };
    expect(faults(schema, { a: `${'a'.repeat(50_000)}!`, b: 'x' })).toMatchObject([{ path: '/a', keyword: 'pattern' }]);
  });

  test('what the meta-schema refuses is listed with its place', () => {
    expect(refusals({ type: 'strin', properties: { a: { minLength: -1 } }, required: 'a' })).toEqual(
      expect.arrayContaining(['/type enum', '/properties/a/minLength minimum', '/required type']),
    );
    const failed = validator.compile({ type: 7 });
    expect(isFailure(failed) && failed.code).toBe('E3008');
  });

  test('VAL-05.1 VAL-05.3 depth and size are bounded, cycles of objects included', () => {
    const deep = (levels: number): JsonSchemaObject => (levels === 0 ? {} : { not: deep(levels - 1) });
    expect(refusals(deep(SCHEMA_BOUNDS.depthMax - 1))).toEqual([]);
    expect(refusals(deep(SCHEMA_BOUNDS.depthMax))).toHaveLength(1);
    const cyclic: Record<string, unknown> = {};
    cyclic['not'] = cyclic;
    expect(refusals(cyclic)).toHaveLength(1);
    expect(refusals({ enum: new Array(SCHEMA_BOUNDS.valuesMax + 1).fill(1) })).toEqual([' schema']);
    expect(refusals({ enum: Array.from({ length: SCHEMA_BOUNDS.valuesMax - 2 }, (_, at) => at) })).toEqual([]);
    expect(refusals({ enum: Array.from({ length: SCHEMA_BOUNDS.valuesMax - 1 }, (_, at) => at) })).toEqual([' schema']);
    const own = 'description'.length;
    expect(refusals({ description: 'x'.repeat(SCHEMA_BOUNDS.textMax - own) })).toEqual([]);
    expect(refusals({ description: 'x'.repeat(SCHEMA_BOUNDS.textMax - own + 1) })).toEqual([' schema']);
    expect(refusals({ ['x'.repeat(SCHEMA_BOUNDS.textMax + 1)]: 1 })).toEqual([' schema']);
  });

  test.each([[Number.NaN], [Number.POSITIVE_INFINITY], [7n], [() => 1], [Symbol('x')]])(
    'VAL-05 a schema that holds %s is refused with its place',
    (value) => {
      expect(validator.inspect({ properties: { a: { const: value } } })).toEqual([
        {
          path: '/properties/a/const',
          code: 'E3008',
          keyword: 'schema',
          message: 'The schema holds a value that JSON cannot hold.',
        },
      ]);
    },
  );

  test('VAL-05 a member that is undefined is none', () => {
    expect(isValid({ type: undefined, minimum: 1 } as never, 'x')).toBe(true);
  });

  test('names of Object.prototype in a schema are plain names', () => {
    const schema = JSON.parse(
      '{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"number"}},"required":["toString"]}',
    );
    expect(faults(schema, {})).toMatchObject([{ path: '/toString', code: 'E3506' }]);
    expect(isValid(schema, { toString: 1 })).toBe(true);
    expect(Object.prototype).not.toHaveProperty('type');
  });

  test('VAL-05.1 a schema that refers to itself in place, or grows exponentially, ends with a fault', () => {
    expect(faults({ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }, 1)).toMatchObject([{ keyword: 'steps' }]);
    const $defs: Record<string, unknown> = { d0: { type: 'string' } };
    for (let level = 1; level <= 40; level++)
      $defs[`d${level}`] = { anyOf: [{ $ref: `#/$defs/d${level - 1}` }, { $ref: `#/$defs/d${level - 1}` }] };
    expect(faults({ $ref: '#/$defs/d40', $defs }, 1)).toMatchObject([{ keyword: 'steps', code: 'E3501' }]);
    expect(isValid({ $ref: '#/$defs/d10', $defs }, 'x')).toBe(true);
  });

  test('unique items are told apart in linear time', () => {
    const many = Array.from({ length: 20_000 }, (_, index) => ({ index }));
    expect(isValid({ uniqueItems: true }, many)).toBe(true);
    expect(isValid({ uniqueItems: true }, [...many, { index: 7 }])).toBe(false);
  });

  test('a validator that was pushed out of the cache is made again', () => {
    const small = createSchemaValidator({ validatorsMax: 1 });
    const handles = [{ type: 'string' }, { type: 'number' }].map((schema) => small.compile(schema));
    const check = () => handles.map((handle) => !isFailure(handle) && handle.check(1, { coerce: false }).faults.length);
    expect([check(), check()]).toEqual([
      [1, 0],
      [1, 0],
    ]);
  });
});

describe('faults', () => {
  const schema = {
    type: 'object',
    properties: {
      user_name: { type: 'string', minLength: 2 },
      color: { enum: ['red', 'green', 'blue'] },
      count: { type: 'integer', minimum: 1 },
      tags: { type: 'array', items: { type: 'string' } },
    },
    required: ['user_name', 'count'],
    additionalProperties: false,
  };

  test('VAL-01.5 every fault has its place, keyword, code and a hint that says what to change', () => {
    const value = { userName: 'x', color: 'gren', tags: ['a', 1], 'a/b': 1 };
    expect(faults(schema, value)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          path: '/user_name',
          code: 'E3506',
          keyword: 'required',
          hint: 'Add "user_name"; "userName" may be meant for it.',
        }),
        expect.objectContaining({ path: '/count', code: 'E3506' }),
        expect.objectContaining({
          path: '/userName',
          code: 'E3501',
          keyword: 'additionalProperties',
          hint: expect.stringContaining('"user_name"'),
        }),
        expect.objectContaining({ path: '/a~1b', code: 'E3501', hint: expect.stringContaining('Known are') }),
        expect.objectContaining({ path: '/color', code: 'E3501', keyword: 'enum', hint: 'Did you mean "green"?' }),
        expect.objectContaining({
          path: '/tags/1',
          code: 'E3507',
          keyword: 'type',
          message: 'Must be string, not number.',
        }),
      ]),
    );
    expect(faults(schema, value)).toHaveLength(6);
  });

  test('VAL-01 limits and allowed values are named', () => {
    expect(faults({ maximum: 5 }, 6)).toMatchObject([{ code: 'E3501', hint: 'Give a number <= 5. The nearest is 5.' }]);
    expect(faults({ minLength: 2 }, 'x')[0]?.hint).toBe('Give a text of at least 2 characters.');
    expect(faults({ maxProperties: 0 }, { a: 1 })[0]?.hint).toBe('The limit is 0.');
    expect(faults({ enum: [1, 2] }, 'zzz')[0]?.hint).toBe('Use one of 1, 2.');
    const tens = Array.from({ length: 20 }, (_, index) => index * 10);
    expect(faults({ enum: tens }, 87)[0]?.hint).toBe('Did you mean 90?');
    expect(faults({ type: 'integer', exclusiveMinimum: 3, multipleOf: 5 }, 1)[0]?.hint).toContain('The nearest is 5.');
    expect(faults({ minimum: 3, maximum: 2 }, 1)[0]?.hint).toBe('Give a number >= 3.');
    expect(faults({ multipleOf: 0.01 }, 1.234)[0]?.hint).toContain('The nearest is 1.23.');
    expect(faults({ format: 'date' }, 'x')[0]?.hint).toContain('2026-01-05');
  });

  test('names of strangers do not fill a fault', () => {
    const [fault] = faults({ additionalProperties: false }, { ['x'.repeat(100_000)]: 1 });
    expect(JSON.stringify(fault).length).toBeLessThan(2000);
  });

  test('the number of faults is bounded and the rest is counted', () => {
    const list = { items: { type: 'string' } };
    expect(faults(list, new Array(FAULTS_MAX).fill(1))).toHaveLength(FAULTS_MAX);
    const more = faults(list, new Array(FAULTS_MAX + 7).fill(1));
    expect(more).toHaveLength(FAULTS_MAX + 1);
    expect(more.at(-1)?.message).toContain('7 further');
  });
});

describe('coercion', () => {
  const coerce = (schema: JsonSchemaObject, value: unknown) => compiled(schema).check(value, { coerce: true });

  test('VAL-02.1 scalars convert in objects, lists and through references, and the input stays as it is', () => {
    const schema = {
      $defs: { n: { type: 'number' } },
      properties: {
        a: { type: 'integer' },
        b: { items: { type: 'boolean' } },
        c: { prefixItems: [{ $ref: '#/$defs/n' }] },
        d: { properties: { e: { type: 'string' } } },
      },
      additionalProperties: { $ref: '#/$defs/n' },
    };
    const value = { a: '12', b: ['true', false], c: ['1.5', 'x'], d: { e: 7 }, z: '3', same: 1 };
    const before = structuredClone(value);
    expect(coerce(schema, value)).toEqual({
      value: { a: 12, b: [true, false], c: [1.5, 'x'], d: { e: '7' }, z: 3, same: 1 },
      faults: [],
    });
    expect(value).toEqual(before);
  });

  test('a valid value is the very same value', () => {
    const value = { a: '12' };
    expect(coerce({ properties: { a: { type: ['string', 'number'] } } }, value).value).toBe(value);
  });

  test('VAL-02.5 VAL-02.3 what does not convert is E3502 at its place, and nothing converts when not asked', () => {
    const schema = { properties: { a: { type: 'integer' }, b: { type: 'object' }, c: { type: 'string' } } };
    expect(coerce(schema, { a: '12abc', b: 'x', c: null }).faults).toMatchObject([
      { path: '/a', code: 'E3502' },
      { path: '/b', code: 'E3507' },
      { path: '/c', code: 'E3502' },
    ]);
    expect(compiled(schema).check({ a: '12' }, { coerce: false }).faults).toMatchObject([{ code: 'E3507' }]);
  });

  test('a union converts when one branch alone can be met', () => {
    expect(coerce({ anyOf: [{ type: 'integer' }, { type: 'null' }] }, '5').value).toBe(5);
    expect(coerce({ anyOf: [{ type: 'integer' }, { type: 'string' }] }, '5').value).toBe('5');
    const two = {
      oneOf: [
        { properties: { a: { type: 'number' } }, required: ['a'] },
        { properties: { a: { const: '1' } }, maxProperties: 0 },
      ],
    };
    expect(coerce(two, { a: '1' }).value).toEqual({ a: 1 });
    const ambiguous = {
      anyOf: [
        { type: 'array', prefixItems: [{ type: 'integer' }] },
        { type: 'array', prefixItems: [{ type: 'boolean' }] },
        { type: 'null' },
      ],
    };
    expect(coerce(ambiguous, ['true']).value).toEqual([true]);
    expect(coerce({ anyOf: [{ enum: [1] }, { enum: [1, 2] }] }, '1').value).toBe(1);
    expect(coerce({ anyOf: [{ type: 'number', minimum: 5 }, { type: 'boolean' }] }, '3').value).toBe('3');
  });

  test('recursive schemas with unions end', () => {
    const expression = {
      $defs: {
        e: {
          anyOf: [
            { type: 'number' },
            {
              type: 'object',
              properties: { l: { $ref: '#/$defs/e' }, r: { $ref: '#/$defs/e' } },
              required: ['l', 'r'],
            },
          ],
        },
      },
      $ref: '#/$defs/e',
    };
    let value: unknown = 'x';
    for (let level = 0; level < 30; level++) value = { l: value, r: '1' };
    expect(coerce(expression, value).faults.length).toBeGreaterThan(0);
  });

  test('VAL-06 a property named __proto__ changes no prototype', () => {
    const value = JSON.parse('{"__proto__":{"n":"1"},"n":"1"}');
    const { value: made } = coerce(
      { properties: { n: { type: 'number' } }, additionalProperties: { type: 'object' } },
      value,
    );
    expect(Object.getPrototypeOf(made)).toBe(Object.prototype);
    expect((made as { n: unknown }).n).toBe(1);
  });
});
