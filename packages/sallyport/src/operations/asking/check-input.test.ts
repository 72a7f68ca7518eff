import { isFailure } from '@sallyport/std/error/failure';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import fc from 'fast-check';
import type { TSchema } from 'typebox';
import { describe, expect, test } from 'vitest';
import type { JsonSchemaObject } from '../../../api/schemas/identifiers.ts';
import { shapeOf } from '../../domain/shape/shape.ts';
import { createSchemaValidator } from '../../validation/schema-validator.ts';
import { OPERATIONS, type OperationName, operationNamed } from '../catalogue.ts';
import { inputChecks } from './check-input.ts';

test('API-04.1 a name that is no operation is refused with the one that may be meant', () => {
  const named = (name: string) => operationNamed(name as OperationName);
  expect(named('outcomes.get')).toBe(OPERATIONS['outcomes.get']);
  for (const [name, hint] of [
    ['outcomes.show', 'Did you mean outcomes'],
    ['toString', 'There is no operation "toString"'],
    ['__proto__', 'There is no operation "__proto__"'],
  ] as const)
    expect(() => named(name)).toThrow(hint);
});

const schemas = createSchemaValidator();
const NAMES = Object.keys(OPERATIONS) as OperationName[];

/** Values to put in place of valid ones. */
const ANYTHING: readonly unknown[] = [
  ...[undefined, null, true, 0, -1, 1.5, 1e300, '', 'a', '\u0000', 'a b', '1.0.0', 'did:example:a', [], {}, [1], [{}]],
  ...[{ a: 1 }, ['a', 'a'], '2026-01-01T00:00:00Z', '2026-13-01T00:00:00Z', 'https://a.example/', '0'.repeat(64)],
  ...['x'.repeat(300), '\u{1f600}'.repeat(100), 'E3001', 'pure', 'a-b_c.d'],
];

/** Texts of which each pattern and format accepts at least one. */
const TEXTS = ['add', '1.0.0', 'did:example:a', '2026-01-01T00:00:00Z', 'https://a.example/', '0'.repeat(64), 'E3001'];

/** Values that mostly match a schema, with a wrong part now and then. */
function near(schema: JsonSchemaObject | boolean | undefined, depth = 0): fc.Arbitrary<unknown> {
  const other = fc.constantFrom(...ANYTHING);
  const wanted = typeof schema === 'object' && depth < 8 ? wantedBy(schema, depth + 1) : undefined;
  return wanted === undefined ? other : fc.oneof({ weight: 15, arbitrary: wanted }, { weight: 1, arbitrary: other });
}

function wantedBy(schema: JsonSchemaObject, depth: number): fc.Arbitrary<unknown> | undefined {
  if ('const' in schema) return fc.constant(schema['const']);
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...schema['enum']);
  const branches = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(branches)) return fc.oneof(...branches.map((branch) => near(branch, depth)));
  if (schema['type'] === 'object') return objectsNear(schema, depth);
  if (schema['type'] === 'array') return fc.array(near(schema['items'] as JsonSchemaObject, depth), { maxLength: 3 });
  if (schema['type'] === 'string') return fc.constantFrom(...TEXTS);
  if (schema['type'] === 'boolean') return fc.boolean();
  if (schema['type'] === 'integer' || schema['type'] === 'number') {
    const { minimum = 0, maximum = 5 } = schema as { minimum?: number; maximum?: number };
    return fc.constantFrom(minimum, maximum, minimum - 1, maximum + 1, 1.5);
  }
  return undefined;
}

/** An object with the required members and few others: with many members one would nearly always be wrong. */
function objectsNear(schema: JsonSchemaObject, depth: number): fc.Arbitrary<unknown> {
  const properties = (schema['properties'] ?? {}) as Record<string, JsonSchemaObject>;
  const required = (schema['required'] as string[] | undefined) ?? [];
  const optional = Object.keys(properties).filter((name) => !required.includes(name));
  const declared = fc
    .subarray(optional, { maxLength: Math.min(2, optional.length) })
    .chain((some) =>
      fc.record(Object.fromEntries([...required, ...some].map((name) => [name, near(properties[name], depth)]))),
    );
  const named = Object.values((schema['patternProperties'] ?? {}) as Record<string, JsonSchemaObject>)[0];
  const more = fc.dictionary(
    fc.constantFrom('extra', 'a-b', 'X y', 'constructor', '__proto__'),
    near(named ?? (schema['additionalProperties'] as JsonSchemaObject | undefined), depth),
    { maxKeys: 1 },
  );
  return fc
    .tuple(declared, fc.option(more, { nil: {}, freq: 3 }))
    .map(([a, b]) => Object.defineProperties(a, Object.getOwnPropertyDescriptors(b)));
}

function validatorOf(input: TSchema) {
  const made = schemas.compile({ ...input });
  return isFailure(made) ? expect.fail(made.message) : made;
}

describe('the quick judge of inputs', () => {
  test.each(NAMES)('agrees for %s with the validator that names faults', (name) => {
    const fits = shapeOf(OPERATIONS[name].input);
    const validator = validatorOf(OPERATIONS[name].input);
    let good = 0;
    fc.assert(
      fc.property(near({ ...OPERATIONS[name].input }), (input) => {
        const isGood = validator.check(input, { coerce: false }).faults.length === 0;
        good += isGood ? 1 : 0;
        expect(fits(input)).toBe(isGood);
      }),
      { numRuns: 500 },
    );
    expect(good).toBeGreaterThan(0);
  });
});

test('VAL-01 a faulty input is refused with every fault and its place, a good one is let through', () => {
  const check = inputChecks(schemas);
  const refusalOf = (input: unknown) => {
    try {
      check('tools.list', input);
      return undefined;
    } catch (thrown) {
      return failureOf(thrown);
    }
  };
  expect(refusalOf({ page: 1 })).toBeUndefined();
  expect(refusalOf({ page: 0 })).toMatchObject({
    message: 'The request for tools.list is not well formed: /page Must be >= 1.',
    details: { faults: [{ path: '/page' }] },
  });
  for (const _ of ['first', 'again'])
    expect(refusalOf({ page: 0, page_size: 'x', tags: [5], extra: 1 })).toMatchObject({
      code: 'E3801',
      message: expect.stringMatching(/^The request for tools\.list is not well formed: .*, and 1 more\.$/),
      details: {
        faults: ['/extra', '/tags/0', '/page', '/page_size'].map((path) => expect.objectContaining({ path })),
      },
    });
});
