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

describe('references within a document', () => {
  test('VAL-01 a dynamic reference to what is no dynamic anchor is a plain one', () => {
    const $defs = { a: { $anchor: 'n', type: 'number' } };
    expect([isValid({ $dynamicRef: '#n', $defs }, 1), isValid({ $dynamicRef: '#n', $defs }, 'x')]).toEqual([
      true,
      false,
    ]);
    const pointed = { $dynamicRef: '#/$defs/a', $defs };
    expect([isValid(pointed, 1), isValid(pointed, 'x')]).toEqual([true, false]);
    expect(isValid({ $dynamicRef: '#/$defs/no', $defs: { no: false } }, 1)).toBe(false);
  });

  test('VAL-01 names with escapes, places within a resource and its base are found', () => {
    const number = { type: 'number' };
    const found = (schema: JsonSchemaObject) => [isValid(schema, 1), isValid(schema, 'x')];
    for (const schema of [
      { $ref: '#/$defs/a~1b~0c', $defs: { 'a/b~c': number } },
      { $ref: '#/$defs/a%20b', $defs: { 'a b': number } },
      { $ref: '#/allOf/0', allOf: [number] },
      { $ref: '/n', $defs: { a: { $id: '/n', ...number } } },
      {
        $id: 'https://x.test/root',
        $ref: 'n#part',
        $defs: { a: { $id: 'n', $defs: { b: { $anchor: 'part', ...number } } } },
      },
      { $id: 'https://x.test/root', $ref: 'n#/$defs/b', $defs: { a: { $id: 'n', $defs: { b: number } } } },
      { $id: 'https://x.test/root#', $ref: '#/$defs/b', $defs: { b: number } },
      { $ref: '#/x-own/b', 'x-own': { b: { $ref: '#/$defs/c' } }, $defs: { c: number } },
      { $schema: 'http://json-schema.org/draft-07/schema#', $ref: '#n', definitions: { a: { $id: '#n', ...number } } },
    ])
      expect(found(schema as JsonSchemaObject), JSON.stringify(schema)).toEqual([true, false]);
    const beside = { $ref: '#/definitions/a', $id: 'https://x.test/other', definitions: { a: number } };
    expect(found({ $schema: 'http://json-schema.org/draft-07/schema#', ...beside })).toEqual([true, false]);
  });

  test('VAL-05.4 a reference that leads nowhere says so, with its place', () => {
    const faultsOf = (schema: JsonSchemaObject) =>
      createSchemaValidator()
        .inspect(schema)
        .map(({ path, keyword, message, hint }) => [path, keyword, message, hint]);
    const nothing = ['The reference points to nothing in the document.', 'Check the name after "#".'];
    expect(faultsOf({ allOf: [{ $ref: '#/$defs/x' }] })).toEqual([['/allOf/0/$ref', '$ref', ...nothing]]);
    expect(faultsOf({ $dynamicRef: '#x' })).toEqual([['/$dynamicRef', '$dynamicRef', ...nothing]]);
    expect(faultsOf({ $ref: '#/minimum', minimum: 1 })).toEqual([['/$ref', '$ref', ...nothing]]);
    expect(faultsOf({ $ref: '#/enum/0/x', enum: ['x'] })).toEqual([['/$ref', '$ref', ...nothing]]);
    expect(faultsOf({ properties: { a: { $ref: 'http://[' } } })).toEqual([
      [
        '/properties/a/$ref',
        '$ref',
        'The reference points outside the document; nothing is fetched.',
        'Copy what it points to into $defs and refer to it as "#/$defs/name".',
      ],
    ]);
    expect(faultsOf({ properties: { a: { $id: 'http://[' } } })).toEqual([
      ['/properties/a/$id', '$id', '$id is not a URI reference.', undefined],
    ]);
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
    expect(isValid({ ...schema, minimum: 5 }, 1, own({ [`${vocabulary}/core`]: true }))).toBe(true);
    const all = own({ [`${vocabulary}/validation`]: true, [`${vocabulary}/unevaluated`]: false });
    const closed = { $schema: 'https://example.com/meta', unevaluatedProperties: false };
    expect(isValid(closed, { a: 1 }, all)).toBe(false);
    expect(isValid(closed, { a: 1 }, own({ [`${vocabulary}/validation`]: true }))).toBe(true);
    expect(isValid(schema, 'x', own({ 'https://example.com/vocab': false }))).toBe(true);
    for (const none of [7, null, undefined])
      expect(createSchemaValidator(own(none as never)).inspect(schema)).toMatchObject([{ path: '/$schema' }]);
    const foreign = own({ 'https://example.com/vocab': true });
    expect(createSchemaValidator(foreign).inspect(schema)).toMatchObject([{ path: '/$schema', code: 'E3008' }]);
  });
});
