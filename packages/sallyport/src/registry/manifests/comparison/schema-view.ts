import { pointerTo } from '@sallyport/std/json/json-pointer';

/** A schema in object form. */
export type Members = Readonly<Record<string, unknown>>;

/** A schema with its place in the manifest. `true` accepts everything, `false` nothing. */
export interface Placed {
  readonly schema: Members | boolean;
  readonly pointer: string;
}

/** Follows references within one schema document. */
export interface SchemaViews {
  readonly root: Placed;
  /** A schema with references resolved; the same object for the same schema. A missing schema is `true`. */
  view(value: unknown, pointer: string): Placed;
}

/** Most references followed from one schema to the next. */
const HOPS_MAX = 32;
/** Schemas that are searched for anchors and ids. */
const NAMES_SEARCHED_MAX = 20_000;

const ANNOTATIONS = new Set([
  'title',
  'description',
  'examples',
  'default',
  'deprecated',
  '$comment',
  '$defs',
  'definitions',
]);

/** @param pointer place of the document in its manifest */
export function schemaViews(document: Members, pointer: string): SchemaViews {
  const known = new WeakMap<object, Placed>();
  const aloneByRef = /draft-0[4-7]/.test(String(document['$schema'] ?? ''));
  const names = lazily(() => namesIn(document, pointer));

  const target = (reference: string): Placed | undefined => {
    if (reference === '#') return { schema: document, pointer };
    if (!reference.startsWith('#/')) return names().get(reference);
    let at: unknown = document;
    let place = pointer;
    for (const part of reference.slice(2).split('/')) {
      const name = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~');
      if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined;
      at = (at as Members)[name];
      place = pointerTo(place, name);
    }
    return isSchema(at) ? { schema: at, pointer: place } : undefined;
  };

  const follow = (schema: Members, place: string, hops: number): Placed => {
    const { $ref: reference, ...siblings } = schema;
    if (typeof reference !== 'string' || hops === HOPS_MAX) return { schema, pointer: place };
    const found = target(reference);
    if (found === undefined) return { schema, pointer: place };
    const next = typeof found.schema === 'boolean' ? found : follow(found.schema, found.pointer, hops + 1);
    if (aloneByRef || Object.keys(siblings).length === 0 || typeof next.schema === 'boolean') return next;
    return { schema: merged(siblings, next.schema), pointer: next.pointer };
  };

  const view = (value: unknown, place: string): Placed => {
    if (!isSchema(value)) return { schema: true, pointer: place };
    if (typeof value === 'boolean') return { schema: value, pointer: place };
    const before = known.get(value);
    if (before !== undefined) return before;
    const made = follow(value, place, 0);
    known.set(value, made);
    return made;
  };
  return { root: view(document, pointer), view };
}

/** Both apply. Annotations are taken from beside the reference. */
function merged(siblings: Members, target: Members): Members {
  const clash = Object.keys(siblings).some((key) => !ANNOTATIONS.has(key) && Object.hasOwn(target, key));
  if (!clash) return { ...target, ...siblings };
  const { allOf } = siblings;
  return { ...siblings, allOf: [...(Array.isArray(allOf) ? allOf : []), target] };
}

/** Schemas by their `#anchor` and their `$id`. */
function namesIn(document: Members, pointer: string): ReadonlyMap<string, Placed> {
  const names = new Map<string, Placed>();
  const waiting: { readonly value: unknown; readonly pointer: string }[] = [{ value: document, pointer }];
  let left = NAMES_SEARCHED_MAX;
  for (let at = waiting.pop(); at !== undefined && left > 0; at = waiting.pop()) {
    left -= 1;
    const { value, pointer: place } = at;
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value)) {
      const { $id, $anchor } = value as Members;
      if (typeof $id === 'string') names.set($id, { schema: value as Members, pointer: place });
      if (typeof $anchor === 'string') names.set(`#${$anchor}`, { schema: value as Members, pointer: place });
    }
    for (const [name, member] of Object.entries(value)) {
      if (typeof member === 'object') waiting.push({ value: member, pointer: pointerTo(place, name) });
    }
  }
  return names;
}

function isSchema(value: unknown): value is Members | boolean {
  return typeof value === 'boolean' || (typeof value === 'object' && value !== null && !Array.isArray(value));
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
