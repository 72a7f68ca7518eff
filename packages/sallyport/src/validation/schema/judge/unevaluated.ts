import { _, type CodeKeywordDefinition, type KeywordCxt } from 'ajv';
import { Type } from 'ajv/dist/compile/util.js';
import { compileLinearPattern } from '../../../domain/shape/patterns/linear-pattern.ts';
import { type OwnNode, type OwnSchema, type OwnSchemaObject, referredBy } from '../own/own-node.ts';
import { type Budget, spend } from './budget.ts';

/** Whether a value is valid by a node. */
export type IsValid = (node: OwnNode, value: unknown) => boolean;

interface Parts {
  readonly own: OwnSchema;
  readonly budget: Budget;
  readonly isValid: IsValid;
}

/**
 * `unevaluatedProperties` and `unevaluatedItems`, which depend on what the surrounding schemas evaluated. Ajv tracks
 * that during validation and loses some of it (`if` alone, `contains`, `items` in a branch); this determines it
 * afterwards.
 */
export function unevaluatedKeywords(parts: Parts): readonly CodeKeywordDefinition[] {
  return [
    {
      keyword: 'unevaluatedProperties',
      type: 'object',
      schemaType: ['boolean', 'object'],
      trackErrors: true,
      error: {
        message: 'must not have unevaluated properties',
        params: ({ params }) => _`{unevaluatedProperty: ${params['left']}}`,
      },
      code: (cxt) =>
        judgeLeft(cxt, Type.Str, (value: Record<string, unknown>) => {
          const seen = new Set<string>();
          return look(parts, cxt.it.schema as OwnSchemaObject, value, propertiesSeen(seen), true)
            ? []
            : Object.keys(value).filter((name) => !seen.has(name));
        }),
    },
    {
      keyword: 'unevaluatedItems',
      type: 'array',
      schemaType: ['boolean', 'object'],
      trackErrors: true,
      error: {
        message: 'must not have unevaluated items',
        params: ({ params }) => _`{unevaluatedItem: ${params['left']}}`,
      },
      code: (cxt) =>
        judgeLeft(cxt, Type.Num, (items: readonly unknown[]) => {
          const seen = new Set<number>();
          return look(parts, cxt.it.schema as OwnSchemaObject, items, itemsSeen(seen), true)
            ? []
            : [...items.keys()].filter((index) => !seen.has(index));
        }),
    },
  ];
}

/** Validates each remaining member or element with the keyword's own schema. */
function judgeLeft<Value>(
  cxt: KeywordCxt,
  dataPropType: Type,
  leftOf: (value: Value) => readonly (string | number)[],
): void {
  const { gen, data, schema, keyword, it } = cxt;
  if (schema === true) return;
  const left = gen.const('left', _`${gen.scopeValue('func', { ref: leftOf })}(${data})`);
  gen.forOf('each', left, (each) => {
    if (schema === false) {
      cxt.setParams({ left: each });
      cxt.error();
      if (it.allErrors !== true) gen.break();
      return;
    }
    const valid = gen.name('valid');
    cxt.subschema({ keyword, dataProp: each, dataPropType }, valid);
    if (it.allErrors !== true) gen.if(_`!${valid}`, () => gen.break());
  });
  cxt.ok(_`${cxt.errsCount} === errors`);
}

/** Notes what the keywords of one schema evaluated; true when that is everything. */
type Seen = (parts: Parts, node: OwnSchemaObject, value: object, outermost: boolean) => boolean;

/** Visits a schema and all valid schemas applied to the same value. */
function look(parts: Parts, node: OwnNode | undefined, value: object, seen: Seen, outermost = false): boolean {
  if (typeof node !== 'object') return false;
  spend(parts.budget, 1);
  if (seen(parts, node, value, outermost)) return true;
  let all = look(parts, referredBy(parts.own, node), value, seen);
  for (const part of appliedBy(parts, node, value)) all = look(parts, part, value, seen) || all;
  return all;
}

/** The schemas beside `$ref` that apply to the same value and are valid. */
function* appliedBy({ isValid }: Parts, node: OwnSchemaObject, value: object): Iterable<OwnNode> {
  yield* listOf(node['allOf']);
  for (const branch of [...listOf(node['anyOf']), ...listOf(node['oneOf'])]) if (isValid(branch, value)) yield branch;
  const condition = node['if'] as OwnNode | undefined;
  if (condition !== undefined) {
    const holds = isValid(condition, value);
    if (holds) yield condition;
    const then = node[holds ? 'then' : 'else'] as OwnNode | undefined;
    if (then !== undefined) yield then;
  }
  for (const [name, dependent] of Object.entries((node['dependentSchemas'] ?? {}) as Record<string, OwnNode>))
    if (Object.hasOwn(value, name)) yield dependent;
}

const listOf = (held: unknown): readonly OwnNode[] => (Array.isArray(held) ? held : []);

function propertiesSeen(seen: Set<string>): Seen {
  return (_parts, node, value, outermost) => {
    if (node['additionalProperties'] !== undefined) return true;
    if (!outermost && node['unevaluatedProperties'] !== undefined) return true;
    for (const name of Object.keys((node['properties'] ?? {}) as object)) seen.add(name);
    const patterns = Object.keys((node['patternProperties'] ?? {}) as object).map(compileLinearPattern);
    for (const name of Object.keys(value)) if (patterns.some((pattern) => pattern.test(name))) seen.add(name);
    return false;
  };
}

function itemsSeen(seen: Set<number>): Seen {
  return ({ own, isValid, budget }, node, value, outermost) => {
    const items = value as readonly unknown[];
    if (!outermost && node['unevaluatedItems'] !== undefined) return true;
    const prefix = listOf(node['prefixItems'] ?? node['items']);
    const rest = Array.isArray(node['items']) ? node['additionalItems'] : node['items'];
    if (rest !== undefined) return true;
    for (let index = 0; index < prefix.length; index++) seen.add(index);
    const contained = own.dialect === '2020-12' ? (node['contains'] as OwnNode | undefined) : undefined;
    if (contained === undefined) return false;
    spend(budget, items.length);
    for (const [index, item] of items.entries()) if (isValid(contained, item)) seen.add(index);
    return false;
  };
}
