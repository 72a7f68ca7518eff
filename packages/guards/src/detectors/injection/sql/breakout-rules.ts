import { afterCondition } from './constant-rules.ts';
import type { Judgement } from './judgement.ts';
import { afterConstant, afterPrefixes } from './operands.ts';
import { beginsStatement } from './statement.ts';
import { isApart, isOddQuote, KIND, type Tokens, wordKinds } from './tokens.ts';
import { IS, slotFor } from './words.ts';

const BY = slotFor('by');
const UNION = slotFor('union');

/** Most parentheses that an injection closes at once. */
const CLOSED_MAX = 16;

/** A quote that closes the string around the value, and SQL that continues after it. */
export function breakout(judgement: Judgement, index: number): void {
  const { tokens, report } = judgement;
  if (!closesText(judgement, index)) return;
  let at = index + 1;
  while (tokens.kinds[at] === KIND.close && at < index + CLOSED_MAX) at++;
  const closed = at > index + 1;
  const rule = continuation(judgement, index, at, closed);
  if (rule !== undefined) report(rule, index, at);
}

/** In honest text an opening quote is after a blank and before a word; this one is not. */
function closesText({ tokens, statement }: Judgement, index: number): boolean {
  if (statement || !isOddQuote(tokens, index)) return false;
  const next = index + 1;
  const word = wordKinds(tokens, next);
  const opensWord =
    !isApart(tokens, next) && isText(tokens.kinds[next]) && (word & (IS.connective | IS.union | IS.statement)) === 0;
  if (opensWord) return false;
  if (index === 0) return true;
  if (isApart(tokens, index)) return false;
  // After a parenthesis or a comma a quote opens, unless SQL follows at a distance.
  return (
    OPENERS[tokens.kinds[index - 1] ?? 0] === 0 ||
    (isApart(tokens, next) && tokens.kinds[index - 1] === KIND.comparison)
  );
}

const OPENERS = new Uint8Array(16);
for (const kind of [KIND.open, KIND.comma, KIND.comparison, KIND.semicolon, KIND.logic]) OPENERS[kind] = 1;

function isText(kind: number | undefined): boolean {
  return kind === KIND.word || kind === KIND.number || kind === KIND.other || kind === KIND.dot;
}

/** Name of the continuation from a token on, undefined when it is not SQL. */
function continuation(judgement: Judgement, quote: number, at: number, closed: boolean): string | undefined {
  const { tokens } = judgement;
  const { kinds } = tokens;
  const word = wordKinds(tokens, at);
  switch (kinds[at]) {
    case KIND.comment:
    case KIND.openComment:
      return isCommentedOut(judgement, at) ? 'quote_and_comment' : undefined;
    case KIND.semicolon:
      return isStacked(judgement, at + 1) ? 'stacked_statement' : undefined;
    case KIND.comma:
      return continuesRow(judgement, at) ? 'row_continued' : undefined;
    case KIND.comparison:
    case KIND.arithmetic:
    case KIND.logic:
      return continuesExpression(judgement, quote, at) ? 'quote_and_operator' : undefined;
    case KIND.word:
      break;
    default:
      return undefined;
  }
  if ((word & (IS.connective | IS.comparison | IS.prefix)) !== 0) {
    return continuesCondition(judgement, at) ? 'quote_and_condition' : undefined;
  }
  if (beginsStatement(tokens, at)) return 'quote_and_statement';
  if (tokens.slots[at + 1] === BY && kinds[at + 1] === KIND.word && isPosition(kinds[at + 2]))
    return 'quote_and_clause';
  return closed && tokens.slots[at] === UNION ? 'quote_and_clause' : undefined;
}

function isPosition(kind: number | undefined): boolean {
  return kind === KIND.number || kind === KIND.open;
}

function isCommentedOut({ tokens, prosePairs }: Judgement, at: number): boolean {
  const next = tokens.kinds[at + 1];
  const sign = tokens.slots[at + 1];
  if (next === KIND.end || (next === KIND.arithmetic && (sign === 43 || sign === 45))) return true;
  return prosePairs === 0 && !isApart(tokens, at);
}

function isStacked({ tokens }: Judgement, at: number): boolean {
  const kind = tokens.kinds[at];
  return kind === KIND.comment || kind === KIND.openComment || beginsStatement(tokens, at);
}

/** `',NULL,NULL)`: the rest of the values of an INSERT. */
function continuesRow({ tokens, prosePairs }: Judgement, index: number): boolean {
  let at = index;
  while (tokens.kinds[at] === KIND.comma) {
    const next = afterConstant(tokens, afterPrefixes(tokens, at + 1));
    if (next < 0) return false;
    at = next;
  }
  const after = tokens.kinds[at + 1];
  if (tokens.kinds[at] !== KIND.close) return tokens.kinds[at] === KIND.comment;
  const hidden = after === KIND.comment || after === KIND.openComment;
  return prosePairs > 0
    ? hidden
    : hidden || after === KIND.end || after === KIND.comma || after === KIND.semicolon || after === KIND.word;
}

const TILDE = 126;

function continuesExpression({ tokens, prosePairs }: Judgement, quote: number, at: number): boolean {
  const { kinds } = tokens;
  const operand = kinds[afterPrefixes(tokens, at + 1)];
  // 5'-6" is a length.
  if (kinds[at] === KIND.arithmetic && tokens.slots[at] === TILDE) return false;
  if (operand === KIND.number)
    return prosePairs === 0 && kinds[quote - 1] !== KIND.number && (quote > 0 || kinds[at] === KIND.comparison);
  if (operand === KIND.quote) {
    // '+' alone is a quoted sign, and not much of an attack.
    const spaced = isApart(tokens, at) || quote > 0 || kinds[at + 2] !== KIND.end;
    return prosePairs === 0 && (spaced || kinds[at] === KIND.comparison);
  }
  if (kinds[at + 1] === KIND.open) return prosePairs === 0;
  return kinds[at] !== KIND.comparison && kinds[at + 1] === KIND.word && kinds[at + 2] === KIND.open;
}

/** The text ends in an empty comment. */
function hidesRest({ kinds, count }: Tokens): boolean {
  const last = kinds[count - 1];
  return last === KIND.comment || last === KIND.openComment;
}

/** `' and a='a`, `' or name like 'x`, `' OR '`: a condition, not the rest of a sentence. */
function continuesCondition(judgement: Judgement, at: number): boolean {
  const { tokens, prosePairs } = judgement;
  const word = wordKinds(tokens, at);
  if ((word & IS.comparison) !== 0 || (word & IS.prefix) !== 0) {
    let operand = afterPrefixes(tokens, at + 1);
    while ((wordKinds(tokens, operand) & IS.comparison) !== 0) operand = afterPrefixes(tokens, operand + 1);
    if ((wordKinds(tokens, operand) & IS.constant) !== 0) return true;
    const kind = tokens.kinds[operand];
    return kind === KIND.number || kind === KIND.open || (kind === KIND.quote && prosePairs === 0);
  }
  if (prosePairs === 0 && (word & IS.connective) !== 0 && hidesRest(tokens)) return true;
  const operand = afterPrefixes(tokens, at + 1);
  if (operand > at + 1 && beginsStatement(tokens, operand)) return true;
  if (tokens.kinds[operand] === KIND.quote && prosePairs === 0) return tokens.quotes + tokens.doubleQuotes <= 4;
  return afterCondition(judgement, at + 1) >= 0;
}
