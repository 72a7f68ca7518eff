import { expect, test } from 'vitest';
import type { JsonSchemaObject } from '../../../api/schemas/identifiers.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { complianceOf } from './compliance.ts';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

const report = (parameters_schema: JsonSchemaObject, result_schema?: JsonSchemaObject) =>
  complianceOf({
    tool_id: 'a',
    tool_name: 'A',
    version: '1.0.0',
    description: '',
    parameters_schema,
    ...(result_schema === undefined ? {} : { result_schema }),
    executor: { kind: 'native' },
  } satisfies ToolManifest);

test('REG-08 schemas that say everything have all points', () => {
  const schema = {
    $schema: DIALECT,
    type: 'object',
    properties: {
      city: { type: 'string', description: 'Where.' },
      unit: { enum: ['C', 'F'], description: 'In what.' },
    },
    required: ['city'],
    additionalProperties: false,
  };
  expect(report(schema, schema)).toEqual({ score: 100, points: 14, points_met: 14, findings: [] });
});

test('REG-08.2 each point that is missing is found at its place', () => {
  const { score, points, points_met, findings } = report({
    type: 'object',
    properties: {
      'a/b': {},
      list: { type: 'array', items: { type: 'object', properties: { deep: { type: 'string', description: ' ' } } } },
      flag: true,
    },
  });
  expect(findings.map(({ path, rule }) => `${rule} ${path}`)).toEqual([
    '$schema /parameters_schema/$schema',
    'type /parameters_schema/properties/a~1b',
    'description /parameters_schema/properties/a~1b',
    'description /parameters_schema/properties/list',
    'type /parameters_schema/properties/flag',
    'description /parameters_schema/properties/flag',
    'required /parameters_schema',
    'additionalProperties /parameters_schema',
    'description /parameters_schema/properties/list/items/properties/deep',
    'required /parameters_schema/properties/list/items',
    'additionalProperties /parameters_schema/properties/list/items',
  ]);
  expect([points, points_met, score]).toEqual([13, 2, 15]);
});

test('REG-08 what a reference or a union says of the type counts; definitions and branches are looked at', () => {
  const { findings } = report({
    $schema: DIALECT,
    type: 'object',
    properties: { a: { $ref: '#/$defs/a', description: 'A.' }, b: { anyOf: [{ type: 'string' }], description: 'B.' } },
    required: [],
    unevaluatedProperties: false,
    $defs: {
      a: { type: 'object', properties: { x: { type: 'string' } }, required: ['x'], additionalProperties: true },
    },
    allOf: [{ properties: { c: { type: 'string', description: 'C.' } }, required: [], additionalProperties: {} }],
  });
  expect(findings).toEqual([
    { path: '/parameters_schema/$defs/a/properties/x', rule: 'description', message: 'has no description' },
  ]);
});

test('a schema without properties has the one point of its dialect; findings are bounded and counted whole', () => {
  expect(report({ type: 'object', $schema: DIALECT }).score).toBe(100);
  expect(report({ type: 'object' })).toMatchObject({ score: 0, points: 1 });
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`p${at}`, {}]));
  const { findings, points, points_met } = report({ type: 'object', properties: many });
  expect(findings).toHaveLength(200);
  expect(points - points_met).toBe(10_003);
});
