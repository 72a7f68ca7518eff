import { pointerTo } from '@sallyport/std/json/json-pointer';
import type { Fault } from '../../../api/schemas/error.ts';
import type { JsonSchemaObject } from '../../../api/schemas/identifiers.ts';
import type { Dialect } from './dialect.ts';
import { faultAt } from './faults/fault.ts';
import { subschemasOf } from './keywords.ts';
import { type KnownDocuments, officialDocuments } from './known-documents.ts';

/** Target of one reference in a schema. */
export interface Reference {
  readonly schema: JsonSchemaObject | boolean;
  /** Set when the outermost resource of the dynamic scope with this anchor decides (`$dynamicRef`, `$recursiveRef`). */
  readonly dynamicAnchor?: string;
}

/** What the references of a document point to. */
export interface References {
  /** By the schema that holds them, `$ref` first. */
  readonly of: ReadonlyMap<JsonSchemaObject, readonly Reference[]>;
  /** Every schema of the document that is judged or may be, with its JSON Pointer. */
  readonly places: ReadonlyMap<JsonSchemaObject, string>;
  /** The dynamic anchors of the resource that a schema belongs to; undefined when it has none. */
  anchorsAround(schema: JsonSchemaObject): DynamicAnchors | undefined;
  readonly faults: readonly Fault[];
}

/** Name to schema. */
export type DynamicAnchors = ReadonlyMap<string, JsonSchemaObject>;

interface Pending {
  readonly holder: JsonSchemaObject;
  readonly keyword: string;
  readonly reference: string;
  readonly base: string;
  readonly pointer: string;
}

interface Walk {
  readonly dialect: Dialect;
  readonly known: KnownDocuments | undefined;
  readonly places: Map<JsonSchemaObject, string>;
  /** Absolute address without fragment to the schema resource there. */
  readonly resources: Map<string, JsonSchemaObject>;
  readonly bases: Map<JsonSchemaObject, string>;
  /** Address with anchor to its schema. */
  readonly anchors: Map<string, JsonSchemaObject>;
  /** By the address of their resource. */
  readonly dynamicAnchors: Map<string, Map<string, JsonSchemaObject>>;
  readonly pending: Pending[];
  readonly faults: Fault[];
}

const ROOT_BASE = 'schema://document/';
const REFERENCE_KEYWORDS = ['$ref', '$dynamicRef', '$recursiveRef'] as const;
/** Name under which `$recursiveAnchor` is kept, which no anchor can have. */
const RECURSIVE = '';

/** Whether a value is a schema in object form. */
export function isSchemaObject(value: unknown): value is JsonSchemaObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Resolves every reference of a document within the document and the known documents: by JSON Pointer, `$anchor` and
 * embedded `$id`. Nothing is ever downloaded: an unresolvable reference is a fault.
 * @param known documents beside the official meta-schemas
 */
export function resolveReferences(root: JsonSchemaObject, dialect: Dialect, known?: KnownDocuments): References {
  const walk: Walk = {
    dialect,
    known,
    places: new Map(),
    resources: new Map([[ROOT_BASE, root]]),
    bases: new Map(),
    anchors: new Map(),
    dynamicAnchors: new Map(),
    pending: [],
    faults: [],
  };
  visit(walk, root, '', ROOT_BASE);
  const of = new Map<JsonSchemaObject, Reference[]>();
  for (let next = walk.pending.pop(); next !== undefined; next = walk.pending.pop()) {
    const target = targetOf(walk, next);
    if (target === undefined) continue;
    // A reference may point to where no keyword of the dialect stands, for example #/components/schemas/Pet.
    if (isSchemaObject(target.schema)) visit(walk, target.schema, target.pointer, target.base);
    const reference = asReference(walk, next, target);
    const others = of.get(next.holder) ?? [];
    of.set(next.holder, next.keyword === '$ref' ? [reference, ...others] : [...others, reference]);
  }
  const { places, faults, bases, dynamicAnchors } = walk;
  return { of, places, faults, anchorsAround: (schema) => dynamicAnchors.get(bases.get(schema) ?? '') };
}

function visit(walk: Walk, schema: JsonSchemaObject, pointer: string, outerBase: string): void {
  if (walk.places.has(schema)) return;
  walk.places.set(schema, pointer);
  const onlyRef = walk.dialect === 'draft-07' && typeof schema['$ref'] === 'string';
  const base = onlyRef ? outerBase : enterResource(walk, schema, pointer, outerBase);
  walk.bases.set(schema, base);
  for (const keyword of REFERENCE_KEYWORDS) {
    const reference = schema[keyword];
    if (typeof reference === 'string') walk.pending.push({ holder: schema, keyword, reference, base, pointer });
  }
  for (const { schema: child, segments } of subschemasOf(schema, walk.dialect))
    if (isSchemaObject(child)) visit(walk, child, segments.reduce<string>(pointerTo, pointer), base);
}

