import { type ArithmeticExpression, forEachChild, type SyntaxNode } from 'unbash';
import { type Shell, variableOf } from '../shell.ts';

const NUMBER = /^(?:0[xX][\da-fA-F]{1,8}|\d{1,15}|\d{1,2}#[\dA-Za-z]{1,10})$/;
const NAME = /^\$?\{?([A-Za-z_]\w*)\}?$/;

const BINARY: Readonly<Record<string, (a: number, b: number) => number | undefined>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => (b === 0 ? undefined : Math.trunc(a / b)),
  '%': (a, b) => (b === 0 ? undefined : a % b),
  '**': (a, b) => a ** b,
  '<<': (a, b) => a * 2 ** b,
  '>>': (a, b) => Math.floor(a / 2 ** b),
  '&': (a, b) => a & b,
  '|': (a, b) => a | b,
  '^': (a, b) => a ^ b,
  '==': (a, b) => Number(a === b),
  '!=': (a, b) => Number(a !== b),
  '<': (a, b) => Number(a < b),
  '>': (a, b) => Number(a > b),
  '<=': (a, b) => Number(a <= b),
  '>=': (a, b) => Number(a >= b),
};

/** Deepest nesting of an expression that is evaluated. */
const DEPTH_MAX = 64;

/** The value of an expression; undefined when unknown. It assigns nothing. */
export function evaluateArithmetic(
  expression: ArithmeticExpression | undefined,
  shell: Shell,
  depth = 0,
): number | undefined {
  if (expression === undefined || depth > DEPTH_MAX) return undefined;
  switch (expression.type) {
    case 'ArithmeticGroup':
      return evaluateArithmetic(expression.expression, shell, depth + 1);
    case 'ArithmeticWord':
      return numberOf(expression.value, shell);
    case 'ArithmeticUnary': {
      const operand = evaluateArithmetic(expression.operand, shell, depth + 1);
      if (operand === undefined) return undefined;
      if (expression.operator === '-') return -operand;
      if (expression.operator === '~') return ~operand;
      if (expression.operator === '!') return Number(operand === 0);
      return expression.operator === '+' ? operand : undefined;
    }
    case 'ArithmeticBinary': {
      const left = evaluateArithmetic(expression.left, shell, depth + 1);
      const right = evaluateArithmetic(expression.right, shell, depth + 1);
      const value = left === undefined || right === undefined ? undefined : BINARY[expression.operator]?.(left, right);
      return value !== undefined && Number.isSafeInteger(value) ? value : undefined;
    }
    default:
      return undefined;
  }
}

function numberOf(text: string, shell: Shell): number | undefined {
  const trimmed = text.trim();
  if (NUMBER.test(trimmed)) return readNumber(trimmed);
  const name = NAME.exec(trimmed)?.[1];
  const value = name === undefined ? undefined : variableOf(shell, name).values[0]?.trim();
  return value !== undefined && NUMBER.test(value) ? readNumber(value) : undefined;
}

function readNumber(text: string): number {
  const [base, digits] = text.split('#');
  if (digits !== undefined) return Number.parseInt(digits, Number(base));
  return /^0\d/.test(text) ? Number.parseInt(text, 8) : Number(text);
}

/**
 * Visits a syntax tree in order of appearance, without recursion: sums may be as deep as they are long.
 * @param visit returns true when it has handled everything below a node
 */
export function visitTree(root: SyntaxNode, visit: (node: SyntaxNode) => boolean): void {
  const open: SyntaxNode[] = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (visit(node)) continue;
    const children: SyntaxNode[] = [];
    forEachChild(node, (child) => children.push(child));
    open.push(...children.reverse());
  }
}
