// Hot path: `check` runs for the arguments and the result of every call.

import { type Failure, failure } from '@sallyport/std/error/failure';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { sha256 } from '@sallyport/std/sha256';
import { LRUCache } from 'lru-cache';
import type { Fault } from '../../api/schemas/error.ts';
import type { JsonSchemaObject } from '../../api/schemas/identifiers.ts';
import { coerceValue } from './coerce/coerce-value.ts';
import { COERCION, type CoercionRules } from './coerce/coercion-rules.ts';
import type { Dialect } from './schema/dialect.ts';
import { faultAt } from './schema/faults/fault.ts';
import { faultsOf } from './schema/faults/fault-of.ts';
import { compileSchema, type Errors, type Judges } from './schema/judge/compile-schema.ts';
import { addressOf, type KnownDocuments } from './schema/known-documents.ts';
import type { OwnSchema } from './schema/own/own-node.ts';
import { isFaults, ownSchema, type ReadOptions } from './schema/own/own-schema.ts';

export type { CoercionRules } from './coerce/coercion-rules.ts';
export type { Dialect } from './schema/dialect.ts';
export { FAULTS_MAX } from './schema/faults/fault-of.ts';
export { SCHEMA_BOUNDS } from './schema/schema-bounds.ts';

/** Default number of generated validators kept; one takes 10 to 60 KB. */
const VALIDATORS_MAX = 1000;

/** Options of a validator. */
export interface SchemaValidatorOptions {
  /** Most generated validators kept in memory, least recently used evicted first; default 1000. */
  readonly validatorsMax?: number;
  /** What a coercion converts beside numbers and booleans; default: dates, no epochs. */
  readonly coercion?: Partial<CoercionRules>;
  /** Whether `format` is enforced, or only an annotation as is 2020-12's default; default `assert`. */
  readonly formats?: 'assert' | 'annotate';
  /**
   * Schema documents by absolute address that references and `$schema` may name; nothing else outside a schema is ever
   * read. The layer passes none: schemas of tools are self-contained. The official meta-schemas are always known.
   */
  readonly known?: Readonly<Record<string, JsonSchemaObject>>;
}

/** Result of a check. */
export interface CheckedValue {
  /** The value, converted where requested and needed; the input itself when nothing was converted. */
  readonly value: unknown;
  /** Empty when the value is valid; at most FAULTS_MAX and one that counts the rest. */
  readonly faults: readonly Fault[];
}

/** A schema that values can be checked against. */
export interface CompiledSchema {
  readonly dialect: Dialect;
  /** SHA-256 over the canonical JSON of the schema, hex. */
  readonly hash: string;
  /**
   * Checks a JSON value. Never changes its input. With `coerce`, a value that is not valid as it stands has its scalars
   * converted without loss first (VAL-02).
   *
   * Faults carry a JSON Pointer, the keyword and E3506 (missing), E3507 (type), E3502 (does not convert) or E3501.
   */
  check(value: unknown, options: { readonly coerce: boolean }): CheckedValue;
}

/** Validates values by foreign schemas (VAL-01, VAL-05, REG-12). */
export interface SchemaValidator {
  /**
   * Prepares a schema; cached by schema object, so the object must not change afterwards. The code is generated at the
   * first check.
   * @returns E3008 with `details.faults` when the schema cannot be used
   */
  compile(schema: JsonSchemaObject): CompiledSchema | Failure;
  /**
   * Faults that make a schema unusable, for registration: unknown dialect, violations of its meta-schema, references
   * that leave the document or lead nowhere, patterns that cannot run in linear time, size. Generates no code.
   * @param pointer place of the schema in its document, prepended to each fault's path
   */
  inspect(schema: JsonSchemaObject, pointer?: string): readonly Fault[];
}

/**
 * Makes a validator with its own cache. One per process is enough; tenants and tools cannot see each other through it.
 */
export function createSchemaValidator({
  validatorsMax = VALIDATORS_MAX,
  coercion,
  formats = 'assert',
  known,
}: SchemaValidatorOptions = {}): SchemaValidator {
  const reading: ReadOptions = {
    assertFormats: formats === 'assert',
    ...(known === undefined ? {} : { known: knownBy(known) }),
  };
  const cache = new LRUCache<string, Compiled>({ max: validatorsMax });
  const rules = { ...COERCION, ...coercion };
  const compiled = new WeakMap<JsonSchemaObject, CompiledSchema>();
  const compile = (schema: JsonSchemaObject): CompiledSchema | Failure => {
    const own = ownSchema(schema, reading);
    if (isFaults(own))
      return failure('E3008', 'The schema cannot be used; see details.faults.', { details: { faults: own } });
    const made = compiledSchema(own, sha256(canonicalJson(schema)), cache, rules);
    compiled.set(schema, made);
    return made;
  };
  return {
    compile: (schema) => compiled.get(schema) ?? compile(schema),
    inspect(schema, pointer = '') {
      const own = ownSchema(schema, reading);
      if (!isFaults(own)) return [];
      return pointer === '' ? own : own.map((fault) => ({ ...fault, path: pointer + fault.path }));
    },
  };
}

const knownBy = (known: Readonly<Record<string, JsonSchemaObject>>): KnownDocuments =>
  new Map(Object.entries(known).map(([address, schema]) => [addressOf(address), schema]));

/** The generated code of a schema, with the nodes it was generated from. */
interface Compiled {
  readonly own: OwnSchema;
  readonly judges: Judges;
}

function compiledSchema(
  own: OwnSchema,
  hash: string,
  cache: LRUCache<string, Compiled>,
  rules: CoercionRules,
): CompiledSchema {
  const key = `${own.dialect} ${hash}`;
  const compiled = (): Compiled => {
    const kept = cache.get(key);
    if (kept !== undefined) return kept;
    const made: Compiled = { own, judges: compileSchema(own) };
    cache.set(key, made);
    return made;
  };
  return {
    dialect: own.dialect,
    hash,
    check(value, { coerce }) {
      try {
        const { own: shared, judges } = compiled();
        judges.begin();
        const errors = judges.errors(value);
        if (errors.length === 0) return { value, faults: NONE };
        return coerce ? coerced(shared, judges, rules, value, errors) : { value, faults: faultsOf(errors) };
      } catch (error) {
        // The budget is spent, or a schema that refers to itself in place overflows the stack.
        if (error instanceof RangeError) return { value, faults: TOO_COMPLEX };
        throw error;
      }
    },
  };
}

const NONE: readonly Fault[] = [];

function coerced(own: OwnSchema, judges: Judges, rules: CoercionRules, value: unknown, errors: Errors): CheckedValue {
  const made = coerceValue({ own, rules, isValid: judges.isValid }, value);
  const left = made === value ? errors : judges.errors(made);
  return { value: made, faults: left.length === 0 ? NONE : faultsOf(left, rules) };
}

const TOO_COMPLEX: readonly Fault[] = [
  faultAt(
    '',
    'E3501',
    'steps',
    'Judging the value by its schema takes more work than allowed.',
    'Give a smaller or less nested value.',
  ),
];