/** Notes `$id` and anchors; returns the base address that applies inside. */
function enterResource(walk: Walk, schema: JsonSchemaObject, pointer: string, outerBase: string): string {
  let base = outerBase;
  const id = schema['$id'];
  if (typeof id === 'string' && id.startsWith('#')) walk.anchors.set(outerBase + id, schema);
  else if (typeof id === 'string') {
    const address = URL.parse(id, outerBase);
    if (address === null)
      walk.faults.push(faultAt(pointerTo(pointer, '$id'), 'E3008', '$id', '$id is not a URI reference.'));
    else {
      address.hash = '';
      base = address.href;
      walk.resources.set(base, schema);
    }
  }
  for (const keyword of ['$anchor', '$dynamicAnchor'])
    if (typeof schema[keyword] === 'string') walk.anchors.set(`${base}#${schema[keyword]}`, schema);
  if (typeof schema['$dynamicAnchor'] === 'string') noteDynamic(walk, base, schema['$dynamicAnchor'], schema);
  if (schema['$recursiveAnchor'] === true) noteDynamic(walk, base, RECURSIVE, schema);
  return base;
}

function noteDynamic({ dynamicAnchors }: Walk, base: string, name: string, schema: JsonSchemaObject): void {
  const anchors = dynamicAnchors.get(base) ?? new Map<string, JsonSchemaObject>();
  anchors.set(name, schema);
  dynamicAnchors.set(base, anchors);
}

interface Target {
  readonly schema: JsonSchemaObject | boolean;
  readonly pointer: string;
  readonly base: string;
  /** The decoded part after "#". */
  readonly fragment: string;
}

/** A dynamic reference is one only when what it points to at first is a dynamic anchor of that name. */
function asReference(walk: Walk, { keyword }: Pending, { schema, base, fragment }: Target): Reference {
  if (keyword === '$ref') return { schema };
  const name = keyword === '$recursiveRef' ? RECURSIVE : fragment;
  return walk.dynamicAnchors.get(base)?.get(name) === schema ? { schema, dynamicAnchor: name } : { schema };
}

function targetOf(walk: Walk, { keyword, reference, base, pointer }: Pending): Target | undefined {
  const refuse = (message: string, hint: string): undefined => {
    walk.faults.push(faultAt(pointerTo(pointer, keyword), 'E3008', keyword, message, hint));
  };
  const address = URL.parse(reference, base);
  const fragment = address === null ? '' : decoded(address.hash.slice(1));
  if (address !== null) address.hash = '';
  const resource = address === null ? undefined : (walk.resources.get(address.href) ?? knownAt(walk, address.href));
  if (address === null || resource === undefined)
    return refuse(
      'The reference points outside the document; nothing is fetched.',
      'Copy what it points to into $defs and refer to it as "#/$defs/name".',
    );
  const inside = walk.bases.get(resource) ?? address.href;
  const found = fragment === undefined ? undefined : within(walk, resource, inside, fragment);
  return found ?? refuse('The reference points to nothing in the document.', 'Check the name after "#".');
}

/** A known document, taken into the walk; judged by the dialect of the one that refers to it. */
function knownAt(walk: Walk, address: string): JsonSchemaObject | undefined {
  const found = walk.known?.get(address) ?? officialDocuments().get(address);
  if (found === undefined) return undefined;
  walk.resources.set(address, found);
  visit(walk, found, `${address}#`, address);
  return found;
}

function within(walk: Walk, resource: JsonSchemaObject, base: string, fragment: string): Target | undefined {
  if (fragment !== '' && !fragment.startsWith('/')) {
    const schema = walk.anchors.get(`${base}#${fragment}`);
    return schema === undefined ? undefined : { schema, pointer: walk.places.get(schema) ?? '', base, fragment };
  }
  let found: unknown = resource;
  let innerBase = base;
  const segments = fragment
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  for (const segment of segments) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, segment)) return undefined;
    found = (found as Record<string, unknown>)[segment];
    if (isSchemaObject(found)) innerBase = walk.bases.get(found) ?? innerBase;
  }
  if (!isSchemaObject(found) && typeof found !== 'boolean') return undefined;
  const pointer = segments.reduce(pointerTo, walk.places.get(resource) ?? '');
  return { schema: found, pointer, base: innerBase, fragment };
}

function decoded(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
}
