/** Keywords of JSON Schema, draft-07 to 2020-12, that hold one schema. */
export const SINGLE_SCHEMAS: ReadonlySet<string> = new Set([
  'items',
  'additionalItems',
  'additionalProperties',
  'unevaluatedItems',
  'unevaluatedProperties',
  'contains',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
]);

/** Keywords that hold a list of schemas. */
export const LISTS_OF_SCHEMAS: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items']);

/** Keywords that hold schemas by names of properties. */
export const NAMED_MAPS: ReadonlySet<string> = new Set(['properties', 'dependentSchemas', 'dependencies']);

/** Keywords that hold schemas by any name. */
export const MAPS_OF_SCHEMAS: ReadonlySet<string> = new Set([
  ...NAMED_MAPS,
  'patternProperties',
  '$defs',
  'definitions',
]);

/** Keywords whose values are instances of the schema. */
export const VALUES: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'examples']);

/** Keywords that change a schema's address or refer by address: pointers cannot be followed there. */
export const ADDRESSES: ReadonlySet<string> = new Set(['$anchor', '$dynamicAnchor', '$dynamicRef', '$recursiveRef']);
