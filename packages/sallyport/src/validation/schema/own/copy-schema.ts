import { pointerTo } from '@sallyport/std/json/json-pointer';
import type { Fault } from '../../../../api/schemas/error.ts';
import type { JsonSchemaObject } from '../../../../api/schemas/identifiers.ts';
import type { Declared } from '../dialect.ts';
import { faultAt } from '../faults/fault.ts';
import { KEYWORDS, type KeywordKind, PER_ELEMENT } from '../keywords.ts';
import { isSchemaObject, type Reference, type References } from '../references.ts';
import { type DynamicScope, dynamicScopes } from './dynamic-scope.ts';
import { type OwnNode, type OwnSchema, STEPS_KEYWORD, stepsOf } from './own-node.ts';
import { patternFaults } from './pattern-faults.ts';

/** Most validating keywords of a copy, counting schemas once per dynamic scope; compiling takes 0.1 ms each. */
const KEYWORDS_MAX = 10_000;
/** Most alternatives in all lists of schemas, each list's number squared and weighted; compile time grows with it. */
const SQUARED_ALTERNATIVES_MAX = 300_000;
const SQUARE_WEIGHTS: ReadonlyMap<string, number> = new Map([
  ['anyOf', 1],
  ['oneOf', 1],
  ['allOf', 1 / 16],
  ['prefixItems', 1 / 16],
]);

/** What a copy is made by. */
export interface CopyOptions extends Declared {
  /** Whether `format` judges. */
  readonly assertFormats: boolean;
}

/** The schema in our own form, or the faults that only show when it is copied. */
export function copySchema(
  root: JsonSchemaObject,
  references: References,
  options: CopyOptions,
): OwnSchema | readonly Fault[] {
  const copy = new SchemaCopy(references, options);
  const own = copy.of(root);
  return copy.faults.length > 0 ? copy.faults : own;
}

interface Waiting {
  readonly schema: JsonSchemaObject;
  readonly scope: DynamicScope;
  readonly name: string;
}

/** State of one copy. */
class SchemaCopy {
  readonly faults: Fault[] = [];
  readonly #options: CopyOptions;
  readonly #references: References;
  readonly #scopes = dynamicScopes();
  readonly #checkPattern = patternFaults(this.faults);
  readonly #targets = new Set<JsonSchemaObject>();
  /** Names of the definitions, by schema and scope. */
  readonly #names = new Map<JsonSchemaObject, Map<number, string>>();
  readonly #waiting: Waiting[] = [];
  #named = 0;
  #keywords = 0;
  #alternatives = 0;
  #full = false;
  #ownPropertiesOnly = false;

  constructor(references: References, options: CopyOptions) {
    this.#references = references;
    this.#options = options;
    for (const held of references.of.values())
      for (const { schema } of held) {
        if (!isSchemaObject(schema)) continue;
        this.#targets.add(schema);
        for (const anchored of references.anchorsAround(schema)?.values() ?? []) this.#targets.add(anchored);
      }
  }

