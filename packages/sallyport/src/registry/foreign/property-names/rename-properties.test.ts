import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { originalArguments } from '../../../domain/tool/property-names/original-names.ts';
import { fittingNames } from './fitting-names.ts';
import { fittingSchema } from './rename-properties.ts';

type Schema = Record<string, unknown>;
const FITS = /^[a-zA-Z0-9_.-]{1,64}$/;
const long = `${'very-'.repeat(20)}long`;
const object = (properties: Schema, more: Schema = {}): Schema => ({ type: 'object', properties, ...more });
const manifest = (schema: Schema): ToolManifest => {
  const fitting = fittingSchema(schema);
  return {
    tool_id: 't',
    tool_name: 'T',
    version: '1.0.0',
    description: '',
    parameters_schema: fitting.schema,
    executor: { kind: 'mcp', ...fitting.binding },
  };
};
const original = (schema: Schema, given: Record<string, unknown>) => originalArguments(manifest(schema), given);
const compiles = (schema: Schema) => new Ajv2020({ strict: false }).compile(schema);

/** The names of all declared properties in a schema, at any depth. */
function keys(value: unknown, within = false): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const entries = Object.entries(value);
  return [
    ...(within ? Object.keys(value) : []),
    ...entries.flatMap(([key, one]) => keys(one, key === 'properties' && !within)),
  ];
}

test('REG-02 names become readable, unequal and as long as providers take them, in whatever order they come', () => {
  const originals = ['filter[name]', '$top', 'X-Very/Odd', 'größe', '名前', 'a b', 'a/b', 'taken!', long, `${long}er`];
  const taken = new Set(['taken', 'top_']);
  const names = fittingNames(originals, taken);
  expect(Object.fromEntries(names)).toMatchObject({
    'filter[name]': 'filter_name',
    $top: 'top',
    'X-Very/Odd': 'X-Very_Odd',
    größe: 'gro_e',
    名前: expect.stringMatching(/^property_[0-9a-f]{8}$/),
    'a b': expect.stringMatching(/^a_b_[0-9a-f]{8}$/),
    'a/b': expect.stringMatching(/^a_b_[0-9a-f]{8}$/),
    'taken!': expect.stringMatching(/^taken_[0-9a-f]{8}$/),
    [long]: expect.stringMatching(/^very-very-.{37}.*_[0-9a-f]{8}$/),
  });
  for (const name of names.values()) expect(name).toMatch(FITS);
  expect(new Set([...names.values(), ...taken]).size).toBe(originals.length + taken.size);
  expect(fittingNames(originals.toReversed(), taken)).toEqual(names);
  // A property whose name is the hashed name of another property does not take that name away from it.
  const stolen = fittingNames(['a b', 'a/b'], new Set([names.get('a b') ?? '']));
  expect(stolen.get('a b')).toMatch(FITS);
  expect(new Set([...stolen.values(), names.get('a b')]).size).toBe(3);
});

test('REG-02 a schema whose names fit stays the very same object', () => {
  const schema = object({ a: { type: 'string', default: { 'x y': 1 } }, 'b.c-d_1': true });
  expect(fittingSchema(schema)).toEqual({ schema, binding: {} });
  expect(fittingSchema(schema).schema).toBe(schema);
  const given = { a: 'x' };
  expect(original(schema, given)).toBe(given);
});

const EVERY_KEYWORD: Schema = {
  type: 'object',
  properties: {
    'filter[name]': { type: 'string', description: 'Part of it.' },
    $any: true,
    list: { type: 'array', items: { $ref: '#/$defs/Node%20A' } },
    pair: { prefixItems: [{ $ref: '#/properties/list/items' }, object({ 'p q': {} })] },
    free: { type: 'object', additionalProperties: object({ 'in free': { type: 'string' } }) },
    by: { type: 'object', patternProperties: { '^x': object({ 'of pattern': {} }) } },
    again: { $ref: '#/properties/filter%5Bname%5D' },
  },
  required: ['filter[name]', 'undeclared name'],
  dependentRequired: { $any: ['filter[name]'] },
  dependentSchemas: { $any: object({ 'when any': { const: 1 } }) },
  if: { required: ['$any'] },
  ...Object.fromEntries([['then', object({ 'then this': { type: 'integer' } })]]),
  allOf: [{ anyOf: [{ required: ['filter[name]'] }, { required: ['list'] }] }],
  default: { 'filter[name]': 'x', free: { 'filter[name]': { 'in free': 'y' } } },
  examples: [{ $any: 1 }],
  $defs: { 'Node A': object({ 'child/1': { $ref: '#/$defs/Node%20A' }, 'value!': { type: 'string' } }) },
};

