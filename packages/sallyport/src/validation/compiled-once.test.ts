import { isFailure } from '@sallyport/std/error/failure';
import { Ajv } from 'ajv';
import { afterEach, beforeEach, expect, type MockInstance, test, vi } from 'vitest';
import type { JsonSchemaObject } from '../../api/schemas/identifiers.ts';
import { createSchemaValidator, type SchemaValidator } from './schema-validator.ts';

/** Records every schema for which code is generated, in every dialect. */
let generated: MockInstance<Ajv['compile']>;
beforeEach(() => {
  generated = vi.spyOn(Object.getPrototypeOf(Ajv.prototype) as Ajv, 'compile');
});
afterEach(() => generated.mockRestore());

/** A copy of a schema, as a registry that reads the tool again gets one. */
const schemaOfTool = (schema: JsonSchemaObject): JsonSchemaObject => structuredClone(schema);

function isValid(validator: SchemaValidator, schema: JsonSchemaObject, value: unknown): boolean {
  const made = validator.compile(schema);
  if (isFailure(made)) throw new Error(JSON.stringify(made.details));
  return made.check(value, { coerce: false }).faults.length === 0;
}

const NAME = { type: 'string', minLength: 2 } as const;
const DIALECTS = [
  'http://json-schema.org/draft-07/schema#',
  'https://json-schema.org/draft/2019-09/schema',
  'https://json-schema.org/draft/2020-12/schema',
];

test('VAL-01.3 VAL-01.4 a schema is compiled once for its content: tools with equal schemas share it, in whatever order it is written', () => {
  const validator = createSchemaValidator();
  const tools = [schemaOfTool(NAME), schemaOfTool(NAME), { minLength: 2, type: 'string' }];
  for (const schema of [...tools, ...tools]) {
    expect(isValid(validator, schema, 'ab')).toBe(true);
    expect(isValid(validator, schema, 'a')).toBe(false);
  }
  expect(generated).toHaveBeenCalledTimes(1);
});

test('VAL-01.4 schemas that differ are compiled each, and none is taken for the other', () => {
  const validator = createSchemaValidator();
  const longer = { ...NAME, minLength: 3 };
  for (let round = 0; round < 3; round += 1) {
    expect(isValid(validator, schemaOfTool(NAME), 'ab')).toBe(true);
    expect(isValid(validator, schemaOfTool(longer), 'ab')).toBe(false);
  }
  expect(generated).toHaveBeenCalledTimes(2);
});

test('VAL-01 the same words in another dialect are compiled for themselves, once each', () => {
  const validator = createSchemaValidator();
  const words = { definitions: { a: {} }, properties: { x: { $ref: '#/definitions/a', type: 'string' } } };
  for (let round = 0; round < 3; round += 1) {
    // Keywords next to a reference are ignored in draft-07, and apply from 2019-09 on.
    const judged = DIALECTS.map(($schema) => isValid(validator, schemaOfTool({ $schema, ...words }), { x: 1 }));
    expect(judged).toEqual([true, false, false]);
  }
  const wholes = generated.mock.calls.filter(([schema]) => Object.hasOwn(Object(schema), 'properties'));
  expect(wholes).toHaveLength(DIALECTS.length);
});

test('VAL-01 what was made ready is compiled when a value first comes, and not before', () => {
  const validator = createSchemaValidator();
  expect(validator.inspect(NAME)).toEqual([]);
  const made = validator.compile(schemaOfTool(NAME));
  expect(generated).not.toHaveBeenCalled();
  if (isFailure(made)) throw new Error(made.message);
  made.check('ab', { coerce: false });
  expect(generated).toHaveBeenCalledTimes(1);
});

test('VAL-01 no more are kept than there is room for: the one used longest ago is compiled again when it is used', () => {
  const validator = createSchemaValidator({ validatorsMax: 2 });
  const [one, two, three] = [1, 2, 3].map((minLength) => ({ ...NAME, minLength })) as [object, object, object];
  const compiledFor = (schema: object): number => {
    const before = generated.mock.calls.length;
    expect(isValid(validator, schemaOfTool({ ...schema }), 'abc')).toBe(true);
    return generated.mock.calls.length - before;
  };
  expect([one, two, one, three].map(compiledFor)).toEqual([1, 1, 0, 1]);
  expect([one, three].map(compiledFor)).toEqual([0, 0]);
  expect([two, three, one].map(compiledFor)).toEqual([1, 0, 1]);
});
