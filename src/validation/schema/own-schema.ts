import type { Fault } from '../../../api/schemas/error.ts';
import type { JsonSchemaObject } from '../../../api/schemas/identifiers.ts';
import { pointerTo } from '../../std/json-pointer.ts';
import { type Dialect, dialectOf, metaValidatorOf } from './dialect.ts';
import { faultAt } from './fault.ts';
import { KEYWORDS, type KeywordKind, PER_ELEMENT } from './keywords.ts';
import { compileLinearPattern } from './linear-pattern.ts';
import { isSchemaObject, type References, resolveReferences } from './references.ts';
import { boundsFault } from './schema-bounds.ts';

/** A judging schema in our own form, or `true`/`false`. */
export type OwnNode = boolean | OwnSchemaObject;
/** Only judging keywords; `$ref` is always `#/$defs/<name>` of the root. */
export interface OwnSchemaObject {
  readonly [keyword: string]: unknown;
}

/**
 * A foreign schema brought into a form that is safe to compile: a copy with nothing but the dialect's judging keywords,
 * without `$id`, `$async` or foreign words, every referenced schema in `$defs`, and a cost (`x-steps`) on each schema
 * that a value can make run many times.
 */
export interface OwnSchema {
  readonly dialect: Dialect;
  readonly root: OwnSchemaObject;
  readonly definitions: Readonly<Record<string, OwnNode>>;
  /** Whether a property is named like a member of Object.prototype, so that only own properties may count. */
  readonly ownPropertiesOnly: boolean;
}

/** Keyword that counts the work of judging; see compile-schema.ts. */
export const STEPS_KEYWORD = 'x-steps';
/** A schema of at least so many values carries its own cost where it is applied to each element. */
const HEAVY_VALUES = 16;
/** Meta-schema faults beyond this many are not listed. */
const META_FAULTS_MAX = 20;

/** The schema in our own form, or every fault that keeps it from being one. Faults carry E3008 and a pointer into the schema. */
export function ownSchema(schema: JsonSchemaObject): OwnSchema | readonly Fault[] {
  if (!isSchemaObject(schema)) return [faultAt('', 'E3008', 'type', 'The schema is not a JSON object.')];
  const beyond = boundsFault(schema);
  if (beyond !== undefined) return [beyond];
  const dialect = dialectOf(schema);
  if (typeof dialect !== 'string') return [dialect];
  const badShape = metaFaults(schema, dialect);
  if (badShape.length > 0) return badShape;
  const references = resolveReferences(schema, dialect);
  const copy = new SchemaCopy(dialect, references);
  const own = copy.of(schema);
  const faults = [...references.faults, ...copy.faults];
  return faults.length > 0 ? faults : own;
}

function metaFaults(schema: JsonSchemaObject, dialect: Dialect): Fault[] {
  const seen = new Set<string>();
  const faults: Fault[] = [];
  for (const { instancePath, keyword, message = '', params } of metaValidatorOf(dialect)(schema)) {
    if (seen.has(instancePath) || faults.length === META_FAULTS_MAX) continue;
    seen.add(instancePath);
    const allowed = Array.isArray(params['allowedValues']) ? `: ${params['allowedValues'].join(', ')}` : '';
    const hint =
      instancePath.endsWith('/items') && dialect === '2020-12'
        ? 'In 2020-12 a list of schemas stands under prefixItems; or declare draft-07 in $schema.'
        : `Correct it as ${dialect} asks.`;
    faults.push(
      faultAt(instancePath, 'E3008', keyword, `The schema is not valid ${dialect}: ${message}${allowed}.`, hint),
    );
  }
  return faults;
}

/** One copying, with what it has gathered so far. */
class SchemaCopy {
  readonly faults: Fault[] = [];
  readonly #dialect: Dialect;
  readonly #references: References;
  readonly #names = new Map<JsonSchemaObject, string>();
  #ownPropertiesOnly = false;

