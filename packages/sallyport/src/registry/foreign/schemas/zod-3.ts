import { pointerTo } from '@sallyport/std/json/json-pointer';
import type { Fault } from '../../../../api/schemas/error.ts';
import type { JsonSchemaObject } from '../../../../api/schemas/identifiers.ts';
import { plainCopy } from '../plain-json.ts';
import type { DerivedSchema } from './standard-schema.ts';
import { numberKeywords, stringKeywords, type Zod3Check } from './zod-3-checks.ts';

/** Deepest nesting that is translated. */
const DEPTH_MAX = 64;

interface Zod3Schema {
  readonly _def: Readonly<Record<string, unknown>> & { readonly typeName: string; readonly description?: string };
}
type Node = Record<string, unknown>;

/** State of a translation: definitions for recursive schemas, and faults. */
interface Translation {
  readonly definitions: Node;
  readonly named: Map<unknown, string>;
  readonly faults: Fault[];
  depth: number;
}

/**
 * The JSON Schema (2020-12) of a zod 3 schema's input, read from its `_def` since zod 3 offers no conversion. It omits
 * refinements and transforms: these run when the schema validates.
 */
export function jsonSchemaOfZod3(given: unknown): DerivedSchema {
  const to: Translation = { definitions: {}, named: new Map(), faults: [], depth: 0 };
  const schema = translate(given, '', to);
  // Defaults and literals are values of the program, so they may be anything.
  const copied = plainCopy(schema);
  const [first, ...rest] = [...to.faults, ...copied.faults];
  if (first !== undefined) return { faults: [first, ...rest] };
  const whole = copied.value as JsonSchemaObject;
  return { schema: to.named.size === 0 ? whole : { ...whole, $defs: plainCopy(to.definitions).value } };
}

function translate(given: unknown, at: string, to: Translation): Node {
  const schema = given as Zod3Schema;
  const description = schema._def.description;
  to.depth += 1;
  const made = to.depth > DEPTH_MAX ? unknownAt(at, `lies deeper than ${DEPTH_MAX} levels`, to) : typed(schema, at, to);
  to.depth -= 1;
  return description === undefined || made['description'] !== undefined ? made : { ...made, description };
}

function typed({ _def: def }: Zod3Schema, at: string, to: Translation): Node {
  const known = Object.hasOwn(TYPES, def.typeName) ? TYPES[def.typeName] : undefined;
  return known === undefined ? unknownAt(at, `${def.typeName} has no JSON Schema`, to) : known(def, at, to);
}

type Translate = (def: Zod3Schema['_def'], at: string, to: Translation) => Node;

const inner =
  (member: string): Translate =>
  (def, at, to) =>
    translate(def[member], at, to);

const checksOf = (def: Zod3Schema['_def']): readonly Zod3Check[] => (def['checks'] ?? []) as readonly Zod3Check[];

const TYPES: Readonly<Record<string, Translate>> = {
  ZodString: (def) => (def['coerce'] === true ? {} : { type: 'string', ...stringKeywords(checksOf(def)) }),
  ZodNumber: (def) => (def['coerce'] === true ? {} : { type: 'number', ...numberKeywords(checksOf(def)) }),
  ZodBoolean: (def) => (def['coerce'] === true ? {} : { type: 'boolean' }),
  ZodDate: (def, at, to) =>
    def['coerce'] === true
      ? { type: 'string', format: 'date-time' }
      : unknownAt(at, 'a Date cannot travel as JSON; use z.coerce.date() or a string', to),
  ZodNull: () => ({ type: 'null' }),
  ZodAny: () => ({}),
  ZodUnknown: () => ({}),
  ZodCatch: () => ({}),
  ZodNever: () => ({ not: {} }),
  ZodUndefined: () => ({ not: {} }),
  ZodVoid: () => ({ not: {} }),
  ZodLiteral: (def) => ({ const: def['value'] }),
  ZodEnum: (def) => ({ enum: def['values'] }),
  ZodNativeEnum: (def) => ({ enum: nativeValues(def['values'] as Record<string, unknown>) }),
  ZodObject: objectOf,
  ZodArray: arrayOf,
  ZodTuple: tupleOf,
  ZodRecord: recordOf,
  ZodUnion: (def, at, to) => ({ anyOf: eachOf(def['options'] as unknown[], at, 'anyOf', to) }),
  ZodDiscriminatedUnion: (def, at, to) => ({ anyOf: eachOf([...(def['options'] as unknown[])], at, 'anyOf', to) }),
  ZodIntersection: (def, at, to) => ({ allOf: eachOf([def['left'], def['right']], at, 'allOf', to) }),
  ZodNullable: (def, at, to) => ({ anyOf: [translate(def['innerType'], at, to), { type: 'null' }] }),
  ZodDefault: (def, at, to) => {
    const given = (def['defaultValue'] as () => unknown)();
    return { ...translate(def['innerType'], at, to), ...(given === undefined ? {} : { default: given }) };
  },
  ZodOptional: inner('innerType'),
  ZodReadonly: inner('innerType'),
  ZodBranded: inner('type'),
  ZodEffects: inner('schema'),
  ZodPipeline: inner('in'),
  ZodLazy: lazyOf,
};

