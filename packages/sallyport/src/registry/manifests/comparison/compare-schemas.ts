import { MiB } from '@sallyport/std/bytes';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { pointerTo } from '@sallyport/std/json/json-pointer';
import type { ChangeSeverity } from '../../../../api/schemas/registry/tool-comparison.ts';
import { compareObjects } from './compare-objects.ts';
import type { Comparison, Role } from './comparison.ts';
import { type Findings, nameOf } from './findings.ts';
import { type Members, type Placed, schemaViews } from './schema-view.ts';
import { type Direction, type ValueDifference, valueDifferences } from './value-rules.ts';

/** Most pairs of schemas in one comparison. */
const PAIRS_MAX = 20_000;
/** Most text of branches compared as a whole, in UTF-16 units. */
const BRANCH_CHARS_MAX = 16 * MiB;
/** Deepest path from the root, with references followed. */
const DEPTH_MAX = 500;

/** Compares two schema documents by the values that they accept. Every cycle of references is walked once. */
export function compareSchemas(
  from: Members,
  to: Members,
  { pointer, role, findings }: { readonly pointer: string; readonly role: Role; readonly findings: Findings },
): void {
  const seen = { input: new Map<object, Set<object>>(), output: new Map<object, Set<object>>() };
  const budget = { pairs: PAIRS_MAX, chars: BRANCH_CHARS_MAX };
  const comparison: Comparison = {
    from: schemaViews(from, pointer),
    to: schemaViews(to, pointer),
    findings,
    compare(before, after, as, depth) {
      budget.pairs -= 1;
      if (budget.pairs < 0 || depth > DEPTH_MAX) {
        findings.complete = false;
        return;
      }
      if (typeof before.schema === 'object' && typeof after.schema === 'object') {
        const others = seen[as].get(before.schema) ?? new Set();
        if (others.has(after.schema)) return;
        seen[as].set(before.schema, others.add(after.schema));
      }
      comparePair(comparison, before, after, as, depth, budget);
    },
    differ: (path, kind, direction, as, message) =>
      findings.add({ path, kind, severity: severityOf(direction, as), message }),
  };
  comparison.compare(comparison.from.root, comparison.to.root, role, 0);
}

/** It breaks when senders may send less than before, and when readers may get more than before. */
function severityOf(direction: Direction, role: Role): ChangeSeverity {
  if (direction === 'changed') return 'breaking';
  return (direction === 'narrowed') === (role === 'input') ? 'breaking' : 'compatible';
}

interface Budget {
  chars: number;
}

function comparePair(
  comparison: Comparison,
  from: Placed,
  to: Placed,
  role: Role,
  depth: number,
  budget: Budget,
): void {
  const { differ } = comparison;
  const name = nameOf(to.pointer);
  if (from.schema === false || to.schema === false) {
    if (from.schema === to.schema) return;
    if (to.schema === false) differ(to.pointer, 'schema-closed', 'narrowed', role, `Nothing fits ${name} any more.`);
    else differ(to.pointer, 'schema-opened', 'widened', role, `${name} is allowed now.`);
    return;
  }
  const before = from.schema === true ? {} : from.schema;
  const after = to.schema === true ? {} : to.schema;
  for (const difference of valueDifferences(before, after)) addDifference(comparison, to.pointer, difference, role);
  compareObjects(
    comparison,
    { schema: before, pointer: from.pointer },
    { schema: after, pointer: to.pointer },
    role,
    depth,
  );
  compareArrays(comparison, [before, from.pointer], [after, to.pointer], role, depth);
  compareBranches(comparison, [before, from.pointer], [after, to.pointer], role, depth, budget);
  compareOpaque(comparison, before, after, to.pointer);
  compareNotes(comparison, before, after, to.pointer);
}

function addDifference(
  { differ, findings }: Comparison,
  pointer: string,
  difference: ValueDifference,
  role: Role,
): void {
  const { keyword, direction, says } = difference;
  const message = `${nameOf(pointer)} ${says}.`;
  if (keyword === 'x-path' && direction !== 'narrowed') {
    // A path whose mark is removed is checked less.
    findings.add({ path: pointer, kind: 'path-mark-changed', severity: 'notable', message, needs_review: true });
  } else differ(pointer, `${keyword}-${direction}`, direction, role, message);
}

type At = readonly [schema: Members, pointer: string];

/** Items by position, and the rest. Before 2020-12 `items` was a list and `additionalItems` the rest. */
function itemsOf([{ items, prefixItems, additionalItems }, pointer]: At) {
  const isOld = Array.isArray(items);
  const prefix: readonly unknown[] = isOld ? items : Array.isArray(prefixItems) ? prefixItems : [];
  const rest = isOld ? additionalItems : items;
  return {
    prefix,
    rest,
    restPointer: rest === undefined ? pointer : pointerTo(pointer, isOld ? 'additionalItems' : 'items'),
    prefixPointer: pointerTo(pointer, isOld ? 'items' : 'prefixItems'),
  };
}