  constructor(dialect: Dialect, references: References) {
    this.#dialect = dialect;
    this.#references = references;
    for (const target of references.targets.values())
      if (isSchemaObject(target) && !this.#names.has(target)) this.#names.set(target, `r${this.#names.size}`);
  }

  of(root: JsonSchemaObject): OwnSchema {
    const definitions: Record<string, OwnNode> = {};
    for (const [schema, name] of this.#names) {
      const body = this.#body(schema, this.#references.places.get(schema) ?? '');
      definitions[name] = typeof body === 'boolean' ? body : { ...body, [STEPS_KEYWORD]: valuesIn(body) };
    }
    const copied = this.#node(root, '');
    return {
      dialect: this.#dialect,
      root: typeof copied === 'boolean' ? { allOf: [copied] } : copied,
      definitions,
      ownPropertiesOnly: this.#ownPropertiesOnly,
    };
  }

  /** A schema where it stands: a reference when something else points to it too. */
  #node(schema: unknown, pointer: string): OwnNode {
    if (!isSchemaObject(schema)) return schema === true;
    const name = this.#names.get(schema);
    return name === undefined ? this.#body(schema, pointer) : { $ref: `#/$defs/${name}` };
  }

  #body(schema: JsonSchemaObject, pointer: string): OwnNode {
    const target = this.#references.targets.get(schema);
    const reference = target === undefined ? undefined : this.#reference(target);
    if (reference !== undefined && this.#dialect === 'draft-07') return reference;
    const own: Record<string, unknown> = {};
    for (const keyword of Object.keys(schema)) {
      const kind = KEYWORDS[this.#dialect].get(keyword);
      const held = schema[keyword];
      if (kind === undefined || held === undefined) continue;
      own[keyword] = this.#keyword(keyword, kind, held, pointerTo(pointer, keyword));
    }
    if (typeof reference === 'object') Object.assign(own, reference);
    if (reference === false || isEmptyList(own['enum'])) own['allOf'] = [...((own['allOf'] as OwnNode[]) ?? []), false];
    if (isEmptyList(own['enum'])) delete own['enum'];
    return own;
  }

  #reference(target: JsonSchemaObject | boolean): OwnNode {
    return isSchemaObject(target) ? { $ref: `#/$defs/${this.#names.get(target)}` } : target;
  }

  #keyword(keyword: string, kind: KeywordKind, held: unknown, pointer: string): unknown {
    if (keyword === 'pattern') this.#checkPattern(String(held), pointer);
    if (kind === 'value') return structuredClone(held);
    if (kind === 'names') return (held as string[]).map((name) => this.#propertyName(name));
    if (Array.isArray(held)) return held.map((schema, index) => this.#node(schema, pointerTo(pointer, index)));
    if (kind === 'schema' || kind === 'items') return this.#element(keyword, this.#node(held, pointer));
    return this.#map(keyword, held as Record<string, unknown>, pointer);
  }

  #map(keyword: string, held: Readonly<Record<string, unknown>>, pointer: string): Record<string, unknown> {
    const own: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(held)) {
      const place = pointerTo(pointer, name);
      if (keyword === 'patternProperties') this.#checkPattern(name, place);
      else this.#propertyName(name);
      // Ajv ignores this name, and the payload check refuses it.
      if (name === '__proto__') continue;
      own[name] = Array.isArray(member) ? [...member] : this.#element(keyword, this.#node(member, place));
    }
    return own;
  }

  #element(keyword: string, node: OwnNode): OwnNode {
    if (!PER_ELEMENT.has(keyword) || typeof node === 'boolean') return node;
    const values = valuesIn(node);
    return values < HEAVY_VALUES ? node : { ...node, [STEPS_KEYWORD]: values };
  }

  #propertyName(name: string): string {
    this.#ownPropertiesOnly ||= name in Object.prototype;
    return name;
  }

  #checkPattern(pattern: string, pointer: string): void {
    try {
      compileLinearPattern(pattern);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.faults.push(
        faultAt(
          pointer,
          'E3008',
          'pattern',
          `The pattern cannot be used: ${why}.`,
          'Patterns run in linear time: no look-around, no back-references, small repeat counts.',
        ),
      );
    }
  }
}

/** Nothing is one of no values; Ajv would refuse the schema. */
const isEmptyList = (held: unknown): boolean => Array.isArray(held) && held.length === 0;

/** Values in a node, a measure of what judging by it costs. */
function valuesIn(node: unknown): number {
  if (typeof node !== 'object' || node === null) return 1;
  let count = 1;
  for (const member of Object.values(node)) count += valuesIn(member);
  return count;
}
