import { isFailure } from '@sallyport/std/error/failure';
import { describe, expect, test } from 'vitest';
import type { JsonSchemaObject } from '../../../../api/schemas/identifiers.ts';
import { createSchemaValidator } from '../../schema-validator.ts';

const validator = createSchemaValidator();
const plain = createSchemaValidator({ coercion: { dates: false } });
const faults = (schema: JsonSchemaObject, value: unknown, coerce = false, by = validator) => {
  const made = by.compile(schema);
  if (isFailure(made)) throw new Error(JSON.stringify(made.details));
  return made.check(value, { coerce }).faults;
};
const fault = (path: string, code: string, keyword: string, message: string, hint: string) => [
  { path, code, keyword, message, hint },
];

describe('a missing property', () => {
  test.each<[JsonSchemaObject, object, keyword: string, message: string, hint: string]>([
    [{ required: ['a'] }, {}, 'required', 'The required property "a" is missing.', 'Add "a".'],
    [
      { dependentRequired: { b: ['a'] } },
      { b: 1 },
      'dependentRequired',
      'The required property "a" is missing because "b" is given.',
      'Add "a".',
    ],
    [
      { $schema: 'http://json-schema.org/draft-07/schema#', dependencies: { b: ['a'] } },
      { b: 1 },
      'dependencies',
      'The required property "a" is missing because "b" is given.',
      'Add "a".',
    ],
  ])('VAL-01.5 %j of %j', (schema, value, keyword, message, hint) => {
    expect(faults(schema, value)).toEqual(fault('/a', 'E3506', keyword, message, hint));
  });

  test('VAL-01.5 names what may be meant for it, unless that is a property of its own', () => {
    const schema = { properties: { user_nam: {} }, required: ['user_name'] };
    expect(faults(schema, { userName: 1 })[0]?.hint).toBe('Add "user_name"; "userName" may be meant for it.');
    expect(faults(schema, { user_nam: 1 })[0]?.hint).toBe('Add "user_name".');
    expect(faults({ required: ['a/b'] }, {})[0]?.path).toBe('/a~1b');
  });
});

describe('a wrong type', () => {
  test.each<[type: string | string[], value: unknown, message: string, hint: string]>([
    ['string', 7, 'Must be string, not number.', 'Give a string.'],
    ['integer', true, 'Must be integer, not boolean.', 'Give an integer.'],
    ['array', {}, 'Must be array, not object.', 'Give an array.'],
    ['object', [], 'Must be object, not array.', 'Give an object.'],
    ['null', 'x', 'Must be null, not string.', 'Give null.'],
    ['number', null, 'Must be number, not null.', 'Give a number.'],
    [['boolean', 'null'], [], 'Must be boolean or null, not array.', 'Give a boolean or null.'],
  ])('VAL-01.5 %j for %j', (type, value, message, hint) => {
    expect(faults({ type } as JsonSchemaObject, value)).toEqual(fault('', 'E3507', 'type', message, hint));
  });

  test.each<[type: string | string[], value: unknown, code: string, message: string, hint: string]>([
    [
      'integer',
      'x',
      'E3502',
      'Must be integer; the string does not convert without loss.',
      'Give an integer as a JSON value.',
    ],
    [
      'string',
      null,
      'E3502',
      'Must be string; the null does not convert without loss.',
      'Give a string as a JSON value.',
    ],
    ['string', [], 'E3507', 'Must be string, not array.', 'Give a string.'],
    ['array', 'x', 'E3507', 'Must be array, not string.', 'Give an array.'],
    ['object', 'x', 'E3507', 'Must be object, not string.', 'Give an object.'],
    ['null', 'x', 'E3507', 'Must be null, not string.', 'Give null.'],
    [
      ['object', 'number'],
      'x',
      'E3502',
      'Must be object or number; the string does not convert without loss.',
      'Give an object or number as a JSON value.',
    ],
  ])('VAL-02.5 %j for %j after an attempt to convert it', (type, value, code, message, hint) => {
    expect(faults({ type } as JsonSchemaObject, value, true)).toEqual(fault('', code, 'type', message, hint));
  });
});