function compareArrays({ from, to, compare }: Comparison, before: At, after: At, role: Role, depth: number): void {
  const was = itemsOf(before);
  const is = itemsOf(after);
  for (let at = 0; at < Math.max(was.prefix.length, is.prefix.length); at += 1) {
    const inBefore = at < was.prefix.length;
    const inAfter = at < is.prefix.length;
    compare(
      from.view(inBefore ? was.prefix[at] : was.rest, inBefore ? pointerTo(was.prefixPointer, at) : was.restPointer),
      to.view(inAfter ? is.prefix[at] : is.rest, inAfter ? pointerTo(is.prefixPointer, at) : is.restPointer),
      role,
      depth + 1,
    );
  }
  if (was.rest !== undefined || is.rest !== undefined)
    compare(from.view(was.rest, was.restPointer), to.view(is.rest, is.restPointer), role, depth + 1);
  for (const keyword of ['contains', 'propertyNames']) one(keyword, role);
  one('not', role === 'input' ? 'output' : 'input');

  function one(keyword: string, as: Role): void {
    const [old, now] = [before[0][keyword], after[0][keyword]];
    if (old === undefined && now === undefined) return;
    // Without `not` nothing is excluded, as with a `not` of nothing.
    const absent = keyword === 'not' ? false : undefined;
    compare(
      from.view(old ?? absent, pointerTo(before[1], keyword)),
      to.view(now ?? absent, pointerTo(after[1], keyword)),
      as,
      depth + 1,
    );
  }
}

function compareBranches(
  comparison: Comparison,
  [before, fromPointer]: At,
  [after, toPointer]: At,
  role: Role,
  depth: number,
  budget: Budget,
): void {
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    const [was, is] = [before[keyword], after[keyword]];
    if (!Array.isArray(was) && !Array.isArray(is)) continue;
    const oldPlace = pointerTo(fromPointer, keyword);
    const newPlace = pointerTo(toPointer, keyword);
    const branches = unequal(Array.isArray(was) ? was : [], Array.isArray(is) ? is : [], budget);
    const { old, now } = branches;
    const { from, to, compare, differ } = comparison;
    if (keyword !== 'allOf' && (was === undefined || is === undefined)) {
      const direction = was === undefined ? 'narrowed' : 'widened';
      differ(
        newPlace,
        `${keyword}-${direction}`,
        direction,
        role,
        `${keyword} is ${was === undefined ? 'new' : 'gone'}.`,
      );
      continue;
    }
    for (let at = 0; at < Math.max(old.length, now.length); at += 1) {
      const [one, other] = [old[at], now[at]];
      if (keyword === 'allOf' || (one !== undefined && other !== undefined)) {
        compare(
          from.view(one?.schema, pointerTo(oldPlace, one?.at ?? 0)),
          to.view(other?.schema, pointerTo(newPlace, other?.at ?? 0)),
          role,
          depth + 1,
        );
      } else if (one === undefined) {
        const message = `${keyword} takes another alternative.`;
        differ(pointerTo(newPlace, other?.at ?? 0), `${keyword}-widened`, 'widened', role, message);
      } else
        differ(
          pointerTo(oldPlace, one.at),
          `${keyword}-narrowed`,
          'narrowed',
          role,
          `An alternative of ${keyword} is gone.`,
        );
    }
  }
}

interface Branch {
  readonly schema: unknown;
  readonly at: number;
}

/** Branches without those that are equal on both sides, in any position. */
function unequal(was: readonly unknown[], is: readonly unknown[], budget: Budget): { old: Branch[]; now: Branch[] } {
  const textOf = (schema: unknown, at: number): string => {
    if (budget.chars < 0) return String(at);
    const text = canonicalJson(schema);
    budget.chars -= text.length;
    return text;
  };
  const texts = new Map<string, number>();
  for (const [at, schema] of was.entries()) {
    const text = textOf(schema, at);
    texts.set(text, (texts.get(text) ?? 0) + 1);
  }
  const now = is.flatMap((schema, at) => {
    const text = textOf(schema, at);
    const left = texts.get(text) ?? 0;
    texts.set(text, left - 1);
    return left > 0 ? [] : [{ schema, at }];
  });
  const old = was.flatMap((schema, at) => {
    const text = textOf(schema, at);
    const left = texts.get(text) ?? 0;
    texts.set(text, left - 1);
    return left > 0 ? [{ schema, at }] : [];
  });
  return { old, now };
}

/** Keywords whose effect is not computed: any change of them may break. */
const OPAQUE = [
  '$ref',
  '$dynamicRef',
  '$recursiveRef',
  'if',
  'then',
  'else',
  'dependencies',
  'dependentSchemas',
  'dependentRequired',
  'unevaluatedItems',
  'unevaluatedProperties',
  'contentSchema',
];

function compareOpaque({ findings }: Comparison, before: Members, after: Members, pointer: string): void {
  for (const keyword of OPAQUE) {
    if (before[keyword] === undefined && after[keyword] === undefined) continue;
    if (canonicalJson(before[keyword]) === canonicalJson(after[keyword])) continue;
    const message = `${keyword} of ${nameOf(pointer)} changed, and what that lets through is not worked out.`;
    findings.add({ path: pointerTo(pointer, keyword), kind: `${keyword}-changed`, severity: 'breaking', message });
  }
}

/** Texts that a model reads, and defaults for missing values. */
const NOTES: Readonly<Record<string, ChangeSeverity>> = {
  description: 'notable',
  default: 'notable',
  title: 'compatible',
  examples: 'compatible',
  deprecated: 'notable',
};

function compareNotes({ findings }: Comparison, before: Members, after: Members, pointer: string): void {
  for (const [keyword, severity] of Object.entries(NOTES)) {
    if (before[keyword] === undefined && after[keyword] === undefined) continue;
    if (canonicalJson(before[keyword]) === canonicalJson(after[keyword])) continue;
    const message = `The ${keyword} of ${nameOf(pointer)} changed.`;
    findings.add({ path: pointerTo(pointer, keyword), kind: `${keyword}-changed`, severity, message });
  }
}
