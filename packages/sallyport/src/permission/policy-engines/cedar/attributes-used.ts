import type { Clause, Expr, PolicyJson } from '@cedar-policy/cedar-wasm/web';
import { CLOSED_ATTRIBUTES } from './cedar-schema.ts';

/** The variables of a question. */
const VARIABLES = ['principal', 'resource', 'context'] as const;
export type Variable = (typeof VARIABLES)[number];

/**
 * The attributes of each variable that some policies use; `all` when a variable is used whole. Questions contain only
 * these: each attribute costs 10 µs on its way into the module.
 */
export interface AttributesUsed {
  readonly principal: ReadonlySet<string> | 'all';
  readonly resource: ReadonlySet<string> | 'all';
  readonly context: ReadonlySet<string> | 'all';
  /** True when a policy asks for the groups that an agent or a tool is in. */
  readonly parents: boolean;
}

/** Used while the attributes in use are not yet known: all of them. */
export const ALL_ATTRIBUTES: AttributesUsed = { principal: 'all', resource: 'all', context: 'all', parents: true };

/** Attributes that the conditions of some policies name. */
export function attributesUsed(policies: readonly PolicyJson[]): AttributesUsed {
  const used: Record<Variable, Set<string> | 'all'> = {
    principal: new Set(),
    resource: new Set(),
    context: new Set(),
  };
  const note = (variable: Variable, attribute: string | undefined): void => {
    const known = used[variable];
    if (attribute === undefined) used[variable] = 'all';
    else if (known !== 'all') known.add(attribute);
  };
  for (const { conditions } of policies) for (const { body } of conditions) walk(body, note);
  return { ...used, parents: policies.some(usesParents) };
}

/** `in` occurs in a head, or in a condition as the name of an operator or as a part of `is`. */
const usesParents = (policy: PolicyJson): boolean =>
  [policy.principal, policy.resource].some(({ op, ...rest }) => op === 'in' || 'in' in rest) ||
  JSON.stringify(policy.conditions).includes('"in":');

/** Looks like a comparison of a closed attribute with a word, perhaps in a comment or a string. */
const COMPARED = /\b(principal|resource|context)\s*\.\s*([A-Za-z]+)\s*[!=]=\s*"([^"]*)"/g;

/**
 * A comparison that can never hold, as a sentence without its full stop: a closed attribute compared with a word
 * outside its set. The tree is read only when the text suggests one.
 */
export function impossibleComparison(text: string, conditions: () => readonly Clause[]): string | undefined {
  const odd = [...text.matchAll(COMPARED)].some(
    ([, variable, attribute, word = '']) => CLOSED_ATTRIBUTES[`${variable}.${attribute}`]?.includes(word) === false,
  );
  if (!odd) return undefined;
  const found: string[] = [];
  for (const { body } of conditions()) compare(body, found);
  return found[0];
}

type Node = Readonly<Record<string, unknown>>;
type Note = (variable: Variable, attribute: string | undefined) => void;

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;
const variableOf = (value: unknown): Variable | undefined => {
  const name = isNode(value) ? value['Var'] : undefined;
  return VARIABLES.find((variable) => variable === name);
};

function walk(value: unknown, note: Note): void {
  if (!isNode(value)) return;
  if (Array.isArray(value)) {
    for (const item of value) walk(item, note);
    return;
  }
  for (const [operator, operand] of Object.entries(value)) {
    const variable = isNode(operand) ? variableOf(operand['left']) : undefined;
    if (variable === undefined) {
      // Whole principals and resources are only compared, or tested for membership, which needs no attribute.
      if (operator === 'Var' && operand === 'context') note('context', undefined);
      // An attribute of a larger expression's result may belong to any variable.
      if (operator === '.' || operator === 'has') for (const each of VARIABLES) note(each, undefined);
      walk(operand, note);
    } else noteUse(operator, variable, operand as Node, note);
  }
}

function noteUse(operator: string, variable: Variable, operand: Node, note: Note): void {
  if (operator === '.' || operator === 'has') {
    const { attr } = operand;
    const name: unknown = Array.isArray(attr) ? attr[0] : attr;
    note(variable, typeof name === 'string' ? name : undefined);
  } else if (variable === 'context') note('context', undefined);
  walk(operand['right'], note);
  walk(operand['in'], note);
}

function compare(value: unknown, found: string[]): void {
  if (!isNode(value)) return;
  for (const [operator, operand] of Object.entries(value)) {
    if ((operator === '==' || operator === '!=') && isNode(operand)) {
      const fault = mismatch(operand['left'], operand['right']) ?? mismatch(operand['right'], operand['left']);
      if (fault !== undefined) found.push(fault);
    }
    compare(operand, found);
  }
}

function mismatch(attribute: unknown, literal: unknown): string | undefined {
  const access = isNode(attribute) ? attribute['.'] : undefined;
  const word = isNode(literal) ? literal['Value'] : undefined;
  if (!isNode(access) || typeof word !== 'string') return undefined;
  const name = `${variableOf(access['left'])}.${String(access['attr'])}`;
  const words = CLOSED_ATTRIBUTES[name];
  if (words === undefined || words.includes(word)) return undefined;
  return `${name} is never "${word}"; it is one of ${words.join(', ')}`;
}

/** The operands of a chain of `&&`, in order. */
export function conjuncts(body: Expr): readonly Expr[] {
  const { '&&': both } = body as { readonly '&&'?: { readonly left: Expr; readonly right: Expr } };
  return both === undefined ? [body] : [...conjuncts(both.left), ...conjuncts(both.right)];
}
