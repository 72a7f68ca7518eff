import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { shown } from './findings.ts';
import type { Members } from './schema-view.ts';

/** narrowed: accepts fewer values than before. widened: accepts more. changed: accepts others. */
export type Direction = 'narrowed' | 'widened' | 'changed';

/** One difference in the values that a schema accepts. */
export interface ValueDifference {
  readonly keyword: string;
  readonly direction: Direction;
  /** Ends a sentence that begins with the name of the value. */
  readonly says: string;
}

/** Differences in the keywords that apply to a value by itself. */
export function valueDifferences(from: Members, to: Members): readonly ValueDifference[] {
  return [
    ...typeDifference(from, to),
    ...enumDifference(from, to),
    ...BOUNDS.flatMap((bound) => boundDifference(bound, from, to)),
    ...stepDifference(from, to),
    ...SAME_OR_NOT.flatMap((keyword) => sameOrNot(keyword, from, to)),
    ...flagDifference(from, to),
  ];
}

const ATOMS = ['null', 'boolean', 'object', 'array', 'string', 'integer', 'fraction'];

/** Types as sets, so that an integer is a number. */
function atomsOf({ type, enum: values, const: only }: Members): ReadonlySet<string> {
  if (typeof type === 'string' || Array.isArray(type)) {
    const names = typeof type === 'string' ? [type] : type.map(String);
    return new Set(names.flatMap((name) => (name === 'number' ? ['integer', 'fraction'] : [name])));
  }
  if (only !== undefined) return new Set([atomOf(only)]);
  return new Set(Array.isArray(values) ? values.map(atomOf) : ATOMS);
}

function atomOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'fraction';
  return typeof value;
}

function typeDifference(from: Members, to: Members): ValueDifference[] {
  const direction = directionOf(atomsOf(from), atomsOf(to));
  if (direction === undefined) return [];
  const name = (schema: Members): string => (schema['type'] === undefined ? 'any' : shown(schema['type']));
  return [{ keyword: 'type', direction, says: `was of type ${name(from)} and is now of type ${name(to)}` }];
}

/** Undefined when the sets are equal. */
function directionOf(from: ReadonlySet<string>, to: ReadonlySet<string>): Direction | undefined {
  const isLost = [...from].some((one) => !to.has(one));
  const isNew = [...to].some((one) => !from.has(one));
  if (isLost && isNew) return 'changed';
  return isLost ? 'narrowed' : isNew ? 'widened' : undefined;
}

function valuesOf({ enum: values, const: only }: Members): ReadonlySet<string> | undefined {
  if (only !== undefined) return new Set([canonicalJson(only)]);
  return Array.isArray(values) ? new Set(values.map(canonicalJson)) : undefined;
}

function enumDifference(from: Members, to: Members): ValueDifference[] {
  const before = valuesOf(from);
  const after = valuesOf(to);
  if (before === undefined && after === undefined) return [];
  if (after === undefined) return [{ keyword: 'enum', direction: 'widened', says: 'is no longer one of a few values' }];
  if (before === undefined)
    return [{ keyword: 'enum', direction: 'narrowed', says: `must now be one of ${listed(after)}` }];
  const direction = directionOf(before, after);
  if (direction === undefined) return [];
  const gone = new Set([...before].filter((value) => !after.has(value)));
  const added = new Set([...after].filter((value) => !before.has(value)));
  const parts = [
    ...(gone.size === 0 ? [] : [`no longer takes ${listed(gone)}`]),
    ...(added.size === 0 ? [] : [`now takes ${listed(added)}`]),
  ];
  return [{ keyword: 'enum', direction, says: parts.join(' and ') }];
}

const VALUES_NAMED_MAX = 5;

function listed(values: ReadonlySet<string>): string {
  const named = [...values]
    .slice(0, VALUES_NAMED_MAX)
    .map((text) => (text.length > 40 ? `${text.slice(0, 40)}…` : text));
  return values.size > VALUES_NAMED_MAX ? `${named.join(', ')} and others` : named.join(', ');
}

