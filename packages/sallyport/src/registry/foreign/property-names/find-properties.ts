import { isNode, listOf, type SchemaNode, SchemaPlaces } from '../../../domain/tool/property-names/schema-places.ts';
import { isFitting } from './fitting-names.ts';
import { ADDRESSES, LISTS_OF_SCHEMAS, MAPS_OF_SCHEMAS, SINGLE_SCHEMAS } from './keywords.ts';

/** Property names in a schema document. */
export interface Found {
  /** Every name under a `properties`; empty when all of them fit. */
  readonly names: ReadonlySet<string>;
  /** Property names elsewhere, for example under `required`. */
  readonly mentioned: ReadonlySet<string>;
  /** True when every reference is a pointer to a schema of the document. */
  readonly traceable: boolean;
}

/** Deepest nesting that is looked at; a manifest may hold no more. */
export const SCHEMA_DEPTH_MAX = 200;

const NOTHING: Found = { names: new Set(), mentioned: new Set(), traceable: true };

/** Caches by identity whether a schema contains unfitting names: the operations of a document share definitions. */
const misfits = new WeakMap<SchemaNode, boolean>();

/** The names of all properties of a schema, at every depth. */
export function findProperties(root: SchemaNode): Found {
  if (!hasMisfits(root)) return NOTHING;
  const names = new Set<string>();
  const mentioned = new Set<string>();
  const all = new Set<SchemaNode>([root]);
  const references: unknown[] = [];
  let traceable = true;
  // A Set also iterates over members that are added during the iteration.
  for (const schema of all) {
    const { properties, $ref: reference, $id: id } = schema;
    for (const name of isNode(properties) ? Object.keys(properties) : []) names.add(name);
    for (const name of mentionedIn(schema)) mentioned.add(name);
    if (reference !== undefined) references.push(reference);
    if ((id !== undefined && schema !== root) || Object.keys(schema).some((keyword) => ADDRESSES.has(keyword)))
      traceable = false;
    for (const part of partsOf(schema)) all.add(part);
  }
  const places = new SchemaPlaces(root);
  const isThere = (reference: unknown): boolean => {
    const target = places.target(reference);
    return typeof target === 'boolean' || (isNode(target) && all.has(target));
  };
  return { names, mentioned, traceable: traceable && references.every(isThere) };
}

function hasMisfits(schema: SchemaNode, depth = 0): boolean {
  const known = misfits.get(schema);
  if (known !== undefined) return known;
  if (depth > SCHEMA_DEPTH_MAX) return false;
  const { properties } = schema;
  const found =
    (isNode(properties) && !Object.keys(properties).every(isFitting)) ||
    partsOf(schema).some((part) => hasMisfits(part, depth + 1));
  misfits.set(schema, found);
  return found;
}

function mentionedIn({ required, dependentRequired, dependentSchemas, dependencies }: SchemaNode): string[] {
  const maps = [dependentRequired, dependentSchemas, dependencies].filter(isNode);
  const lists = [required, ...maps.flatMap((map) => Object.values(map))].flatMap(listOf);
  return [...lists.filter((name) => typeof name === 'string'), ...maps.flatMap((map) => Object.keys(map))];
}

/** The direct subschemas of a schema. */
function partsOf(schema: SchemaNode): readonly SchemaNode[] {
  return Object.entries(schema)
    .flatMap(([keyword, value]) => {
      if (MAPS_OF_SCHEMAS.has(keyword) && isNode(value)) return Object.values(value);
      if (LISTS_OF_SCHEMAS.has(keyword) && Array.isArray(value)) return value;
      return SINGLE_SCHEMAS.has(keyword) ? [value] : [];
    })
    .filter(isNode);
}
