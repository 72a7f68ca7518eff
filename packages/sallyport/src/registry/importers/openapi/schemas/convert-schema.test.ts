import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import type { OpenApiDocument } from '../document/parse-document.ts';
import type { Schema } from './convert-schema.ts';
import { schemaConverter } from './definitions.ts';

type Direction = 'request' | 'response';

/** The converted schema with its definitions, as the manifest has it. */
function convert(
  schema: unknown,
  schemas: Record<string, unknown> = {},
  dialect: OpenApiDocument['dialect'] = '3.0',
  direction: Direction = 'request',
): Schema {
  const converter = schemaConverter({ root: { components: { schemas } }, dialect });
  const { schema: converted, pointers } = converter.convert(schema, direction);
  const $defs = converter.definitions(pointers, direction);
  return { ...(converted as Schema), ...($defs === undefined ? {} : { $defs }) };
}

const ref = (name: string): { $ref: string } => ({ $ref: `#/components/schemas/${name}` });

describe('the dialect of 3.0', () => {
  test.each([
    [{ type: 'string', nullable: true }, { type: ['string', 'null'] }],
    [
      { type: 'string', nullable: true, enum: ['a'] },
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    [
      { allOf: [{ type: 'string' }], nullable: true, description: 'd' },
      { description: 'd', anyOf: [{ allOf: [{ type: 'string' }] }, { type: 'null' }] },
    ],
    [{ nullable: true }, {}],
    [
      { minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
      { exclusiveMinimum: 1, maximum: 9 },
    ],
    [
      { type: 'string', format: 'binary' },
      { type: 'string', contentEncoding: 'base64' },
    ],
    [{ type: 'file' }, { type: 'string', contentEncoding: 'base64' }],
    [
      { type: 'string', example: 'x', xml: {}, discriminator: {}, externalDocs: {}, 'x-internal': 1 },
      { type: 'string' },
    ],
    [
      { type: 'string', format: 'phone', description: 'A number.' },
      { type: 'string', description: 'A number. Format: phone.' },
    ],
    [{ type: 'any', required: true, enum: [], minLength: -1, multipleOf: 0, title: 7 }, {}],
    [
      { type: 'object', required: ['a', 'a', 7] },
      { type: 'object', required: ['a'] },
    ],
    [{ enum: ['a', 'a', 'b'] }, { enum: ['a', 'b'] }],
    [{ items: [{ type: 'string' }] }, {}],
    ['nonsense', {}],
  ])('%j', (given, expected) => expect(convert(given)).toEqual(expected));

  test('beside a reference nothing counts in 3.0, and everything does in 3.1', () => {
    const given = { ...ref('Pet'), description: 'Mine.' };
    expect(convert(given, { Pet: {} }, '3.0')).toEqual({ $ref: '#/$defs/Pet', $defs: { Pet: {} } });
    expect(convert(given, { Pet: {} }, '3.1')).toEqual({
      $ref: '#/$defs/Pet',
      description: 'Mine.',
      $defs: { Pet: {} },
    });
  });
});

test('3.1 keeps its types, and loses its identifiers', () => {
  const given = {
    $id: 'x',
    $anchor: 'y',
    $schema: 'z',
    type: ['string', 'null'],
    const: 'a',
    examples: ['a'],
    prefixItems: [true],
  };
  expect(convert(given, {}, '3.1')).toEqual({ type: ['string', 'null'], const: 'a', prefixItems: [true] });
});

describe('what each side sends', () => {
  const given = {
    type: 'object',
    required: ['id', 'password', 'name'],
    additionalProperties: false,
    properties: { id: { type: 'string', readOnly: true, format: 'uuid' }, password: { writeOnly: true }, name: {} },
  };

  test('a request needs nothing that the service sets', () => {
    expect(convert(given)).toMatchObject({ required: ['password', 'name'], additionalProperties: false });
  });

  test('an answer needs nothing that only the caller sends, may hold more, and is careless with formats', () => {
    const converted = convert(given, {}, '3.0', 'response');
    expect(converted['required']).toEqual(['id', 'name']);
    expect(converted).not.toHaveProperty('additionalProperties');
    expect(converted).not.toHaveProperty('properties.id.format');
  });
});

describe('references', () => {
  test('REG-02.5 each definition stands once, however often it is used, and circles stay', () => {
    const schemas = {
      Node: { type: 'object', properties: { next: ref('Node'), other: ref('Leaf') } },
      Leaf: { type: 'string' },
    };
    expect(convert({ items: ref('Node'), contains: ref('Node') }, schemas)).toEqual({
      items: { $ref: '#/$defs/Node' },
      contains: { $ref: '#/$defs/Node' },
      $defs: {
        Node: { type: 'object', properties: { next: { $ref: '#/$defs/Node' }, other: { $ref: '#/$defs/Leaf' } } },
        Leaf: { type: 'string' },
      },
    });
  });

  test('definitions of one name from different places are told apart', () => {
    const schemas = { a: { properties: { id: { type: 'string' } } }, b: { properties: { id: { type: 'integer' } } } };
    const given = {
      allOf: [{ $ref: '#/components/schemas/a/properties/id' }, { $ref: '#/components/schemas/b/properties/id' }],
    };
    expect(convert(given, schemas)).toEqual({
      allOf: [{ $ref: '#/$defs/id' }, { $ref: '#/$defs/id_2' }],
      $defs: { id: { type: 'string' }, id_2: { type: 'integer' } },
    });
  });

  test.each([
    'other.json#/Pet',
    'https://evil.example/x.json',
    'file:///etc/passwd',
    '#/components/schemas/Missing',
    '#/__proto__',
    '#/components/constructor',
  ])('the reference %s is not followed', (reference) => {
    expect(() => convert({ properties: { a: { $ref: reference } } })).toThrow(/outside the document|does not exist/);
  });
});

describe('circles that judge the same value', () => {
  /**
   * Whether a value is valid. Does not return, or exhausts the stack, if the converted schema still has a reference
   * cycle.
   */
  function validates(schemas: Record<string, unknown>, value: unknown, name = 'A'): boolean {
    const schema = convert({ properties: { v: ref(name) } }, schemas);
    return new Ajv2020({ strict: false }).compile(schema)({ v: value });
  }

  test.each([
    ['itself', { A: ref('A') }],
    ['another', { A: ref('B'), B: ref('A') }],
    ['allOf', { A: { allOf: [ref('A'), { type: 'integer' }] } }],
    ['not', { A: { not: ref('B') }, B: { not: ref('A') } }],
    [
      'oneOf and allOf',
      { A: { oneOf: [ref('B'), ref('C')] }, B: { allOf: [ref('A')] }, C: { allOf: [ref('A'), { type: 'integer' }] } },
    ],
    ['anyOf within allOf', { A: { allOf: [{ anyOf: [ref('A'), { type: 'integer' }] }] } }],
    [
      'a part of itself',
      { A: { allOf: [{ $ref: '#/components/schemas/A' }, { $ref: '#/components/schemas/A/allOf/0' }] } },
    ],
  ])('through %s are cut', (_through, schemas) => {
    expect(validates(schemas, 7)).toBe(true);
  });

  test('of a base and its kinds lose the alternatives, not the base', () => {
    const schemas = {
      Pet: {
        type: 'object',
        required: ['kind'],
        oneOf: [ref('Cat'), ref('Dog')],
        discriminator: { propertyName: 'kind' },
      },
      Cat: { allOf: [ref('Pet'), { required: ['lives'] }] },
      Dog: { allOf: [ref('Pet'), { required: ['barks'] }] },
    };
    expect(validates(schemas, { kind: 'cat' }, 'Pet')).toBe(true);
    expect(validates(schemas, {}, 'Pet')).toBe(false);
    expect(validates(schemas, { kind: 'cat', lives: 9 }, 'Cat')).toBe(true);
    expect(validates(schemas, { kind: 'cat' }, 'Cat')).toBe(false);
    expect(validates(schemas, { lives: 9 }, 'Cat')).toBe(false);
  });
});

describe('patterns', () => {
  test.each(['(?!aws:).*', '(a)\\1', '(?<=x)y', '[', 'x'.repeat(5000)])('%# becomes words', (pattern) => {
    const converted = convert({ type: 'string', pattern, description: 'A name.' });
    expect(converted).not.toHaveProperty('pattern');
    expect(converted['description']).toContain('A name. Must match the pattern');
  });

  test('a pattern that takes linear time stays', () => {
    expect(convert({ pattern: '^[a-z]{1,3}\\d+$' })).toEqual({ pattern: '^[a-z]{1,3}\\d+$' });
    expect(convert({ patternProperties: { '^x-': {}, '(?=x)': {} } }, {}, '3.1')).toEqual({
      patternProperties: { '^x-': {} },
    });
  });
});

test('a schema that is nested without end becomes open at some depth', () => {
  let deep: unknown = { type: 'string' };
  for (let level = 0; level < 5000; level += 1) deep = { items: deep };
  expect(JSON.stringify(convert(deep)).length).toBeLessThan(1000);
});

test('a property named like a prototype is left out', () => {
  const given = JSON.parse('{"properties":{"__proto__":{"type":"string"},"a":{}}}');
  expect(Object.keys(convert(given)['properties'] as object)).toEqual(['a']);
});
