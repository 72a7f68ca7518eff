import { MiB } from '@sallyport/std/bytes';
import { isFailure } from '@sallyport/std/error/failure';
import { describe, expect, test } from 'vitest';
import type { JsonSchemaObject } from '../../../api/schemas/identifiers.ts';
import { createSchemaValidator } from '../schema-validator.ts';
import { stepsOf } from './own/own-node.ts';

const validator = createSchemaValidator();
const list = (length: number, each: (index: number) => unknown): unknown[] =>
  Array.from({ length }, (_, at) => each(at));
const map = (length: number, each: (index: number) => unknown): Record<string, unknown> =>
  Object.fromEntries(list(length, (index) => [`p${index}`, each(index)]) as [string, unknown][]);
const keywords = (schema: JsonSchemaObject, value: unknown) => {
  const made = validator.compile(schema);
  if (isFailure(made)) throw new Error(JSON.stringify(made.details));
  return made.check(value, { coerce: false }).faults.map(({ keyword }) => keyword);
};

/** A schema of forty levels, each with two references to the next level. */
const doubling = (keyword: string): JsonSchemaObject => ({
  $ref: '#/$defs/d40',
  $defs: Object.fromEntries(
    list(41, (level) => [
      `d${level}`,
      level === 0
        ? { type: 'string' }
        : { [keyword]: [{ $ref: `#/$defs/d${Number(level) - 1}` }, { $ref: `#/$defs/d${Number(level) - 1}` }] },
    ]) as [string, unknown][],
  ),
});

describe('VAL-05 at registration', () => {
  test.each<[string, JsonSchemaObject, string]>([
    ['ten thousand levels', list(10_000, () => 0).reduce<JsonSchemaObject>((inner) => ({ not: inner }), {}), 'levels'],
    ['a megabyte of parentheses', { pattern: '('.repeat(1_000_000) }, 'longer than'],
    [
      'thousands of large patterns',
      { properties: map(3000, (index) => ({ pattern: `(a|b${index})*x(c{500}|d)` })) },
      'together',
    ],
    ['fifteen thousand properties', { properties: map(15_000, () => ({ type: 'string' })) }, 'judging keywords'],
    ['a thousand alternatives', { oneOf: list(1000, (index) => ({ required: [`r${index}`] })) }, 'alternatives'],
    ['five thousand parts', { allOf: list(5000, () => ({ minLength: 1 })) }, 'alternatives'],
  ])('VAL-05.1 VAL-05.3 %s are refused', (_name, schema, why) => {
    expect(validator.inspect(schema).map(({ message }) => message)).toEqual(
      expect.arrayContaining([expect.stringContaining(why)]),
    );
  });

  test('the pattern that cannot be used is named', () => {
    expect(validator.inspect({ properties: { a: { pattern: '^(?=x)y$' } } })).toMatchObject([
      { path: '/properties/a/pattern', message: expect.stringContaining('"^(?=x)y$" cannot be used: look-around') },
    ]);
  });

  test('what stays below the bounds is taken', () => {
    expect(validator.inspect({ properties: map(3000, () => ({ type: 'string', minLength: 1 })) })).toEqual([]);
    const same = { pattern: '(a|b)*x(c{500}|d)' };
    expect(validator.inspect({ properties: map(3000, () => same) })).toEqual([]);
    expect(keywords({ oneOf: list(500, (index) => ({ const: index })) }, 499)).toEqual([]);
    expect(keywords({ enum: list(20_000, (index) => `v${index}`) }, 'v19999')).toEqual([]);
  });
});

test('VAL-05 the work of a schema is counted by its values, an enum as one', () => {
  expect(stepsOf({ type: 'string', enum: [1, 2, 3], not: { items: [true, null] } })).toBe(7);
  expect([stepsOf(true), stepsOf(null), stepsOf({})]).toEqual([1, 1, 1]);
});

describe('VAL-05 at a check', () => {
  test('VAL-05 each check has the whole budget', () => {
    const made = validator.compile({ uniqueItems: true });
    if (isFailure(made)) throw new Error(made.message);
    // A quarter of the budget.
    const value = [{ text: 'x'.repeat(8 * MiB) }];
    for (let time = 0; time < 5; time += 1) expect(made.check(value, { coerce: false }).faults).toEqual([]);
  });

  test.each(['allOf', 'anyOf', 'oneOf'])('doubled references under %s end', (keyword) => {
    expect(keywords(doubling(keyword), 1).length).toBeGreaterThan(0);
  });

  test('long chains of references need no deep stack', () => {
    const $defs = Object.fromEntries(
      list(1500, (index) => [
        `d${index}`,
        { properties: { next: { $ref: `#/$defs/d${(Number(index) + 1) % 1500}` } } },
      ]) as [string, unknown][],
    );
    expect(keywords({ $ref: '#/$defs/d0', $defs }, { next: { next: {} } })).toEqual([]);
  });

  test('thousands of faults cost no more than what is listed', () => {
    const node = { type: 'object', properties: { n: { $ref: '#/$defs/node' } }, required: ['x', 'y'] };
    const found = keywords(
      { items: { $ref: '#/$defs/node' }, $defs: { node } },
      list(200_000, () => ({})),
    );
    expect(found.at(-1)).toBe('faults');
    expect(
      keywords(
        { allOf: list(500, () => ({ additionalProperties: false })) },
        map(20_000, () => 1),
      ).at(-1),
    ).toBe('faults');
  });

  test('large lists are told apart, and counted as work', () => {
    expect(
      keywords(
        { uniqueItems: true },
        list(100_000, (index) => index),
      ),
    ).toEqual([]);
    expect(
      keywords(
        { items: { enum: list(5000, (index) => index) } },
        list(200_000, (index) => Number(index) % 5000),
      ),
    ).toEqual([]);
    const again = { allOf: list(500, () => ({ uniqueItems: true })) };
    expect(
      keywords(
        again,
        list(100_000, (index) => ({ index })),
      ),
    ).toEqual(['steps']);
  });

  test('recursive schemas with a large value end', () => {
    const tree = (depth: number): unknown => (depth === 0 ? {} : { c: list(10, () => tree(depth - 1)) });
    const node = { type: 'object', properties: { c: { items: { $ref: '#/$defs/node' } } } };
    expect(keywords({ $ref: '#/$defs/node', $defs: { node } }, tree(4))).toEqual([]);
    const open = {
      anyOf: [{ properties: { c: { $ref: '#/$defs/open' } } }, { properties: { c: { $ref: '#/$defs/open' } } }],
    };
    const deep = list(60, () => 0).reduce<unknown>((inner) => ({ c: inner }), {});
    const schema = { $ref: '#/$defs/open', $defs: { open: { ...open, unevaluatedProperties: false } } };
    expect(keywords(schema, deep)).toEqual(['steps']);
  });

  test('names and dependent schemas are judged within the budget', () => {
    expect(
      keywords(
        { propertyNames: { pattern: '^(a|b)*$' } },
        map(50_000, () => 1),
      ).at(-1),
    ).toBe('faults');
    const dependentSchemas = map(2000, (index) => ({ required: [`q${index}`] }));
    expect(
      keywords(
        { dependentSchemas },
        map(2000, () => 1),
      ).length,
    ).toBeGreaterThan(100);
  });
});
