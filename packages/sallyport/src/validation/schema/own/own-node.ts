import type { Dialect } from '../dialect.ts';

/** A judging schema in our own form, or `true`/`false`. */
export type OwnNode = boolean | OwnSchemaObject;
/** Only judging keywords; `$ref` is always the name of a definition of its OwnSchema. */
export interface OwnSchemaObject {
  readonly [keyword: string]: unknown;
}

/**
 * A foreign schema in a form that is safe to compile: a copy with only the dialect's validating keywords, without
 * `$id`, `$async` or foreign words, every referenced schema among the definitions, and a cost (`x-steps`) on each
 * schema that a value can make run many times.
 */
export interface OwnSchema {
  readonly dialect: Dialect;
  readonly root: OwnSchemaObject;
  /** By the name that a `$ref` has. */
  readonly definitions: Readonly<Record<string, OwnNode>>;
  /** Whether a property is named like a member of Object.prototype, so that only own properties may count. */
  readonly ownPropertiesOnly: boolean;
}

/** Keyword that counts the work of judging; see budget.ts. */
export const STEPS_KEYWORD = 'x-steps';

/** The definition that a node refers to; undefined when it refers to none. */
export function referredBy({ definitions }: OwnSchema, node: OwnSchemaObject): OwnNode | undefined {
  const name = node['$ref'];
  return typeof name === 'string' ? definitions[name] : undefined;
}

/** Work of validating a value by a node once, in values of the schema; without the work of its references. */
export function stepsOf(node: unknown): number {
  if (typeof node !== 'object' || node === null) return 1;
  let count = 1;
  for (const [keyword, held] of Object.entries(node)) count += keyword === 'enum' ? 1 : stepsOf(held);
  return count;
}