describe('a property or element that is not known', () => {
  const schema = { properties: { color: {}, size: {} }, additionalProperties: false };
  test('VAL-01.5 is named with the nearest that is known, or all of them', () => {
    const message = (name: string) => `The property "${name}" is not known here.`;
    expect(faults(schema, { colour: 1 })).toEqual(
      fault(
        '/colour',
        'E3501',
        'additionalProperties',
        message('colour'),
        'Did you mean "color"? Otherwise remove it.',
      ),
    );
    expect(faults(schema, { zzz: 1 })).toEqual(
      fault('/zzz', 'E3501', 'additionalProperties', message('zzz'), 'Remove it. Known are: color, size.'),
    );
    expect(faults({ additionalProperties: false }, { zzz: 1 })[0]?.hint).toBe('Remove it.');
    expect(faults({ unevaluatedProperties: false, properties: { color: {} } }, { colour: 1 })).toEqual(
      fault(
        '/colour',
        'E3501',
        'unevaluatedProperties',
        message('colour'),
        'Did you mean "color"? Otherwise remove it.',
      ),
    );
  });

  test('VAL-06 is compared with others in the first ten faults only: each comparison takes time', () => {
    const wrong = Array.from({ length: 12 }, (_, at) => `colour${at}`);
    const hints = faults(schema, Object.fromEntries(wrong.map((name) => [name, 1]))).map(({ hint = '' }) => hint);
    expect(hints.map((hint) => hint.startsWith('Did you mean "color"?'))).toEqual(wrong.map((_, at) => at < 10));
    expect(hints.at(-1)).toBe('Remove it. Known are: color, size.');
  });

  test('VAL-01.5 is not followed by more than twelve names, nor by more than 80 characters of its own', () => {
    const known = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`property${at}`, {}]));
    const hintOf = (count: number) =>
      faults({ properties: known(count), additionalProperties: false }, { z: 1 })[0]?.hint;
    expect(hintOf(12)).toMatch(/^Remove it\. Known are: property0, .*, property11\.$/);
    expect(hintOf(13)).toBe('Remove it.');
    const messageOf = (length: number) =>
      faults({ additionalProperties: false }, { ['z'.repeat(length)]: 1 })[0]?.message;
    expect(messageOf(80)).toBe(`The property "${'z'.repeat(80)}" is not known here.`);
    expect(messageOf(81)).toBe(`The property "${'z'.repeat(80)}…" is not known here.`);
  });

  test('VAL-01.5 of a list is one place', () => {
    expect(faults({ unevaluatedItems: false, prefixItems: [{}] }, [1, 2])).toEqual(
      fault('/1', 'E3501', 'unevaluatedItems', 'No element is allowed here.', 'Remove it.'),
    );
    expect(faults({ prefixItems: [{}], items: false }, [1, 2])).toEqual(
      fault(
        '',
        'E3501',
        'items',
        'Must NOT have more than 1 items.',
        'Change the value so that it matches the schema.',
      ),
    );
  });
});

describe('a value that is not one of those allowed', () => {
  const many = Array.from({ length: 14 }, (_, at) => `value${at}`);
  test.each<[JsonSchemaObject, unknown, keyword: string, hint: string]>([
    [{ enum: ['red', 'green'] }, 'gren', 'enum', 'Did you mean "green"?'],
    [{ enum: ['red', 7, null, { a: 1 }] }, 'zzz', 'enum', 'Use one of "red", 7, null, {"a":1}.'],
    [{ const: 'red' }, 7, 'const', 'Use "red".'],
    [{ enum: ['x'.repeat(100)] }, 7, 'enum', `Use "${'x'.repeat(79)}….`],
    [
      { enum: many },
      7,
      'enum',
      `Use one of ${many
        .slice(0, 12)
        .map((each) => JSON.stringify(each))
        .join(', ')}, and 2 more.`,
    ],
    [
      { enum: many.slice(0, 12) },
      7,
      'enum',
      `Use one of ${many
        .slice(0, 12)
        .map((each) => JSON.stringify(each))
        .join(', ')}.`,
    ],
    [{ enum: [1, 2] }, 1.2, 'enum', 'Use one of 1, 2.'],
    [{ enum: [...many, 10, 20, 30] }, 17, 'enum', 'Did you mean 20?'],
    [{ enum: [30, 20, 10, ...many] }, 15, 'enum', 'Did you mean 20?'],
  ])('VAL-01.5 %j and %j', (schema, value, keyword, hint) => {
    expect(faults(schema, value)).toEqual(fault('', 'E3501', keyword, 'The value is not one of those allowed.', hint));
  });
});

