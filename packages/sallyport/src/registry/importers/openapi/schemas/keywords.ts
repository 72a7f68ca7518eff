import { DOCUMENTS_KEYWORD } from '../../../../domain/document/document-parameter.ts';

/** Test that a keyword's value must pass to be copied. */
type Test = (value: unknown) => boolean;

const isText: Test = (value) => typeof value === 'string';
const isNumber: Test = (value) => typeof value === 'number' && Number.isFinite(value);
const isCount: Test = (value) => Number.isInteger(value) && (value as number) >= 0;
const isFlag: Test = (value) => typeof value === 'boolean';
const isAnything: Test = () => true;

/**
 * Keywords of JSON Schema 2020-12 that are copied when their value has the right type. Keywords that are neither here,
 * nor in the tables below, nor handled by name are dropped: OpenAPI's own keywords, examples, extensions, `$id` and
 * anchors.
 */
export const PLAIN: ReadonlyMap<string, Test> = new Map<string, Test>([
  ['title', isText],
  ['description', isText],
  ['default', isAnything],
  ['const', isAnything],
  ['deprecated', isFlag],
  ['readOnly', isFlag],
  ['writeOnly', isFlag],
  ['contentEncoding', isText],
  ['contentMediaType', isText],
  ['multipleOf', (value) => isNumber(value) && (value as number) > 0],
  ['maximum', isNumber],
  ['minimum', isNumber],
  ['maxLength', isCount],
  ['minLength', isCount],
  ['maxItems', isCount],
  ['minItems', isCount],
  ['uniqueItems', isFlag],
  ['maxContains', isCount],
  ['minContains', isCount],
  ['maxProperties', isCount],
  ['minProperties', isCount],
  [DOCUMENTS_KEYWORD, (value) => value === true],
]);

/** Keywords that hold one schema. `same`: it applies to the same value, so a cycle through it never ends. */
export const ONE_SCHEMA: ReadonlyMap<string, { readonly same: boolean }> = new Map([
  ['items', { same: false }],
  ['additionalProperties', { same: false }],
  ['propertyNames', { same: false }],
  ['contains', { same: false }],
  ['unevaluatedItems', { same: false }],
  ['unevaluatedProperties', { same: false }],
  ['not', { same: true }],
  ['if', { same: true }],
  ['then', { same: true }],
  ['else', { same: true }],
]);

/** Keywords that hold a list of schemas. */
export const SCHEMA_LIST: ReadonlyMap<string, { readonly same: boolean }> = new Map([
  ['prefixItems', { same: false }],
  ['allOf', { same: true }],
  ['anyOf', { same: true }],
  ['oneOf', { same: true }],
]);

/** Keywords that hold schemas by name. */
export const SCHEMA_MAP: ReadonlyMap<string, { readonly same: boolean }> = new Map([
  ['properties', { same: false }],
  ['dependentSchemas', { same: true }],
]);

/** The types of JSON Schema. */
export const TYPES: ReadonlySet<unknown> = new Set([
  'string',
  'number',
  'integer',
  'boolean',
  'array',
  'object',
  'null',
]);

/** Formats that validators know; others become words in the description. */
export const FORMATS: ReadonlySet<unknown> = new Set([
  'date',
  'time',
  'date-time',
  'duration',
  'uri',
  'uri-reference',
  'uri-template',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
  'json-pointer',
  'relative-json-pointer',
  'byte',
  'int32',
  'int64',
  'float',
  'double',
  'password',
  'binary',
]);
