import { isApart, KIND, type Tokens, wordKinds } from './tokens.ts';
import { IS, slotFor } from './words.ts';

const IN = slotFor('in');
const BACKTICK = 96;

/** Most tokens of a quoted text. */
const QUOTED_TOKENS_MAX = 12;
/** Tokens of one call of a function with its arguments. */
const CALL_TOKENS_MAX = 64;
/** Tokens of one constant expression. */
const EXPRESSION_TOKENS_MAX = 48;

/** Index after the constant that begins here, or -1. At the end of the text a quoted text may be unclosed. */
export function afterConstant(tokens: Tokens, index: number): number {
  const kind = tokens.kinds[index];
  if (kind === KIND.number || kind === KIND.variable) return index + 1;
  // Backticks hold a name.
  if (kind === KIND.quote) return tokens.slots[index] === BACKTICK ? -1 : afterQuoted(tokens, index);
  if (kind === KIND.dot && tokens.kinds[index + 1] === KIND.number) return index + 2;
  const word = wordKinds(tokens, index);
  if ((word & IS.constant) !== 0) return index + 1;
  const callable = (word & (IS.scalar | IS.about | IS.delay | IS.attack)) !== 0;
  return callable && tokens.kinds[index + 1] === KIND.open ? afterCall(tokens, index + 1) : -1;
}

/** Index after the quoted text that begins here, or -1 when it does not end soon. */
export function afterQuoted({ kinds, slots }: Tokens, index: number): number {
  const sort = slots[index];
  for (let at = index + 1; at <= index + QUOTED_TOKENS_MAX; at++) {
    if (kinds[at] === KIND.end) return at;
    if (kinds[at] === KIND.quote && slots[at] === sort) return at + 1;
  }
  return -1;
}

/** Index after the closing parenthesis; when it does not close soon, the last searched index. */
export function afterCall({ kinds }: Tokens, open: number): number {
  let depth = 0;
  for (let at = open; at < open + CALL_TOKENS_MAX; at++) {
    const kind = kinds[at];
    if (kind === KIND.end) return at;
    if (kind === KIND.open) depth++;
    else if (kind === KIND.close && --depth === 0) return at + 1;
  }
  return open + CALL_TOKENS_MAX;
}

/** Index after prefixes of an operand: parentheses, signs, NOT, BINARY, DISTINCT. */
export function afterPrefixes(tokens: Tokens, index: number): number {
  let at = index;
  while (at < index + EXPRESSION_TOKENS_MAX) {
    const kind = tokens.kinds[at];
    const prefix = kind === KIND.open || kind === KIND.arithmetic || (wordKinds(tokens, at) & IS.prefix) !== 0;
    if (!prefix) break;
    at++;
  }
  return at;
}

/** An expression of constants only. */
export interface ConstantExpression {
  readonly operands: number;
  readonly comparisons: number;
  /** Index after it. */
  readonly end: number;
}

/** Reads for as long as there are only constants, operators and parentheses. */
export function constantExpression(tokens: Tokens, index: number): ConstantExpression {
  let [operands, comparisons, at] = [0, 0, index];
  let afterOperand = false;
  while (at < index + EXPRESSION_TOKENS_MAX) {
    const kind = tokens.kinds[at];
    const word = wordKinds(tokens, at);
    // Other languages know `in` without a list.
    if (kind === KIND.word && tokens.slots[at] === IN && tokens.kinds[at + 1] !== KIND.open) break;
    if (kind === KIND.comparison || (word & IS.comparison) !== 0) {
      comparisons++;
      afterOperand = false;
      at++;
    } else if (kind === KIND.open || kind === KIND.close || kind === KIND.arithmetic || (word & IS.prefix) !== 0) {
      afterOperand &&= kind === KIND.close;
      at++;
    } else {
      const next = afterOperand ? -1 : afterConstant(tokens, at);
      if (next < 0) break;
      operands++;
      afterOperand = true;
      at = next;
    }
  }
  return { operands, comparisons, end: at };
}

/** Index after a name or a call, with its parts before dots; -1 when there is none here. */
export function afterName(tokens: Tokens, index: number): number {
  const { kinds } = tokens;
  let at = index;
  // A name in backticks or brackets is one too.
  if (kinds[at] === KIND.quote && kinds[at + 1] === KIND.word && kinds[at + 2] === KIND.quote) at += 2;
  else if (kinds[at] !== KIND.word) return -1;
  at++;
  while (kinds[at] === KIND.dot && kinds[at + 1] === KIND.word) at += 2;
  return kinds[at] === KIND.open && !isApart(tokens, at) ? afterCall(tokens, at) : at;
}

/** Whether the words of two tokens are the same. */
export function sameWord({ text, starts, ends }: Tokens, one: number, other: number): boolean {
  const start = starts[one] ?? 0;
  const from = starts[other] ?? 0;
  const length = (ends[one] ?? 0) - start;
  return length === (ends[other] ?? 0) - from && text.startsWith(text.slice(start, start + length), from);
}