describe('a text that is not in its format', () => {
  const example = (format: string) => faults({ format }, '%')[0]?.hint;
  test('VAL-01.5 is shown one that is', () => {
    expect(faults({ format: 'date' }, 'x')).toEqual(
      fault(
        '',
        'E3501',
        'format',
        'Must match format "date".',
        'Give a text in the format date, for example 2026-01-05',
      ),
    );
    for (const format of [
      'date',
      'date-time',
      'time',
      'duration',
      'email',
      'hostname',
      'ipv4',
      'ipv6',
      'uri',
      'uuid',
    ]) {
      const shown = example(format)?.split('for example ')[1] ?? '';
      expect(faults({ format }, shown), format).toEqual([]);
      expect(shown.length, format).toBeGreaterThan(6);
    }
    for (const [format, shown] of [
      ['json-pointer', '/name/0'],
      ['uri-reference', '/path#part'],
    ] as const) {
      expect(example(format)).toContain(`for example ${shown}`);
      expect(faults({ format }, shown)).toEqual([]);
    }
    expect(faults({ format: 'regex' }, '(')[0]?.hint).toContain('for example ^[a-z]+$');
  });

  test('VAL-02.5 of a day or an instant did not convert, where texts are rewritten as such', () => {
    const converted = (format: string) =>
      fault(
        '',
        'E3502',
        'format',
        `Must be in the format ${format}; the text does not convert to one ${format} without doubt.`,
        `Give a text in the format ${format}, for example ${format === 'date' ? '2026-01-05' : '2026-01-05T10:00:00Z'}`,
      );
    for (const format of ['date', 'date-time']) {
      expect(faults({ format }, 'x', true)).toEqual(converted(format));
      expect(faults({ format }, 'x', true, plain)[0]?.code).toBe('E3501');
    }
    expect(faults({ format: 'time' }, 'x', true)[0]?.code).toBe('E3501');
  });
});

test.each<[JsonSchemaObject, unknown, keyword: string, message: string, hint: string]>([
  [{ not: {} }, 1, 'not', 'The value is one that the schema excludes.', 'Choose another value.'],
  [{ minimum: 5 }, 4, 'minimum', 'Must be >= 5.', 'Give a number >= 5. The nearest is 5.'],
  [{ maximum: 5 }, 6, 'maximum', 'Must be <= 5.', 'Give a number <= 5. The nearest is 5.'],
  [{ exclusiveMinimum: 5 }, 5, 'exclusiveMinimum', 'Must be > 5.', 'Give a number > 5.'],
  [{ exclusiveMaximum: 5 }, 5, 'exclusiveMaximum', 'Must be < 5.', 'Give a number < 5.'],
  [
    { type: 'integer', exclusiveMaximum: 5 },
    7,
    'exclusiveMaximum',
    'Must be < 5.',
    'Give a number < 5. The nearest is 4.',
  ],
  [
    { type: 'integer', exclusiveMinimum: 5 },
    5,
    'exclusiveMinimum',
    'Must be > 5.',
    'Give a number > 5. The nearest is 6.',
  ],
  [{ minimum: 3, multipleOf: 2 }, 2, 'minimum', 'Must be >= 3.', 'Give a number >= 3. The nearest is 4.'],
  [{ minimum: 3, maximum: 2 }, 1, 'minimum', 'Must be >= 3.', 'Give a number >= 3.'],
  [{ multipleOf: 0.1 }, 0.25, 'multipleOf', 'Must be a multiple.', 'Give a multiple of 0.1. The nearest is 0.2.'],
  [{ multipleOf: 5, maximum: 9 }, 9, 'multipleOf', 'Must be a multiple.', 'Give a multiple of 5. The nearest is 5.'],
  [{ pattern: '^a$' }, 'b', 'pattern', 'Must match pattern "^a$".', 'Give a text that matches ^a$'],
  [
    { minLength: 2 },
    'a',
    'minLength',
    'Must NOT have fewer than 2 characters.',
    'Give a text of at least 2 characters.',
  ],
  [
    { maxLength: 1 },
    'ab',
    'maxLength',
    'Must NOT have more than 1 characters.',
    'Give a text of at most 1 characters.',
  ],
  [{ minItems: 2 }, [1], 'minItems', 'Must NOT have fewer than 2 items.', 'Give a list of at least 2 elements.'],
  [{ maxItems: 1 }, [1, 2], 'maxItems', 'Must NOT have more than 1 items.', 'Give a list of at most 1 elements.'],
  [{ minProperties: 1 }, {}, 'minProperties', 'Must NOT have fewer than 1 properties.', 'The limit is 1.'],
])('VAL-01.5 %j of %j says what to change', (schema, value, keyword, message, hint) => {
  expect(faults(schema, value)).toEqual(fault('', 'E3501', keyword, message, hint));
});

