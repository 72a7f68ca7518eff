import type { Fault } from '../../../../api/schemas/error.ts';
import type { JsonSchemaObject } from '../../../../api/schemas/identifiers.ts';

/**
 * The part of the interface of schema libraries (https://standardschema.dev) used here. No library is imported: a
 * schema is recognised by its members.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaVerdict<Output> | PromiseLike<SchemaVerdict<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** The converted value, or what is wrong with the given one. */
export type SchemaVerdict<Output = unknown> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** One thing that is wrong. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Validates a value with a library's schema, and converts it. */
export type Validate = (value: unknown) => SchemaVerdict | PromiseLike<SchemaVerdict>;

/** The side of a schema: values that go in, or values that it makes of them. */
export type SchemaSide = 'input' | 'output';

/** A JSON Schema, or the reasons why there is none; pointers of faults start at the schema's root. */
export type DerivedSchema =
  | { readonly schema: JsonSchemaObject; readonly faults?: undefined }
  | { readonly faults: readonly [Fault, ...Fault[]] };

/** Members of the value, when it can have any; libraries use objects and callable schemas. */
export function membersIn(value: unknown): Record<string, unknown> | undefined {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
    ? (value as Record<string, unknown>)
    : undefined;
}

/** The standard part of a schema; undefined for a plain JSON Schema and anything else. */
export function standardOf(schema: unknown): Record<string, unknown> | undefined {
  const standard = membersIn(membersIn(schema)?.['~standard']);
  return typeof standard?.['validate'] === 'function' ? standard : undefined;
}

/** The library's own validation; undefined for a plain JSON Schema, which the layer alone validates. */
export function validateOf(schema: unknown): Validate | undefined {
  const standard = standardOf(schema);
  if (standard !== undefined) return (value) => (standard['validate'] as Validate).call(standard, value);
  const parse = isZod3(schema) ? membersIn(schema)?.['safeParseAsync'] : undefined;
  if (typeof parse !== 'function') return undefined;
  // zod before 3.24 does not implement the standard.
  return async (value) => verdictOf(await (parse.call(schema, value) as Promise<Zod3Result>));
}

type Zod3Result =
  | { readonly success: true; readonly data: unknown }
  | { readonly success: false; readonly error: { readonly issues: readonly SchemaIssue[] } };

function verdictOf(result: Zod3Result): SchemaVerdict {
  return result.success ? { value: result.data } : { issues: result.error.issues };
}

/** True for a zod 3 schema, which has no standard way to describe itself. */
export function isZod3(schema: unknown): boolean {
  return typeof membersIn(membersIn(schema)?.['_def'])?.['typeName'] === 'string';
}