test('REG-02 every keyword that names a property follows the renaming, and the call goes back at every depth', () => {
  const { schema: shown, binding } = fittingSchema(EVERY_KEYWORD);
  for (const key of keys(shown)) expect(key).toMatch(FITS);
  expect(binding.property_names).toEqual({
    filter_name: 'filter[name]',
    any: '$any',
    child_1: 'child/1',
    value: 'value!',
    p_q: 'p q',
    in_free: 'in free',
    of_pattern: 'of pattern',
    when_any: 'when any',
    then_this: 'then this',
  });
  expect(shown).toMatchObject({
    properties: {
      filter_name: { type: 'string', description: 'Part of it. Called "filter[name]" in the original.' },
      any: { description: 'Called "$any" in the original.' },
      again: { $ref: '#/properties/filter_name' },
    },
    required: ['filter_name', 'undeclared name'],
    dependentRequired: { any: ['filter_name'] },
    if: { required: ['any'] },
    default: { filter_name: 'x', free: { 'filter[name]': { in_free: 'y' } } },
    examples: [{ any: 1 }],
  });
  const given = {
    filter_name: 'n',
    any: 2,
    list: [{ child_1: { value: 'v', child_1: { value: 'w' } } }],
    pair: [{ value: 'x' }, { p_q: 1 }],
    // Members that the schema does not declare keep their names.
    free: { filter_name: { in_free: 'y', any: 1 }, value: {} },
    by: { x1: { of_pattern: 1 } },
    then_this: 1,
    when_any: 1,
    'undeclared name': 1,
  };
  const judge = compiles(shown);
  expect([judge(given), judge.errors]).toEqual([true, null]);
  const sent = original(EVERY_KEYWORD, given);
  expect(sent).toEqual({
    'filter[name]': 'n',
    $any: 2,
    list: [{ 'child/1': { 'value!': 'v', 'child/1': { 'value!': 'w' } } }],
    pair: [{ 'value!': 'x' }, { 'p q': 1 }],
    free: { filter_name: { 'in free': 'y', any: 1 }, value: {} },
    by: { x1: { 'of pattern': 1 } },
    'then this': 1,
    'when any': 1,
    'undeclared name': 1,
  });
  expect(compiles(EVERY_KEYWORD)(sent)).toBe(true);
});

test('REG-02 a name that is allowed because it is declared is allowed under its new one too', () => {
  const schema = object({ 'a[]': {} }, { propertyNames: { enum: ['a[]', 'b'] }, additionalProperties: {} });
  const judge = compiles(fittingSchema(schema).schema);
  expect([{ a: 1 }, { b: 1 }, { c: 1 }].map((given) => judge(given))).toEqual([true, true, false]);
});

test('REG-02 a property that is given under both names is refused with its place', () => {
  const schema = object({ deep: object({ 'a[]': {} }) });
  expect(() => original(schema, { deep: { a: 1, 'a[]': 2 } })).toThrow(
    expect.objectContaining({
      code: 'E3509',
      message: 'The argument /deep/a is given a second time as "a[]". Give it once, as a.',
    }),
  );
  expect(original(schema, { deep: { 'a[]': 2 } })).toEqual({ deep: { 'a[]': 2 } });
});

test.each([
  ['an anchor', { $anchor: 'here' }, '#here'],
  ['another document', {}, 'https://schemas.example/x.json'],
  ['an address of its own', { $id: 'https://schemas.example/y.json' }, '#/$defs/Y'],
  ['nothing', {}, '#/$defs/Missing'],
])('REG-02 a schema with a reference to %s stays as it is, because calls could not be traced back', (_, more, $ref) => {
  const schema = object({ 'a[]': { $ref } }, { $defs: { Y: { type: 'object', ...more } } });
  expect(fittingSchema(schema)).toEqual({ schema, binding: {} });
});