describe('alternatives', () => {
  const hints = (schema: JsonSchemaObject, value: unknown) =>
    faults(schema, value).map(({ keyword, hint }) => [keyword, hint]);
  test('VAL-01.5 of which none fits, or more than one, say so beside the faults of each', () => {
    expect(hints({ anyOf: [{ type: 'string' }, { type: 'null' }] }, 1)).toEqual([
      ['type', 'Give a string.'],
      ['type', 'Give null.'],
      ['anyOf', 'Match at least one of the alternatives; the other faults at this place say what each lacks.'],
    ]);
    expect(hints({ oneOf: [{ type: 'string' }] }, 1).at(-1)).toEqual([
      'oneOf',
      'Match exactly one of the alternatives; the other faults at this place say what each lacks.',
    ]);
    expect(hints({ oneOf: [{}, {}] }, 1)).toEqual([
      ['oneOf', 'The value fits more than one alternative; give what only one of them allows.'],
    ]);
    expect(hints({ uniqueItems: true }, [1, 1])).toEqual([['uniqueItems', 'Leave out what is in the list already.']]);
    expect(hints({ contains: { type: 'string' } }, [1]).map(([keyword]) => keyword)).toContain('contains');
  });

  test('VAL-01.5 of a condition, and of names, are the faults of their parts alone', () => {
    expect(hints({ if: false, else: { type: 'string' } }, 1)).toEqual([['type', 'Give a string.']]);
    expect(hints({ if: false, else: false }, 1)).toEqual([['false', 'Remove it.']]);
    expect(hints({ propertyNames: { maxLength: 1 } }, { ab: 1 })).toEqual([
      ['maxLength', 'Give a text of at most 1 characters.'],
    ]);
  });

  test('VAL-01.5 that say the same are one fault', () => {
    expect(hints({ allOf: [{ type: 'string' }, { type: 'string' }] }, 1)).toHaveLength(1);
    expect(hints({ allOf: [{ minLength: 2 }, { minLength: 3 }] }, 'a')).toHaveLength(2);
  });
});

test('VAL-01.5 a place is no longer than 1024 characters, and the faults beyond a hundred are counted', () => {
  const pathOf = (length: number) => faults({ additionalProperties: false }, { ['x'.repeat(length)]: 1 })[0]?.path;
  expect(pathOf(1023)).toBe(`/${'x'.repeat(1023)}`);
  expect(pathOf(1024)).toBe(`/${'x'.repeat(1023)}…`);
  const listed = faults({ items: { type: 'string' } }, new Array(102).fill(1));
  expect(listed.slice(100)).toEqual(
    fault('', 'E3501', 'faults', '2 further faults are not listed.', 'Correct the listed ones first.'),
  );
});
