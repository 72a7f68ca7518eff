import { describe, expect, test } from 'vitest';
import { compareSchemas } from './compare-schemas.ts';
import type { Role } from './comparison.ts';
import { createFindings } from './findings.ts';
import type { Members } from './schema-view.ts';

const found = (from: Members, to: Members, role: Role = 'input') => {
  const findings = createFindings();
  compareSchemas(from, to, { pointer: '', role, findings });
  return findings;
};
const lines = (from: Members, to: Members, role: Role = 'input'): string[] =>
  found(from, to, role).changes.map(({ kind, severity, path }) => `${severity} ${kind} ${path}`.trim());

/** Each change from the first to the second schema breaks callers as an input, and the reverse change as an output. */
const NARROWED: readonly (readonly [string, Members, Members])[] = [
  ['type', { type: ['string', 'null'] }, { type: 'string' }],
  ['type', { type: 'number' }, { type: 'integer' }],
  ['type', {}, { type: 'string' }],
  ['enum', { enum: ['a', 'b'] }, { enum: ['a'] }],
  ['enum', { type: 'string' }, { type: 'string', enum: ['a'] }],
  ['enum', { enum: ['a', 'b'] }, { const: 'b' }],
  ['minimum', { minimum: 1 }, { minimum: 2 }],
  ['minimum', { minimum: 1 }, { exclusiveMinimum: 1 }],
  ['maximum', {}, { maximum: 5 }],
  ['maximum', { exclusiveMaximum: 7 }, { maximum: 5 }],
  ['minLength', {}, { minLength: 1 }],
  ['maxLength', { maxLength: 9 }, { maxLength: 8 }],
  ['maxItems', {}, { maxItems: 3 }],
  ['minProperties', {}, { minProperties: 1 }],
  ['multipleOf', { multipleOf: 2 }, { multipleOf: 4 }],
  ['multipleOf', {}, { multipleOf: 2 }],
  ['pattern', {}, { pattern: '^a' }],
  ['format', {}, { format: 'date' }],
  ['uniqueItems', {}, { uniqueItems: true }],
  ['anyOf', { anyOf: [{ type: 'string' }, { type: 'null' }] }, { anyOf: [{ type: 'null' }] }],
  ['oneOf', {}, { oneOf: [{ minimum: 1 }] }],
  ['type', { items: {} }, { items: { type: 'string' } }],
  ['type', { prefixItems: [{}] }, { prefixItems: [{ type: 'string' }] }],
  ['type', { items: { type: 'string' } }, { prefixItems: [{ const: 'a' }], items: { type: 'string', maxLength: 3 } }],
  ['type', { patternProperties: { '^x': {} } }, { patternProperties: { '^x': { type: 'string' } } }],
  ['type', {}, { allOf: [{ type: 'string' }] }],
  ['schema-closed', { properties: { a: true } }, { properties: { a: false } }],
  ['schema-closed', { items: true }, { items: false }],
  ['required-added', {}, { required: ['a'] }],
];

describe('a schema that takes less', () => {
  test.each(NARROWED)('%s: %j to %j', (_, wide, narrow) => {
    const severities = (from: Members, to: Members, role: Role): string[] =>
      found(from, to, role).changes.map(({ severity }) => severity);
    expect(severities(wide, narrow, 'input')).toContain('breaking');
    expect(severities(narrow, wide, 'input')).not.toContain('breaking');
    expect(severities(wide, narrow, 'output')).not.toContain('breaking');
    expect(severities(narrow, wide, 'output')).toContain('breaking');
    expect(severities(wide, structuredClone(wide), 'input')).toEqual([]);
    expect(severities(narrow, structuredClone(narrow), 'output')).toEqual([]);
  });
});

test.each<[string, Members, Members]>([
  ['type', { type: 'string' }, { type: 'integer' }],
  ['enum', { enum: ['a', 'b'] }, { enum: ['b', 'c'] }],
  ['pattern', { pattern: '^a' }, { pattern: '^b' }],
  ['multipleOf', { multipleOf: 2 }, { multipleOf: 3 }],
  ['if', { if: {}, else: { minimum: 1 } }, { if: {}, else: { minimum: 2 } }],
  ['dependentRequired', {}, { dependentRequired: { a: ['b'] } }],
  ['$ref', { $ref: 'https://example.com/a' }, { $ref: 'https://example.com/b' }],
])('what is neither less nor more breaks both ways: %s', (_, from, to) => {
  for (const role of ['input', 'output'] as const) {
    expect(found(from, to, role).changes.map(({ severity }) => severity)).toContain('breaking');
  }
});