/** A bound on one side: `least` is a lower one. With `open` the bound itself is excluded. */
interface Bound {
  readonly keyword: string;
  readonly open?: string;
  readonly least: boolean;
}

const BOUNDS: readonly Bound[] = [
  { keyword: 'minimum', open: 'exclusiveMinimum', least: true },
  { keyword: 'maximum', open: 'exclusiveMaximum', least: false },
  ...['minLength', 'minItems', 'minProperties', 'minContains'].map((keyword) => ({ keyword, least: true })),
  ...['maxLength', 'maxItems', 'maxProperties', 'maxContains'].map((keyword) => ({ keyword, least: false })),
];

/** How much a bound admits: a larger value is stricter for lower bounds and looser for upper ones. */
function limitOf({ keyword, open, least }: Bound, schema: Members): readonly [number, boolean] {
  const none = least ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const given = schema[keyword];
  const closed = typeof given === 'number' ? given : keyword.startsWith('min') && keyword !== 'minimum' ? 0 : none;
  const other = open === undefined ? undefined : schema[open];
  // In draft-04 the open bound is a flag beside the other one.
  if (other === true) return [closed, true];
  if (typeof other !== 'number') return [closed, false];
  const isStricter = least ? other >= closed : other <= closed;
  return isStricter ? [other, true] : [closed, false];
}

function boundDifference(bound: Bound, from: Members, to: Members): ValueDifference[] {
  const [before, wasOpen] = limitOf(bound, from);
  const [after, isOpen] = limitOf(bound, to);
  if (before === after && wasOpen === isOpen) return [];
  const isStricter = before === after ? isOpen : bound.least ? after > before : after < before;
  const was = Number.isFinite(before) ? `was ${before}` : 'was absent';
  const is = Number.isFinite(after) ? `is now ${after}` : 'is gone';
  const direction = isStricter ? 'narrowed' : 'widened';
  return [{ keyword: bound.keyword, direction, says: `has another ${bound.keyword}: it ${was} and ${is}` }];
}

function stepDifference({ multipleOf: from }: Members, { multipleOf: to }: Members): ValueDifference[] {
  if (from === to) return [];
  const says = `must be a multiple of ${shown(to)}, before of ${shown(from)}`;
  if (typeof from !== 'number') return [{ keyword: 'multipleOf', direction: 'narrowed', says }];
  if (typeof to !== 'number') return [{ keyword: 'multipleOf', direction: 'widened', says: 'may be any number' }];
  const direction = to % from === 0 ? 'narrowed' : from % to === 0 ? 'widened' : 'changed';
  return [{ keyword: 'multipleOf', direction, says }];
}

/** Keywords whose values can only be compared for equality. */
const SAME_OR_NOT = ['pattern', 'format', 'contentEncoding', 'contentMediaType', 'x-path'];

function sameOrNot(keyword: string, from: Members, to: Members): ValueDifference[] {
  const before = from[keyword];
  const after = to[keyword];
  if (before === after) return [];
  if (before === undefined) return [{ keyword, direction: 'narrowed', says: `now has the ${keyword} ${shown(after)}` }];
  if (after === undefined) return [{ keyword, direction: 'widened', says: `no longer has a ${keyword}` }];
  return [
    { keyword, direction: 'changed', says: `has another ${keyword}: ${shown(after)} instead of ${shown(before)}` },
  ];
}

function flagDifference({ uniqueItems: from }: Members, { uniqueItems: to }: Members): ValueDifference[] {
  if ((from === true) === (to === true)) return [];
  if (to === true) return [{ keyword: 'uniqueItems', direction: 'narrowed', says: 'may no longer repeat items' }];
  return [{ keyword: 'uniqueItems', direction: 'widened', says: 'may repeat items' }];
}
