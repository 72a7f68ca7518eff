import { isFailure } from '@sallyport/std/error/failure';
import { describe, expect, test } from 'vitest';
import type { JsonSchemaObject } from '../../../api/schemas/identifiers.ts';
import { createSchemaValidator, type SchemaValidatorOptions } from '../schema-validator.ts';

const isValid = (schema: JsonSchemaObject, value: unknown, options: SchemaValidatorOptions = {}): boolean => {
  const made = createSchemaValidator(options).compile(schema);
  if (isFailure(made)) throw new Error(JSON.stringify(made.details));
  return made.check(value, { coerce: false }).faults.length === 0;
};

describe('dynamic references', () => {
  const list = {
    $id: 'https://example.com/list',
    $dynamicAnchor: 'list',
    type: 'object',
    properties: { head: { $dynamicRef: '#item' }, tail: { $dynamicRef: '#list' } },
    $defs: { item: { $dynamicAnchor: 'item' } },
  };
  const numbers = {
    $id: 'https://example.com/numbers',
    $ref: 'list',
    $defs: { list, item: { $dynamicAnchor: 'item', type: 'number' } },
  };

  test('take the outermost anchor of the way, so that one list serves for two kinds of elements', () => {
    expect(isValid(numbers, { head: 1, tail: { head: 2 } })).toBe(true);
    expect(isValid(numbers, { head: 1, tail: { head: 'two' } })).toBe(false);
    expect(isValid(list, { head: 1, tail: { head: 'two' } })).toBe(true);
    const both = {
      $id: 'https://example.com/both',
      properties: { numbers: { $ref: 'numbers' }, any: { $ref: 'list' } },
      $defs: { numbers },
    };
    expect(isValid(both, { any: { head: 'x' }, numbers: { head: 1 } })).toBe(true);
    expect(isValid(both, { any: { head: 1 }, numbers: { head: 'x' } })).toBe(false);
  });

  test('of 2019-09 do the same with $recursiveAnchor', () => {
    const tree = {
      $id: 'https://example.com/tree',
      $recursiveAnchor: true,
      properties: { children: { items: { $recursiveRef: '#' } } },
    };
    const strict = {
      $schema: 'https://json-schema.org/draft/2019-09/schema',
      $id: 'https://example.com/strict',
      $recursiveAnchor: true,
      $ref: 'tree',
      unevaluatedProperties: false,
      $defs: { tree },
    };
    expect(isValid(strict, { children: [{ children: [] }] })).toBe(true);
    expect(isValid(strict, { children: [{ kids: [] }] })).toBe(false);
  });

  test('VAL-05 that unfold without end are refused', () => {
    const $defs: Record<string, JsonSchemaObject> = {};
    const names = Array.from({ length: 40 }, (_, index) => `r${index}`);
    for (const name of names)
      $defs[name] = { $id: name, $dynamicAnchor: name, allOf: [...names, `#${name}`].map(($ref) => ({ $ref })) };
    const faults = createSchemaValidator().inspect({ $id: 'https://example.com/', $ref: 'r0', $defs });
    expect(faults).toMatchObject([{ code: 'E3008', keyword: 'schema' }]);
  });
});

describe('what stands outside', () => {
  const remote = { $ref: 'https://example.com/n.json#/$defs/n' };
  const document = { $defs: { n: { type: 'number' } } };

  test('VAL-05.4 is refused, and only looked at where a program hands it in', () => {
    expect(createSchemaValidator().inspect(remote)).toMatchObject([
      { path: '/$ref', code: 'E3008', message: expect.stringContaining('nothing is fetched') },
    ]);
    const known = { 'https://example.com/n.json': document };
    expect([isValid(remote, 1, { known }), isValid(remote, 'x', { known })]).toEqual([true, false]);
  });

  test.each(['https://json-schema.org/draft/2020-12/schema', 'http://json-schema.org/draft-07/schema#'])(
    'is known when it is the meta-schema %s',
    ($ref) => {
      expect(isValid({ properties: { schema: { $ref } } }, { schema: { type: 'object' } })).toBe(true);
      expect(isValid({ properties: { schema: { $ref } } }, { schema: { type: 'no such' } })).toBe(false);
    },
  );

  test('REG-12 a meta-schema of ones own says which keywords judge', () => {
    const vocabulary = 'https://json-schema.org/draft/2020-12/vocab';
    const own = (words: Record<string, boolean>) => ({
      known: {
        'https://example.com/meta': { $schema: 'https://json-schema.org/draft/2020-12/schema', $vocabulary: words },
      },
    });
    const schema = { $schema: 'https://example.com/meta', type: 'number', properties: { a: false } };
    expect(isValid(schema, { a: 1 }, own({ [`${vocabulary}/validation`]: true }))).toBe(false);
    expect(isValid(schema, 'x', own({ [`${vocabulary}/applicator`]: true }))).toBe(true);
    const foreign = own({ 'https://example.com/vocab': true });
    expect(createSchemaValidator(foreign).inspect(schema)).toMatchObject([{ path: '/$schema', code: 'E3008' }]);
  });
});
