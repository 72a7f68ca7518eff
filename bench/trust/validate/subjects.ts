import type { JsonSchemaObject } from '../../../packages/sallyport/api/schemas/identifiers.ts';

/** A schema with values to judge by it. */
export interface Subject {
  readonly name: string;
  readonly schema: JsonSchemaObject;
  readonly value: unknown;
  readonly valid: boolean;
}

const TEN_FIELDS: JsonSchemaObject = {
  type: 'object',
  properties: {
    id: { type: 'integer', minimum: 1 },
    name: { type: 'string', minLength: 1, maxLength: 100 },
    email: { type: 'string', format: 'email' },
    age: { type: 'integer', minimum: 0, maximum: 150 },
    tags: { type: 'array', items: { type: 'string' }, maxItems: 10 },
    active: { type: 'boolean' },
    role: { enum: ['admin', 'user', 'guest'] },
    score: { type: 'number' },
    since: { type: 'string', format: 'date' },
    code: { type: 'string', pattern: '^[A-Z]{3}-\\d{4}$' },
  },
  required: ['id', 'name'],
  additionalProperties: false,
};

const TEN_VALUES = {
  id: 1,
  name: 'Ann',
  email: 'ann@example.com',
  age: 33,
  tags: ['a', 'b'],
  active: true,
  role: 'user',
  score: 1.5,
  since: '2026-01-05',
  code: 'ABC-1234',
};

const ORDER: JsonSchemaObject = {
  type: 'object',
  properties: { customer: { $ref: '#/$defs/person' }, lines: { type: 'array', items: { $ref: '#/$defs/line' } } },
  required: ['customer', 'lines'],
  $defs: {
    person: TEN_FIELDS,
    line: {
      type: 'object',
      properties: { article: { type: 'string' }, count: { type: 'integer', minimum: 1 }, note: { type: 'string' } },
      required: ['article', 'count'],
    },
  },
};

/** What is measured: ten fields as they should be and with three faults, and an order of twenty lines. */
export const SUBJECTS: readonly Subject[] = [
  { name: 'ten fields, valid', schema: TEN_FIELDS, value: TEN_VALUES, valid: true },
  {
    name: 'ten fields, three faults with hints',
    schema: TEN_FIELDS,
    value: { ...TEN_VALUES, age: 'old', role: 'usr', extra: 1 },
    valid: false,
  },
  {
    name: 'an order of 20 lines, valid',
    schema: ORDER,
    value: {
      customer: TEN_VALUES,
      lines: Array.from({ length: 20 }, (_, at) => ({ article: `a${at}`, count: at + 1 })),
    },
    valid: true,
  },
];
