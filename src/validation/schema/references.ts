import type { Fault } from '../../../api/schemas/error.ts';
import type { JsonSchemaObject } from '../../../api/schemas/identifiers.ts';
import { pointerTo } from '../../std/json-pointer.ts';
import type { Dialect } from './dialect.ts';
import { faultAt } from './fault.ts';
import { subschemasOf } from './keywords.ts';

/** What the references of a document point to. */
export interface References {
  /** By the schema that holds the reference. */
  readonly targets: ReadonlyMap<JsonSchemaObject, JsonSchemaObject | boolean>;
  readonly faults: readonly Fault[];
  /** Every schema of the document that is judged or may be, with its JSON Pointer. */
  readonly places: ReadonlyMap<JsonSchemaObject, string>;
}

interface Pending {
  readonly holder: JsonSchemaObject;
  readonly keyword: string;
  readonly reference: string;
  readonly base: string;
  readonly pointer: string;
}

interface Walk {
  readonly dialect: Dialect;
  readonly places: Map<JsonSchemaObject, string>;
  /** Absolute address without fragment to the schema resource there. */
  readonly resources: Map<string, JsonSchemaObject>;
  readonly bases: Map<JsonSchemaObject, string>;
  /** Address with anchor to its schema. */
  readonly anchors: Map<string, JsonSchemaObject>;
  readonly pending: Pending[];
  readonly faults: Fault[];
  embedded: boolean;
}

const ROOT_BASE = 'schema://document/';
const REFERENCE_KEYWORDS = ['$ref', '$dynamicRef', '$recursiveRef'] as const;

/** Whether a value is a schema in object form. */
export function isSchemaObject(value: unknown): value is JsonSchemaObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Resolves every `$ref` of a document within the document: by JSON Pointer, `$anchor` and embedded `$id`. Nothing is
 * ever fetched: what does not resolve is a fault. `$dynamicRef` and `$recursiveRef` mean the same as `$ref` as long as
 * the document is one resource; in a document with embedded `$id`s they are refused.
 */
export function resolveReferences(root: JsonSchemaObject, dialect: Dialect): References {
  const walk: Walk = {
    dialect,
    places: new Map(),
    resources: new Map([[ROOT_BASE, root]]),
    bases: new Map(),
    anchors: new Map(),
    pending: [],
    faults: [],
    embedded: false,
  };
  visit(walk, root, '', ROOT_BASE);
  const targets = new Map<JsonSchemaObject, JsonSchemaObject | boolean>();
  for (let next = walk.pending.pop(); next !== undefined; next = walk.pending.pop()) {
    const target = targetOf(walk, next);
    if (target === undefined) continue;
    targets.set(next.holder, target.schema);
    // A reference may point to where no keyword of the dialect stands, for example #/components/schemas/Pet.
    if (isSchemaObject(target.schema) && !walk.places.has(target.schema))
      visit(walk, target.schema, target.pointer, target.base);
  }
  return { targets, faults: walk.faults, places: walk.places };
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

/** Notes `$id` and anchors; answers the base that holds inside. */
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
      walk.embedded ||= pointer !== '';
    }
  }
  for (const keyword of ['$anchor', '$dynamicAnchor'])
    if (typeof schema[keyword] === 'string') walk.anchors.set(`${base}#${schema[keyword]}`, schema);
  return base;
}

interface Target {
  readonly schema: JsonSchemaObject | boolean;
  readonly pointer: string;
  readonly base: string;
}

function targetOf(walk: Walk, { holder, keyword, reference, base, pointer }: Pending): Target | undefined {
  const refuse = (message: string, hint: string): undefined => {
    walk.faults.push(faultAt(pointerTo(pointer, keyword), 'E3008', keyword, message, hint));
  };
  if (keyword !== '$ref' && walk.embedded)
    return refuse(`${keyword} in a document with embedded $id is not supported.`, 'Use $ref.');
  if (keyword !== '$ref' && typeof holder['$ref'] === 'string')
    return refuse(`${keyword} beside $ref is not supported.`, 'Put one of them into allOf.');
  const address = URL.parse(reference, base);
  const fragment = address === null ? '' : decoded(address.hash.slice(1));
  if (address !== null) address.hash = '';
  const resource = address === null ? undefined : walk.resources.get(address.href);
  if (address === null || resource === undefined)
    return refuse(
      'The reference points outside the document; nothing is fetched.',
      'Copy what it points to into $defs and refer to it as "#/$defs/name".',
    );
  const found = fragment === undefined ? undefined : within(walk, resource, address.href, fragment);
  return found ?? refuse('The reference points to nothing in the document.', 'Check the name after "#".');
}

function within(walk: Walk, resource: JsonSchemaObject, base: string, fragment: string): Target | undefined {
  if (fragment !== '' && !fragment.startsWith('/')) {
    const schema = walk.anchors.get(`${base}#${fragment}`);
    return schema === undefined ? undefined : { schema, pointer: walk.places.get(schema) ?? '', base };
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
  return { schema: found, pointer: segments.reduce(pointerTo, walk.places.get(resource) ?? ''), base: innerBase };
}

function decoded(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
}
