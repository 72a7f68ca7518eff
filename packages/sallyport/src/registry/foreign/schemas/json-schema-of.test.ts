import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import { createSchemaValidator } from '../../../validation/schema-validator.ts';
import { jsonSchemaOf } from './json-schema-of.ts';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';
const faultsOf = (given: unknown) => jsonSchemaOf(given, 'input').faults ?? [];
const schemaOf = (given: unknown) => {
  const { schema, faults } = jsonSchemaOf(given, 'input') as ReturnType<typeof jsonSchemaOf> & { schema?: object };
  expect(faults).toBeUndefined();
  return schema as Record<string, unknown>;
};

test('TypeBox and plain JSON Schema are taken as they are', () => {
  const schema = Type.Object({ n: Type.Integer({ minimum: 1 }), s: Type.Optional(Type.String()) });
  expect(schemaOf(schema)).toEqual({
    type: 'object',
    required: ['n'],
    properties: { n: { type: 'integer', minimum: 1 }, s: { type: 'string' } },
  });
  const draft7 = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', definitions: { a: {} } };
  expect(schemaOf(draft7)).toEqual(draft7);
});

test('zod 4 is asked for the side that goes in', () => {
  const schema = z.object({ n: z.coerce.number().default(3), t: z.string().transform((text) => text.length) });
  expect(schemaOf(schema)).toMatchObject({
    $schema: DIALECT,
    type: 'object',
    properties: { n: { default: 3 }, t: { type: 'string' } },
    required: ['t'],
  });
  expect(jsonSchemaOf(schema, 'output').faults?.[0]?.message).toMatch(
    /zod that gives no JSON Schema; it says: .*ransform/,
  );
});

test('REG-02.14 any library that tells its JSON Schema is asked, for draft-07 where it knows no other', () => {
  const asked: unknown[] = [];
  const input = ({ target }: { target: string }) => {
    asked.push(target);
    if (target !== 'draft-07') throw new Error('unknown target');
    return { type: 'object' };
  };
  const schema = Object.assign(() => 0, {
    '~standard': { version: 1, vendor: 'own', validate: () => ({}), jsonSchema: { input } },
  });
  expect(schemaOf(schema)).toEqual({ type: 'object' });
  expect(asked).toEqual(['draft-2020-12', 'draft-07']);
  const older = {
    '~standard': { version: 1, vendor: 'own', validate: () => ({}) },
    toJsonSchema: () => ({ type: 'object' }),
  };
  expect(schemaOf(older)).toEqual({ type: 'object' });
});

test('a schema without JSON Schema is refused with what to pass instead', () => {
  const mute = { '~standard': { version: 1, vendor: 'valibot', validate: () => ({ value: 1 }) } };
  expect(faultsOf(mute)).toMatchObject([
    { path: '', message: expect.stringContaining('a schema of valibot'), hint: expect.stringContaining('JSON Schema') },
  ]);
  for (const odd of [undefined, null, 7, 'text', [{}]]) expect(faultsOf(odd)[0]?.hint).toContain('JSON Schema object');
});

test('patterns that cannot run in linear time become words where a library judges too, and stay where none does', () => {
  const { schemas } = { schemas: createSchemaValidator() };
  const email = schemaOf(z.object({ mail: z.email(), code: z.string().regex(/^(?=.*\d)[a-z\d]+$/) }));
  expect(schemas.inspect(email)).toEqual([]);
  expect(email['properties']).toMatchObject({
    mail: { format: 'email' },
    code: { type: 'string', description: expect.stringContaining('(?=.*\\d)') },
  });
  expect(email).not.toHaveProperty(['properties', 'code', 'pattern']);
  const plain = { type: 'object', properties: { pattern: { pattern: '^(?=a)' } } };
  expect(schemaOf(plain)).toEqual(plain);
});

describe('zod 3', () => {
  test('is translated', () => {
    const schema = z3.object({
      text: z3.string().min(1).max(9).describe('Words.'),
      mail: z3.string().email().optional(),
      count: z3.number().int().gt(0).default(1),
      kind: z3.enum(['a', 'b']).nullable(),
      tags: z3.array(z3.string()).min(1),
      pair: z3.tuple([z3.string(), z3.number()]),
      rest: z3.record(z3.boolean()),
      either: z3.union([z3.literal(1), z3.string()]),
      refined: z3
        .string()
        .refine((value) => value !== 'no')
        .transform(Number),
    });
    expect(schemaOf(schema.strict())).toEqual({
      type: 'object',
      properties: {
        text: { type: 'string', minLength: 1, maxLength: 9, description: 'Words.' },
        mail: { type: 'string', format: 'email' },
        count: { type: 'integer', exclusiveMinimum: 0, default: 1 },
        kind: { anyOf: [{ enum: ['a', 'b'] }, { type: 'null' }] },
        tags: { type: 'array', items: { type: 'string' }, minItems: 1 },
        pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], minItems: 2, items: false },
        rest: { type: 'object', additionalProperties: { type: 'boolean' } },
        either: { anyOf: [{ const: 1 }, { type: 'string' }] },
        refined: { type: 'string' },
      },
      required: ['text', 'kind', 'tags', 'pair', 'rest', 'either', 'refined'],
      additionalProperties: false,
    });
  });

  test('that refers to itself gets definitions', () => {
    type Node = { name: string; children: Node[] };
    const node: z3.ZodType<Node> = z3.lazy(() => z3.object({ name: z3.string(), children: z3.array(node) }));
    const schema = schemaOf(z3.object({ root: node }));
    expect(schema).toMatchObject({ properties: { root: { $ref: '#/$defs/lazy_1' } } });
    const checked = createSchemaValidator().compile(schema);
    if (!('check' in checked)) throw new Error('it does not compile');
    const good = { root: { name: 'a', children: [{ name: 'b', children: [] }] } };
    expect(checked.check(good, { coerce: false }).faults).toEqual([]);
    expect(checked.check({ root: { name: 'a', children: [{}] } }, { coerce: false }).faults).not.toEqual([]);
  });

  test('that JSON cannot carry is refused with its place', () => {
    const faults = faultsOf(z3.object({ when: z3.date(), run: z3.function(), big: z3.literal(1n), ok: z3.string() }));
    expect(faults.map(({ path }) => path)).toEqual(['/properties/when', '/properties/run', '/properties/big/const']);
    expect(faults[0]?.message).toContain('z.coerce.date()');
  });

  test('of enums of TypeScript, huge ones too', () => {
    expect(schemaOf(z3.nativeEnum({ 0: 'A', 1: 'B', A: 0, B: 1 } as const))).toEqual({ enum: [0, 1] });
    const many = Array.from({ length: 20_000 }, (_, index) => `v${index}`) as [string, ...string[]];
    expect((schemaOf(z3.enum(many))['enum'] as string[]).length).toBe(20_000);
  });
});