function objectOf(def: Zod3Schema['_def'], at: string, to: Translation): Node {
  const shape = (def['shape'] as () => Record<string, unknown>)();
  const properties: Node = {};
  const required: string[] = [];
  for (const [name, part] of Object.entries(shape)) {
    const place = pointerTo(pointerTo(at, 'properties'), name);
    if (name === '__proto__') {
      unknownAt(place, 'a member may not be named __proto__', to);
      continue;
    }
    properties[name] = translate(part, place, to);
    if (!isOptional(part as Zod3Schema)) required.push(name);
  }
  const rest = def['catchall'] as Zod3Schema;
  const others =
    rest._def.typeName !== 'ZodNever'
      ? { additionalProperties: translate(rest, pointerTo(at, 'additionalProperties'), to) }
      : def['unknownKeys'] === 'strict'
        ? { additionalProperties: false }
        : {};
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }), ...others };
}

/** True when the schema accepts undefined, so that the member may be left out. */
function isOptional({ _def: def }: Zod3Schema): boolean {
  if (
    ['ZodOptional', 'ZodDefault', 'ZodCatch', 'ZodAny', 'ZodUnknown', 'ZodUndefined', 'ZodVoid'].includes(def.typeName)
  )
    return true;
  const within =
    def['innerType'] ?? def['schema'] ?? def['in'] ?? (def.typeName === 'ZodBranded' ? def['type'] : undefined);
  if (within !== undefined) return isOptional(within as Zod3Schema);
  return def.typeName === 'ZodUnion' && (def['options'] as Zod3Schema[]).some(isOptional);
}

function arrayOf(def: Zod3Schema['_def'], at: string, to: Translation): Node {
  const bound = (member: string): number | undefined => (def[member] as { value: number } | null)?.value;
  const least = bound('exactLength') ?? bound('minLength');
  const most = bound('exactLength') ?? bound('maxLength');
  return {
    type: 'array',
    items: translate(def['type'], pointerTo(at, 'items'), to),
    ...(least === undefined ? {} : { minItems: least }),
    ...(most === undefined ? {} : { maxItems: most }),
  };
}

function tupleOf(def: Zod3Schema['_def'], at: string, to: Translation): Node {
  const items = def['items'] as readonly unknown[];
  const prefixItems = eachOf(items, at, 'prefixItems', to);
  const rest = def['rest'] === null ? false : translate(def['rest'], pointerTo(at, 'items'), to);
  return { type: 'array', ...(items.length === 0 ? {} : { prefixItems }), minItems: items.length, items: rest };
}

function recordOf(def: Zod3Schema['_def'], at: string, to: Translation): Node {
  const keys = translate(def['keyType'], pointerTo(at, 'propertyNames'), to);
  return {
    type: 'object',
    additionalProperties: translate(def['valueType'], pointerTo(at, 'additionalProperties'), to),
    ...(Object.keys(keys).some((keyword) => keyword !== 'type') ? { propertyNames: keys } : {}),
  };
}

/** A lazy schema may be recursive: it becomes a definition that is referred to. */
function lazyOf(def: Zod3Schema['_def'], at: string, to: Translation): Node {
  // The getter may return a new schema each time, so the lazy schema itself identifies the recursion.
  let name = to.named.get(def);
  if (name === undefined) {
    name = `lazy_${to.named.size + 1}`;
    to.named.set(def, name);
    to.definitions[name] = translate((def['getter'] as () => unknown)(), at, to);
  }
  return { $ref: `#/$defs/${name}` };
}

const eachOf = (schemas: readonly unknown[], at: string, keyword: string, to: Translation): Node[] =>
  schemas.map((part, index) => translate(part, pointerTo(pointerTo(at, keyword), index), to));

/** TypeScript's numeric enums also contain their names as values. */
function nativeValues(values: Record<string, unknown>): unknown[] {
  return Object.entries(values)
    .filter(([name]) => typeof values[String(values[name])] !== 'number')
    .map(([, value]) => value);
}

function unknownAt(path: string, message: string, to: Translation): Node {
  const hint = 'Pass the JSON Schema beside the schema.';
  to.faults.push({ path, code: 'E3008', keyword: 'schema', message, hint });
  return {};
}
