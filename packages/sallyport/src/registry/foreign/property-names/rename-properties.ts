import type { JsonSchemaObject } from '../../../../api/schemas/identifiers.ts';
import type { ExecutorBinding } from '../../../../api/schemas/tool-manifest.ts';
import { renameMembers } from '../../../domain/tool/property-names/rename-members.ts';
import {
  isNode,
  type SchemaNode,
  SchemaPlaces,
  segmentsOf,
} from '../../../domain/tool/property-names/schema-places.ts';
import { findProperties } from './find-properties.ts';
import { fittingNames, isFitting } from './fitting-names.ts';
import { LISTS_OF_SCHEMAS, MAPS_OF_SCHEMAS, NAMED_MAPS, SINGLE_SCHEMAS, VALUES } from './keywords.ts';

/** Longest original name that a description repeats, in characters. */
const ORIGINAL_CHARS_MAX = 200;

/** A schema whose property names every provider accepts, and the original names. */
export interface FittingSchema {
  readonly schema: JsonSchemaObject;
  /** For the `executor` of the manifest: empty when nothing was renamed. */
  readonly binding: Pick<ExecutorBinding, 'property_names'>;
}

/**
 * Renames properties whose names would make a model provider refuse the whole request. Each renamed property gives its
 * original name in its description. The schema is unchanged when all names fit, and when it holds references other than
 * pointers into itself: calls could then not be mapped back.
 */
export function fittingSchema(schema: JsonSchemaObject): FittingSchema {
  const found = findProperties(schema);
  const unfit = [...found.names].filter((name) => !isFitting(name));
  if (unfit.length === 0 || !found.traceable) return { schema, binding: {} };
  const taken = new Set([...found.names, ...found.mentioned].filter(isFitting));
  const names = fittingNames(unfit, taken);
  return {
    schema: renamed(schema, { names, places: new SchemaPlaces(schema) }) as JsonSchemaObject,
    binding: { property_names: Object.fromEntries([...names].map(([original, name]) => [name, original])) },
  };
}

interface Renaming {
  /** Original name to new one. */
  readonly names: ReadonlyMap<string, string>;
  readonly places: SchemaPlaces;
}

function renamed(schema: unknown, to: Renaming): unknown {
  if (!isNode(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, keywordOf(schema, keyword, value, to)]),
  );
}

function keywordOf(schema: SchemaNode, keyword: string, value: unknown, to: Renaming): unknown {
  if (keyword === 'propertyNames') return namesAllowed(value, to);
  if (keyword === '$ref') return pointer(value, to);
  if (keyword === 'required') return list(value, to);
  if (VALUES.has(keyword)) return renameMembers(value, valueSchemas(schema, keyword, value, to), to.places, to.names);
  if (keyword === 'discriminator' && isNode(value)) {
    return { ...value, propertyName: nameOf(value['propertyName'], to) };
  }
  if (keyword === 'dependentRequired') return map(value, true, (one) => list(one, to), to);
  if (MAPS_OF_SCHEMAS.has(keyword) && isNode(value)) {
    const isNamed = NAMED_MAPS.has(keyword);
    const part = (one: unknown, name: string): unknown => {
      if (Array.isArray(one)) return list(one, to);
      return keyword === 'properties' ? withOriginalName(renamed(one, to), name, to) : renamed(one, to);
    };
    return map(value, isNamed, part, to);
  }
  if (LISTS_OF_SCHEMAS.has(keyword) && Array.isArray(value)) return value.map((one) => renamed(one, to));
  return SINGLE_SCHEMAS.has(keyword) ? renamed(value, to) : value;
}

function map(value: unknown, isNamed: boolean, part: (one: unknown, name: string) => unknown, to: Renaming): unknown {
  if (!isNode(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [isNamed ? nameOf(name, to) : name, part(one, name)]),
  );
}

const nameOf = (name: unknown, { names }: Renaming): unknown => names.get(String(name)) ?? name;

const list = (value: unknown, to: Renaming): unknown =>
  Array.isArray(value) ? value.map((name) => nameOf(name, to)) : value;

/** A property with its original name in its description, so that people and models find it in other documentation. */
function withOriginalName(schema: unknown, name: string, { names }: Renaming): unknown {
  if (!names.has(name) || schema === false) return schema;
  const own = isNode(schema) ? schema : {};
  const { description } = own;
  return { ...own, description: withOriginal(typeof description === 'string' ? description : undefined, name) };
}

/** A description that states the original name of a renamed property. */
export function withOriginal(description: string | undefined, original: string): string {
  const short = original.length <= ORIGINAL_CHARS_MAX ? original : `${original.slice(0, ORIGINAL_CHARS_MAX)}…`;
  const note = `Called ${JSON.stringify(short.toWellFormed())} in the original.`;
  return description === undefined ? note : `${description} ${note}`;
}

/** The new names must be allowed too; the original ones were allowed because they are declared. */
function namesAllowed(value: unknown, { names }: Renaming): unknown {
  return value === true ? value : { anyOf: [{ enum: [...names.values()] }, value] };
}

/** The value of `const`, or the list of `enum`, as instances of this schema. */
function valueSchemas(schema: SchemaNode, keyword: string, value: unknown, { places }: Renaming) {
  const schemas = places.together(schema);
  return (keyword === 'enum' || keyword === 'examples') && Array.isArray(value)
    ? [{ items: { allOf: schemas } }]
    : schemas;
}

/** Rewrites a reference that leads through a renamed property. */
function pointer(value: unknown, to: Renaming): unknown {
  const segments = typeof value === 'string' ? segmentsOf(value) : undefined;
  if (segments === undefined || segments.length === 0) return value;
  let map: string | undefined;
  const written = segments.map((segment) => {
    const isName = map !== undefined;
    const name = map !== undefined && NAMED_MAPS.has(map) ? String(nameOf(segment, to)) : segment;
    map = !isName && MAPS_OF_SCHEMAS.has(segment) ? segment : undefined;
    return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
  });
  return `#/${written.join('/')}`;
}
