import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { isDated } from '../schema/judge/formats.ts';
import { type OwnNode, type OwnSchema, type OwnSchemaObject, referredBy } from '../schema/own/own-node.ts';
import { dateFrom, dateTimeFrom, dateTimeFromEpoch } from './coerce-date.ts';
import { convertScalar, isOfType } from './coerce-scalar.ts';
import type { CoercionRules } from './coercion-rules.ts';

/** Dependencies of a coercion. */
export interface CoercionParts {
  readonly own: OwnSchema;
  readonly rules: CoercionRules;
  /** True when a value is valid by a node unchanged. */
  isValid(node: OwnNode, value: unknown): boolean;
}

/** Most schemas visited in one coercion; beyond that values stay unchanged. */
const VISITS_MAX = 10_000;
/** Most branches of a union that are tried; a wider union is left alone. */
const BRANCHES_MAX = 32;

interface Coercion extends CoercionParts {
  visitsLeft: number;
}

/**
 * The value with every invalid scalar converted where that is lossless and unambiguous (VAL-02). Descends into objects,
 * lists and references; into a union only when exactly one branch can be satisfied. The input is never changed: changed
 * parts are copies, the rest is the input itself.
 */
export function coerceValue(parts: CoercionParts, value: unknown): unknown {
  return coerce({ ...parts, visitsLeft: VISITS_MAX }, parts.own.root, value);
}

function coerce(run: Coercion, node: OwnNode | undefined, value: unknown): unknown {
  if (typeof node !== 'object' || run.visitsLeft-- <= 0) return value;
  let result = coerceOwn(run.rules, node, value);
  result = coerce(run, referredBy(run.own, node), result);
  for (const part of listOf(node['allOf'])) result = coerce(run, part, result);
  for (const union of [node['anyOf'], node['oneOf']]) result = coerceUnion(run, listOf(union), result);
  if (Array.isArray(result)) return coerceItems(run, node, result);
  if (isOfType(result, 'object')) return coerceMembers(run, node, result as Record<string, unknown>);
  return result;
}

const listOf = (held: unknown): readonly OwnNode[] => (Array.isArray(held) ? held : []);

/** By `type` and `format`, or by the members of `enum` and `const` where no type is given. */
function coerceOwn(rules: CoercionRules, node: OwnSchemaObject, value: unknown): unknown {
  const types = [node['type']].flat().filter((type) => typeof type === 'string');
  const { format } = node;
  if (rules.dates && (format === 'date' || format === 'date-time') && (types.length === 0 || types.includes('string')))
    return dated(rules, format, types, value);
  if (types.length > 0) {
    if (types.some((type) => isOfType(value, type))) return value;
    return only(
      types.map((type) => convertScalar(value, type)),
      value,
    );
  }
  const allowed = 'const' in node ? [node['const']] : Array.isArray(node['enum']) ? node['enum'] : [];
  if (allowed.length === 0 || allowed.includes(value)) return value;
  return only(
    allowed.map((member) => (convertScalar(value, typeof member) === member ? member : undefined)),
    value,
  );
}

/** Converts a day or an instant; a number stays, unless it can only be an instant and epochs are enabled. */
function dated(
  { epochs }: CoercionRules,
  format: 'date' | 'date-time',
  types: readonly string[],
  value: unknown,
): unknown {
  if (typeof value === 'string') {
    if (isDated(format, value)) return value;
    return (format === 'date' ? dateFrom(value) : dateTimeFrom(value)) ?? value;
  }
  if (typeof value !== 'number' || !epochs || format === 'date') return value;
  return types.some((type) => isOfType(value, type)) ? value : (dateTimeFromEpoch(value) ?? value);
}

/** The single distinct candidate, or the value unchanged. */
function only(candidates: readonly unknown[], value: unknown): unknown {
  const distinct = new Set(candidates.filter((candidate) => candidate !== undefined));
  return distinct.size === 1 ? [...distinct][0] : value;
}

function coerceUnion(run: Coercion, branches: readonly OwnNode[], value: unknown): unknown {
  if (branches.length === 0 || branches.length > BRANCHES_MAX) return value;
  if (branches.some((branch) => run.isValid(branch, value))) return value;
  const candidates = new Map<string, unknown>();
  for (const branch of branches) {
    const candidate = coerce(run, branch, value);
    if (candidate !== value && run.isValid(branch, candidate)) candidates.set(canonicalJson(candidate), candidate);
  }
  const [first] = candidates.values();
  return candidates.size === 1 ? first : value;
}

function coerceItems(run: Coercion, node: OwnSchemaObject, items: readonly unknown[]): readonly unknown[] {
  const prefix = listOf(node['prefixItems'] ?? node['items']);
  const rest = Array.isArray(node['items']) ? node['additionalItems'] : node['items'];
  if (prefix.length === 0 && rest === undefined) return items;
  let copy: unknown[] | undefined;
  for (const [index, item] of items.entries()) {
    const coerced = coerce(run, index < prefix.length ? prefix[index] : (rest as OwnNode | undefined), item);
    if (coerced === item) continue;
    copy ??= [...items];
    copy[index] = coerced;
  }
  return copy ?? items;
}

function coerceMembers(run: Coercion, node: OwnSchemaObject, members: Readonly<Record<string, unknown>>): unknown {
  const properties = node['properties'] as Readonly<Record<string, OwnNode>> | undefined;
  const others = node['patternProperties'] === undefined ? (node['additionalProperties'] as OwnNode) : undefined;
  if (properties === undefined && typeof others !== 'object') return members;
  let copy: Record<string, unknown> | undefined;
  for (const name of Object.keys(members)) {
    // Assigning to this name would change the copy's prototype.
    if (name === '__proto__') continue;
    const known = properties !== undefined && Object.hasOwn(properties, name);
    const coerced = coerce(run, known ? properties[name] : others, members[name]);
    if (coerced === members[name]) continue;
    copy ??= { ...members };
    copy[name] = coerced;
  }
  return copy ?? members;
}