describe('properties', () => {
  const a = { properties: { a: { type: 'string' } } };
  const closed = { ...a, additionalProperties: false };
  const none = { properties: {} };

  test('a new one that may be left out breaks nobody; a required one breaks who sends', () => {
    expect(lines(none, a)).toEqual(['compatible property-added /properties/a']);
    expect(lines(none, { ...a, required: ['a'] })).toEqual([
      'compatible property-added /properties/a',
      'breaking required-added /required',
    ]);
    expect(lines(none, { ...a, required: ['a'] }, 'output')).not.toContainEqual(expect.stringContaining('breaking'));
    expect(lines({ ...none, additionalProperties: false }, closed, 'output')).toEqual([
      'notable property-added /properties/a',
    ]);
  });

  test('one that is gone breaks who sends it to a closed object, and who was promised it', () => {
    expect(lines(closed, { properties: {}, additionalProperties: false })).toEqual([
      'breaking property-removed /properties/a',
    ]);
    expect(lines(a, none)).toEqual(['notable property-removed /properties/a']);
    expect(lines(a, none, 'output')).toEqual(['notable property-removed /properties/a']);
    expect(lines({ ...a, required: ['a'] }, none, 'output')).toEqual(['breaking property-removed /properties/a']);
  });

  test('an object that is closed breaks who sends more; one that is opened breaks nobody', () => {
    expect(lines(a, closed)).toEqual(['breaking object-closed /additionalProperties']);
    expect(lines(closed, a)).toEqual(['compatible object-opened /additionalProperties']);
    expect(lines(closed, a, 'output')).toEqual(['notable object-opened /additionalProperties']);
  });

  test('one that need no longer be given is more; one that may be missing in the result breaks', () => {
    expect(lines({ ...a, required: ['a'] }, a)).toEqual(['compatible required-removed /required']);
    expect(lines({ ...a, required: ['a'] }, a, 'output')).toEqual(['breaking required-removed /required']);
  });

  test('names of the language and of pointers are names like others', () => {
    const odd = JSON.parse('{"__proto__": {"type": "string"}, "constructor": {}, "a/b~c": {}}');
    expect(lines({ properties: odd }, { properties: {} })).toEqual([
      'notable property-removed /properties/__proto__',
      'notable property-removed /properties/constructor',
      'notable property-removed /properties/a~1b~0c',
    ]);
    expect(lines({ properties: {} }, { properties: { toString: {} }, required: ['toString'] })[1]).toContain(
      'breaking',
    );
  });
});

test('not turns the direction around, and back again', () => {
  expect(lines({ not: { maximum: 5 } }, { not: { maximum: 4 } })).toEqual(['compatible maximum-narrowed /not']);
  expect(lines({ not: { not: { maximum: 5 } } }, { not: { not: { maximum: 4 } } })[0]).toContain('breaking');
  expect(lines({}, { not: { type: 'string' } })[0]).toContain('breaking');
});

test('branches in another order are the same', () => {
  const one = { anyOf: [{ type: 'string' }, { type: 'null' }], allOf: [{ minLength: 1 }, { maxLength: 5 }] };
  const other = { anyOf: one.anyOf.toReversed(), allOf: one.allOf.toReversed() };
  expect(lines(one, other)).toEqual([]);
});

test('a lists of items of an older dialect is read as such', () => {
  const old = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    items: [{ type: 'string' }],
    additionalItems: false,
  };
  const now = { prefixItems: [{ type: 'string' }], items: false };
  expect(lines(old, now)).toEqual([]);
  expect(lines(old, { ...now, items: true })).toEqual(['compatible schema-opened /items']);
});

describe('references', () => {
  const withRef = (definition: Members) => ({
    properties: { a: { $ref: '#/$defs/x' }, b: { $ref: '#/$defs/x' } },
    $defs: { x: definition },
  });

  test('are followed, and a change behind them is told once, where it is', () => {
    expect(lines(withRef({ type: 'string' }), withRef({ type: 'integer' }))).toEqual([
      'breaking type-changed /$defs/x',
    ]);
    expect(
      lines(withRef({ type: 'string' }), { properties: { a: { type: 'string' }, b: { type: 'string' } } }),
    ).toEqual([]);
  });

  test('by anchor, by id and with members beside them', () => {
    const one = {
      properties: { a: { $ref: '#n', maxLength: 3 }, b: { $ref: 'urn:b' } },
      $defs: { n: { $anchor: 'n', type: 'string' }, b: { $id: 'urn:b', type: 'string' } },
    };
    const other = { properties: { a: { type: 'string', maxLength: 2 }, b: { type: 'string' } } };
    expect(lines(one, other)).toEqual(['breaking maxLength-narrowed /properties/a']);
  });

  test('in circles end', () => {
    const tree = (leaf: string) => ({
      type: 'object',
      properties: { value: { type: leaf }, children: { type: 'array', items: { $ref: '#' } } },
    });
    expect(lines(tree('string'), tree('integer'))).toEqual(['breaking type-changed /properties/value']);
    const loop = { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } };
    expect(found(loop, structuredClone(loop)).changes).toEqual([]);
    const described = { properties: { next: { $ref: '#', description: 'The next one.' } } };
    expect(lines(described, structuredClone(described))).toEqual([]);
  });
});

test('schemas that are too large are compared in part, and that is said', () => {
  const many = (type: string) => ({
    properties: Object.fromEntries(Array.from({ length: 30_000 }, (_, at) => [`p${at}`, { type }])),
  });
  const { complete, changes } = found(many('string'), many('integer'));
  expect(complete).toBe(false);
  expect(changes).toHaveLength(500);
  let deep: Members = { type: 'string' };
  for (let level = 0; level < 5000; level += 1) deep = { items: deep };
  expect(found(deep, structuredClone(deep)).complete).toBe(false);
});

test('what a model reads, a default and a mark of a path are worth a look', () => {
  const path = { type: 'string', 'x-path': 'ro' };
  expect(lines({ description: 'a', default: 1, title: 'x' }, { description: 'b', default: 2, title: 'y' })).toEqual([
    'notable description-changed /description',
    'notable default-changed /default',
    'compatible title-changed /title',
  ]);
  expect(found(path, { type: 'string' }).changes).toMatchObject([{ kind: 'path-mark-changed', needs_review: true }]);
  expect(lines({ type: 'string' }, path)[0]).toContain('breaking');
});
