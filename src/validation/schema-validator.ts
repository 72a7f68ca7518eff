// Hot path: `check` runs for the arguments and the result of every call.
import { LRUCache } from 'lru-cache';
import type { Fault } from '../../api/schemas/error.ts';
import type { JsonSchemaObject } from '../../api/schemas/identifiers.ts';
import { type Failure, failure } from '../domain/error/failure.ts';
import { canonicalJson } from '../std/canonical-json.ts';
import { sha256 } from '../std/sha256.ts';
import { coerceValue } from './coerce/coerce-value.ts';
import { compileSchema, type Judge } from './schema/compile-schema.ts';
import type { Dialect } from './schema/dialect.ts';
import { faultAt } from './schema/fault.ts';
import { faultsOf } from './schema/fault-of.ts';
import { type OwnNode, type OwnSchema, ownSchema } from './schema/own-schema.ts';

export type { Dialect } from './schema/dialect.ts';
export { FAULTS_MAX } from './schema/fault-of.ts';
export { SCHEMA_BOUNDS } from './schema/schema-bounds.ts';

/** Generated validators kept when nothing else is said; one takes 10 to 60 KB. */
const VALIDATORS_MAX = 1000;

/** What a validator may be told. */
export interface SchemaValidatorOptions {
  /** Generated validators kept in memory, the least recently used go first; default 1000. */
  readonly validatorsMax?: number;
}

/** What a check found. */
export interface CheckedValue {
  /** The value, with conversions where they were asked for and needed; the very input when nothing was converted. */
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

/** Judges values by foreign schemas (VAL-01, VAL-05, REG-12). */
export interface SchemaValidator {
  /**
   * Prepares a schema; answers from memory for a schema object it has seen, so the object must not change afterwards.
   * The code is generated at the first check.
   * @returns E3008 with `details.faults` when the schema cannot be used
   */
  compile(schema: JsonSchemaObject): CompiledSchema | Failure;
  /**
   * What keeps a schema from being used, for registration: unknown dialect, faults by its meta-schema, references that
   * leave the document or lead nowhere, patterns that cannot run in linear time, size. Generates no code.
   * @param pointer where the schema stands in its document, put before each fault's path
   */
  inspect(schema: JsonSchemaObject, pointer?: string): readonly Fault[];
}

/** Makes a validator with its own cache. One a process is enough; tenants and tools do not see each other through it. */
export function createSchemaValidator({
  validatorsMax = VALIDATORS_MAX,
}: SchemaValidatorOptions = {}): SchemaValidator {
  const judges = new LRUCache<string, Judges>({ max: validatorsMax });
  const compiled = new WeakMap<JsonSchemaObject, CompiledSchema>();
  const compile = (schema: JsonSchemaObject): CompiledSchema | Failure => {
    const own = ownSchema(schema);
    if (isFaults(own))
      return failure('E3008', 'The schema cannot be used; see details.faults.', { details: { faults: own } });
    const hash = sha256(canonicalJson(schema));
    const made = compiledSchema(own, hash, judges);
    compiled.set(schema, made);
    return made;
  };
  return {
    compile: (schema) => compiled.get(schema) ?? compile(schema),
    inspect(schema, pointer = '') {
      const own = ownSchema(schema);
      if (!isFaults(own)) return [];
      return pointer === '' ? own : own.map((fault) => ({ ...fault, path: pointer + fault.path }));
    },
  };
}

const isFaults = (own: OwnSchema | readonly Fault[]): own is readonly Fault[] => Array.isArray(own);

/** The generated code of one schema: of the whole, and of the branches of unions that a coercion had to try. */
interface Judges {
  readonly own: OwnSchema;
  readonly whole: Judge;
  readonly branches: Map<OwnNode, Judge>;
}

function compiledSchema(own: OwnSchema, hash: string, cache: LRUCache<string, Judges>): CompiledSchema {
  const key = `${own.dialect} ${hash}`;
  const judges = (): Judges => {
    const kept = cache.get(key);
    if (kept !== undefined) return kept;
    const made: Judges = { own, whole: compileSchema(own), branches: new Map() };
    cache.set(key, made);
    return made;
  };
  return {
    dialect: own.dialect,
    hash,
    check(value, { coerce }) {
      const { own: shared, whole, branches } = judges();
      const errors = whole(value);
      if (errors.length === 0) return { value, faults: NONE };
      if (!coerce || errors === 'too-complex') return { value, faults: faultsFor(errors, false) };
      const coerced = coerceValue(shared, value, (branch, part) => isValid(shared, branches, branch, part));
      const left = coerced === value ? errors : whole(coerced);
      return { value: coerced, faults: left.length === 0 ? NONE : faultsFor(left, true) };
    },
  };
}

const NONE: readonly Fault[] = [];

function isValid(own: OwnSchema, branches: Map<OwnNode, Judge>, branch: OwnNode, value: unknown): boolean {
  if (typeof branch === 'boolean') return branch;
  let judge = branches.get(branch);
  if (judge === undefined) {
    judge = compileSchema(own, branch);
    branches.set(branch, judge);
  }
  return judge(value).length === 0;
}

function faultsFor(errors: ReturnType<Judge>, coercing: boolean): readonly Fault[] {
  if (errors !== 'too-complex') return faultsOf(errors, coercing);
  return [
    faultAt(
      '',
      'E3501',
      'steps',
      'Judging the value by its schema takes more work than allowed.',
      'Give a smaller or less nested value.',
    ),
  ];
}