  of(root: JsonSchemaObject): OwnSchema {
    const copied = this.#node(root, '', this.#scopes.outermost);
    const definitions: Record<string, OwnNode> = {};
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) {
      const { schema, scope, name } = next;
      const body = this.#body(schema, this.#references.places.get(schema) ?? '', scope);
      definitions[name] = typeof body === 'boolean' ? body : { ...body, [STEPS_KEYWORD]: stepsOf(body) };
    }
    return {
      dialect: this.#options.dialect,
      root: typeof copied === 'boolean' ? { allOf: [copied] } : copied,
      definitions,
      ownPropertiesOnly: this.#ownPropertiesOnly,
    };
  }

  /** Whether the copy has grown beyond its bounds; nothing more is copied then. */
  #isFull(): boolean {
    if (this.#keywords <= KEYWORDS_MAX && this.#alternatives <= SQUARED_ALTERNATIVES_MAX) return false;
    this.#waiting.length = 0;
    if (!this.#full)
      this.faults.push(
        this.#keywords > KEYWORDS_MAX
          ? tooLarge(`more than ${KEYWORDS_MAX} judging keywords, references followed`, 'Say less, or split the tool.')
          : tooLarge('too many alternatives in one list', 'Use enum for plain values, or fewer alternatives.'),
      );
    this.#full = true;
    return true;
  }

  /** A schema in its place: a reference when something else points to it too. */
  #node(schema: unknown, pointer: string, outer: DynamicScope): OwnNode {
    if (!isSchemaObject(schema)) return schema === true;
    const scope = this.#scopes.inside(outer, this.#references.anchorsAround(schema));
    return this.#targets.has(schema) ? referenceTo(this.#nameOf(schema, scope)) : this.#body(schema, pointer, scope);
  }

  #nameOf(schema: JsonSchemaObject, scope: DynamicScope): string {
    const names = this.#names.get(schema) ?? new Map<number, string>();
    this.#names.set(schema, names);
    const known = names.get(scope.id);
    if (known !== undefined) return known;
    const name = `own:${this.#named++}`;
    names.set(scope.id, name);
    this.#waiting.push({ schema, scope, name });
    return name;
  }

  #body(schema: JsonSchemaObject, pointer: string, scope: DynamicScope): OwnNode {
    if (this.#isFull()) return false;
    const referred = (this.#references.of.get(schema) ?? []).map((one) => this.#reference(one, scope));
    const [first] = referred;
    if (first !== undefined && this.#options.dialect === 'draft-07') return first;
    const own: Record<string, unknown> = {};
    for (const keyword of Object.keys(schema)) {
      const kind = this.#kindOf(keyword);
      const held = schema[keyword];
      if (kind === undefined || held === undefined) continue;
      this.#keywords += 1;
      this.#alternatives += (SQUARE_WEIGHTS.get(keyword) ?? 0) * lengthOf(held) ** 2;
      own[keyword] = this.#keyword(keyword, kind, held, pointerTo(pointer, keyword), scope);
    }
    this.#ownProto(schema, own, pointer, scope);
    return completed(own, referred);
  }

  /** Ajv ignores a property of this name, so it becomes a pattern. */
  #ownProto(schema: JsonSchemaObject, own: Record<string, unknown>, pointer: string, scope: DynamicScope): void {
    const { properties } = schema;
    if (!isSchemaObject(properties) || !Object.hasOwn(properties, '__proto__')) return;
    const held: unknown = Object.getOwnPropertyDescriptor(properties, '__proto__')?.value;
    const node = this.#node(held, pointerTo(pointerTo(pointer, 'properties'), '__proto__'), scope);
    own['patternProperties'] = { ...(own['patternProperties'] as object | undefined), '^__proto__$': node };
  }

  #kindOf(keyword: string): KeywordKind | undefined {
    const { dialect, without, assertFormats } = this.#options;
    if (without.has(keyword) || (keyword === 'format' && !assertFormats)) return undefined;
    return KEYWORDS[dialect].get(keyword);
  }

  #reference({ schema, dynamicAnchor }: Reference, outer: DynamicScope): OwnNode {
    if (!isSchemaObject(schema)) return schema;
    const scope = this.#scopes.inside(outer, this.#references.anchorsAround(schema));
    const meant = dynamicAnchor === undefined ? schema : (scope.anchors.get(dynamicAnchor) ?? schema);
    return referenceTo(this.#nameOf(meant, scope));
  }

  #keyword(keyword: string, kind: KeywordKind, held: unknown, pointer: string, scope: DynamicScope): unknown {
    if (keyword === 'pattern') this.#checkPattern(String(held), pointer);
    if (kind === 'value') return structuredClone(held);
    if (kind === 'names') return (held as string[]).map((name) => this.#propertyName(name));
    if (Array.isArray(held)) return held.map((schema, index) => this.#node(schema, pointerTo(pointer, index), scope));
    if (kind === 'schema' || kind === 'items') return this.#element(keyword, this.#node(held, pointer, scope));
    return this.#map(keyword, held as Record<string, unknown>, pointer, scope);
  }

  #map(keyword: string, held: Readonly<Record<string, unknown>>, pointer: string, scope: DynamicScope): object {
    const own: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(held)) {
      const place = pointerTo(pointer, name);
      if (keyword === 'patternProperties') this.#checkPattern(name, place);
      else this.#propertyName(name);
      // Assigning it would change the prototype; see #ownProto.
      if (name === '__proto__') continue;
      own[name] = Array.isArray(member) ? [...member] : this.#element(keyword, this.#node(member, place, scope));
    }
    return own;
  }

  /** Schemas applied per element charge their work each time. */
  #element(keyword: string, node: OwnNode): OwnNode {
    if (!PER_ELEMENT.has(keyword) || typeof node === 'boolean') return node;
    return { ...node, [STEPS_KEYWORD]: stepsOf(node) };
  }

  #propertyName(name: string): string {
    this.#ownPropertiesOnly ||= name in Object.prototype;
    return name;
  }
}

const lengthOf = (held: unknown): number => (Array.isArray(held) ? held.length : 0);

const tooLarge = (what: string, hint: string): Fault => faultAt('', 'E3008', 'schema', `The schema has ${what}.`, hint);

/** Counts as work, so that the errors of what is referred to do not pile up; see budget.ts. */
const referenceTo = (name: string): OwnNode => ({ $ref: name, [STEPS_KEYWORD]: 1 });

/** A body with what it refers to: one by `$ref`, all others by `allOf`. Nothing is one of no values. */
function completed(own: Record<string, unknown>, referred: readonly OwnNode[]): OwnNode {
  const [first, ...further] = referred;
  if (typeof first === 'object') Object.assign(own, first);
  else if (first !== undefined) further.push(first);
  const isEmptyEnum = Array.isArray(own['enum']) && own['enum'].length === 0;
  // Ajv would refuse the schema.
  if (isEmptyEnum) {
    delete own['enum'];
    further.push(false);
  }
  if (further.length > 0) own['allOf'] = [...((own['allOf'] as OwnNode[] | undefined) ?? []), ...further];
  return countingErrors(own);
}

/** A schema that may find many faults at once counts as work too; see budget.ts. */
function countingErrors(own: Record<string, unknown>): OwnNode {
  return Object.keys(own).some((keyword) => PER_ELEMENT.has(keyword)) ? { ...own, [STEPS_KEYWORD]: 1 } : own;
}
