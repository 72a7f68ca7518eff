import type { Dialect } from './dialect.ts';
import { VALUE_KEYWORDS } from './vocabulary.ts';

/**
 * What a keyword contains: one schema, a list of them, a map of them, a plain value, a list of property names, or the
 * mixed forms of older drafts. Unlisted keywords are annotations or foreign and have no effect.
 */
export type KeywordKind = 'schema' | 'schemas' | 'schema-map' | 'value' | 'names' | 'items' | 'dependencies';

type Group = readonly [KeywordKind, readonly string[]];

const EVERYWHERE: readonly Group[] = [
  ['schema', ['additionalProperties', 'contains', 'not', 'if', 'then', 'else', 'propertyNames']],
  ['schemas', ['allOf', 'anyOf', 'oneOf']],
  ['schema-map', ['properties', 'patternProperties']],
  ['value', ['format', ...VALUE_KEYWORDS]],
  ['names', ['required']],
];
const SINCE_2019: readonly Group[] = [
  ['schema', ['unevaluatedItems', 'unevaluatedProperties']],
  ['schema-map', ['dependentSchemas']],
  ['value', ['dependentRequired', 'maxContains', 'minContains']],
];
const BEFORE_2020: readonly Group[] = [
  ['items', ['items']],
  ['schema', ['additionalItems']],
];

const table = (...groups: readonly Group[]): ReadonlyMap<string, KeywordKind> =>
  new Map(groups.flatMap(([kind, names]) => names.map((name): [string, KeywordKind] => [name, kind])));

/** The judging keywords of each dialect. */
export const KEYWORDS: Readonly<Record<Dialect, ReadonlyMap<string, KeywordKind>>> = {
  'draft-07': table(...EVERYWHERE, ...BEFORE_2020, ['dependencies', ['dependencies']]),
  '2019-09': table(...EVERYWHERE, ...SINCE_2019, ...BEFORE_2020),
  '2020-12': table(...EVERYWHERE, ...SINCE_2019, ['schema', ['items']], ['schemas', ['prefixItems']]),
};

/** Keywords whose schema is applied to each member or element of the value. */
export const PER_ELEMENT: ReadonlySet<string> = new Set([
  'additionalProperties',
  'patternProperties',
  'propertyNames',
  'unevaluatedProperties',
  'items',
  'additionalItems',
  'contains',
  'unevaluatedItems',
]);

/** Places of definitions; searched for references, and validated only where a reference points to them. */
export const DEFINITIONS: readonly string[] = ['$defs', 'definitions'];

/** One subschema of a schema, with the keyword it stands under. */
export interface Subschema {
  readonly keyword: string;
  /** Path below the schema, keyword first. */
  readonly segments: readonly (string | number)[];
  readonly schema: unknown;
}

/** The schemas that stand directly below a schema, in the order of its keywords. */
export function subschemasOf(schema: Readonly<Record<string, unknown>>, dialect: Dialect): Subschema[] {
  return Object.keys(schema).flatMap((keyword) => {
    const kind = DEFINITIONS.includes(keyword) ? 'schema-map' : KEYWORDS[dialect].get(keyword);
    return kind === undefined ? [] : below(keyword, kind, schema[keyword]);
  });
}

function below(keyword: string, kind: KeywordKind, held: unknown): Subschema[] {
  if (kind === 'value' || kind === 'names') return [];
  if (kind === 'schema') return [{ keyword, segments: [keyword], schema: held }];
  if (Array.isArray(held)) return held.map((schema, index) => ({ keyword, segments: [keyword, index], schema }));
  if (kind === 'items') return [{ keyword, segments: [keyword], schema: held }];
  if (typeof held !== 'object' || held === null) return [];
  return Object.entries(held)
    .filter(([, schema]) => !Array.isArray(schema))
    .map(([name, schema]) => ({ keyword, segments: [keyword, name], schema }));
}
