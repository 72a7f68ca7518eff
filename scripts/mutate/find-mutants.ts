import { parseSync } from 'rolldown/utils';

/** A small change of a source text that a test should notice. */
export interface Mutant {
  /** Line of its first character, from 1. */
  readonly line: number;
  readonly operator: string;
  /** Text that is replaced, and where it is. */
  readonly original: string;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  readonly kind: 'expression' | 'statement';
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

const SWAPPED: Readonly<Record<string, readonly string[]>> = {
  '===': ['!=='],
  '!==': ['==='],
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '&&': ['||'],
  '||': ['&&'],
  '++': ['--'],
  '--': ['++'],
  '+=': ['-='],
  '-=': ['+='],
};
const SWAPPED_CALLS = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['min', 'max'],
  ['max', 'min'],
  ['startsWith', 'endsWith'],
  ['endsWith', 'startsWith'],
]);
/** Nodes of types have these names; of those, these hold an expression that runs. */
const TYPES_ONLY = /^TS(?!AsExpression|SatisfiesExpression|NonNullExpression|ParameterProperty)/;
const FUNCTION = /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;

/**
 * Mutants of a TypeScript source, in order of place. Not changed: what runs once when the module is loaded, numbers, and sentences
 * (text with a space in it), whose wording is free.
 */
export function findMutants(source: string): Mutant[] {
  const found: Mutant[] = [];
  const text = (node: Node) => source.slice(node.start, node.end);
  const add = (node: Node, operator: string, replacement: string, kind: Mutant['kind'] = 'expression') => {
    const line = source.slice(0, node.start).split('\n').length;
    found.push({ line, operator, original: text(node), start: node.start, end: node.end, replacement, kind });
  };
  const visit = (node: Node, parent: Node | undefined, role: string, runs: boolean) => {
    if (TYPES_ONLY.test(node.type) || node.type === 'ImportDeclaration') return;
    if (runs) mutate(node, parent, role, { add, text });
    const inside = runs || FUNCTION.test(node.type) || (node.type === 'PropertyDefinition' && node['static'] === false);
    for (const [member, value] of Object.entries(node)) {
      for (const child of Array.isArray(value) ? value : [value]) {
        if (isNode(child) && !isName(node, member)) visit(child, node, member, inside);
      }
    }
  };
  visit(parseSync('source.ts', source).program as unknown as Node, undefined, '', false);
  return found.sort((a, b) => a.start - b.start || b.end - a.end);
}

interface Tools {
  add(node: Node, operator: string, replacement: string, kind?: Mutant['kind']): void;
  text(node: Node): string;
}

function mutate(node: Node, parent: Node | undefined, role: string, tools: Tools): void {
  const { add } = tools;
  if (role === 'test' && parent?.type !== 'SwitchCase') mutateTest(node, parent, add);
  const isValue = role === 'argument' && parent?.type === 'ReturnStatement';
  const isBody = role === 'body' && parent?.type === 'ArrowFunctionExpression' && node.type !== 'BlockStatement';
  if ((isValue || isBody) && !FUNCTION.test(node.type) && tools.text(node) !== 'undefined') {
    add(node, 'answer', 'undefined');
  }
  OPERATORS[node.type]?.(node, parent, role, tools);
}

/** A loop that never ends says nothing. */
function mutateTest(node: Node, parent: Node | undefined, add: Tools['add']): void {
  if (parent?.type === 'IfStatement' || parent?.type === 'ConditionalExpression') add(node, 'condition', 'true');
  if (node.type !== 'Literal') add(node, 'condition', 'false');
}

const OPERATORS: Readonly<Record<string, (node: Node, parent: Node | undefined, role: string, tools: Tools) => void>> =
  {
    LogicalExpression: (node, _parent, _role, { add, text }) => {
      swapOperator(node, { add, text });
      add(node, 'operand', text(node['left'] as Node));
      add(node, 'operand', text(node['right'] as Node));
    },
    BinaryExpression: (node, _parent, _role, tools) => {
      const isText = [node['left'], node['right']].some((side) => isTextNode(side as Node));
      if (!isText || node['operator'] !== '+') swapOperator(node, tools);
    },
    UpdateExpression: (node, _parent, _role, { add, text }) => {
      const operator = String(node['operator']);
      add(node, 'operator', text(node).replace(operator, SWAPPED[operator]?.[0] ?? operator));
    },
    AssignmentExpression: (node, _parent, _role, tools) => swapOperator(node, tools),
    UnaryExpression: (node, _parent, _role, { add, text }) => {
      if (node['operator'] === '!') add(node, 'negation', text(node['argument'] as Node));
    },
    Literal: (node, parent, _role, { add }) => {
      const value = node['value'];
      if (typeof value === 'boolean') add(node, 'literal', String(!value));
      const isCompared = parent?.type === 'BinaryExpression' || parent?.type === 'ExpressionStatement';
      if (typeof value === 'string' && !isCompared && /^\S+$/.test(value)) add(node, 'literal', `''`);
    },
    ArrayExpression: (node, _parent, _role, { add }) => {
      if ((node['elements'] as unknown[]).length > 0) add(node, 'literal', '[]');
    },
    ObjectExpression: (node, _parent, _role, { add }) => {
      if ((node['properties'] as unknown[]).length > 0) add(node, 'literal', '{}');
    },
    CallExpression: (node, _parent, role, { add, text }) => {
      const name = (node['callee'] as Node)['property'] as Node | undefined;
      const other = SWAPPED_CALLS.get(String(name?.['name']));
      if (name === undefined || other === undefined || role === 'callee' || role === 'object') return;
      const at = name.start - node.start;
      add(node, 'call', text(node).slice(0, at) + other + text(node).slice(at + name.end - name.start));
    },
    ExpressionStatement: (node, _parent, _role, { add, text }) => {
      const expression = node['expression'] as Node;
      add(node, 'statement', '', 'statement');
      if (expression.type === 'AwaitExpression') {
        add(node, 'await', `${text(expression['argument'] as Node)};`, 'statement');
      }
    },
    ThrowStatement: (node, _parent, _role, { add }) => add(node, 'statement', '', 'statement'),
  };

function swapOperator(node: Node, { add, text }: Tools): void {
  const [left, right] = [node['left'] as Node, node['right'] as Node];
  for (const other of SWAPPED[String(node['operator'])] ?? []) {
    add(node, 'operator', `${text(left)} ${other} ${text(right)}`);
  }
}

function isTextNode(node: Node): boolean {
  return node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node['value'] === 'string');
}

/** Names and places that are assigned to are no values. */
function isName(node: Node, member: string): boolean {
  if (member === 'key' || member === 'property') return node['computed'] !== true || node.type === 'MemberExpression';
  return member === 'directive' || (member === 'left' && node.type === 'AssignmentExpression');
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}
