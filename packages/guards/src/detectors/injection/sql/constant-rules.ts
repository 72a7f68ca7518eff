import type { Judgement } from './judgement.ts';
import { afterConstant, afterName, afterPrefixes, constantExpression, sameWord } from './operands.ts';
import { isOddQuote, KIND, type Tokens, wordKinds } from './tokens.ts';
import { IS, slotFor } from './words.ts';

const OR = slotFor('or');

/** A condition independent of rows: `or 1=1`, `and 'a'='a`, `having 1=1`, `|| x=x`. */
export function constantCondition(judgement: Judgement, index: number): void {
  const { tokens, statement, report } = judgement;
  // `WHERE 1=1 AND …` is how programs build statements; with OR it opens one that was closed.
  if (statement && tokens.slots[index] !== OR) return;
  if (goesOnAsProse(tokens, index + 1)) return;
  const first = afterPrefixes(tokens, index + 1);
  if (isIdentity(judgement, first)) {
    report('tautology', index, first + 2);
    return;
  }
  const { operands, comparisons, end } = constantExpression(tokens, index + 1);
  if (operands >= 2 && comparisons > 0 && !inProse(judgement, end)) report('tautology', index, end - 1);
  else if (operands === 1 && isLoneConstant(judgement, index, end)) report('constant_condition', index, end - 1);
}

/** Common case: a word that SQL does not know and that is not compared with anything. */
function goesOnAsProse(tokens: Tokens, next: number): boolean {
  return tokens.kinds[next] === KIND.word && tokens.slots[next] === -1 && tokens.kinds[next + 1] !== KIND.comparison;
}

/** `x=x`, for any name. */
function isIdentity({ tokens }: Judgement, index: number): boolean {
  const { kinds } = tokens;
  if (kinds[index] !== KIND.word || kinds[index + 1] !== KIND.comparison || kinds[index + 2] !== KIND.word)
    return false;
  return sameWord(tokens, index, index + 2) && kinds[index + 3] !== KIND.dot && kinds[index + 3] !== KIND.open;
}

/** Two unknown words follow: the numbers belonged to a sentence. */
function inProse({ tokens, prosePairs }: Judgement, end: number): boolean {
  const plain = (at: number): boolean => tokens.kinds[at] === KIND.word && wordKinds(tokens, at) === 0;
  return prosePairs > 0 && plain(end) && plain(end + 1);
}

/** `' or 1--`, `or true#`, `and 0`: a constant where a condition belongs, and then nothing more. */
function isLoneConstant({ tokens, statement, prosePairs }: Judgement, index: number, end: number): boolean {
  if (statement || prosePairs > 0) return false;
  const after = tokens.kinds[end];
  const ended = after === KIND.end || (after === KIND.comment && tokens.kinds[end + 1] === KIND.end);
  const before = tokens.kinds[index - 1];
  if (index === 0) return ended || after === KIND.comment || after === KIND.openComment;
  if (before === KIND.quote || before === KIND.close) {
    const isOdd = before === KIND.close || isOddQuote(tokens, index - 1);
    return isOdd && (ended || after === KIND.comment || after === KIND.openComment);
  }
  return before === KIND.number && ended && after === KIND.comment;
}

/** `and sleep(5)`, `or @@version`, `and exists(select …`: queries about the database itself, or delays. */
export function probingCondition({ tokens, report }: Judgement, index: number): void {
  if (goesOnAsProse(tokens, index + 1)) return;
  let at = afterPrefixes(tokens, index + 1);
  const constant = afterConstant(tokens, at);
  if (tokens.kinds[at] === KIND.number && constant > 0 && tokens.kinds[constant] === KIND.comparison) at = constant + 1;
  at = afterPrefixes(tokens, at);
  const word = wordKinds(tokens, at);
  const called = tokens.kinds[at + 1] === KIND.open;
  if (called && (word & (IS.delay | IS.attack)) !== 0) report('probe', index, at);
  else if (called && (word & IS.about) !== 0 && tokens.kinds[at + 2] === KIND.close) report('probe', index, at + 2);
  else if (tokens.kinds[at] === KIND.variable && tokens.slots[at] === 64) report('probe', index, at);
}

/** Index after a condition on a column, `name = x`, `name like x`, `name is null`; -1 when none stands here. */
export function afterCondition({ tokens, prosePairs }: Judgement, index: number): number {
  const first = afterPrefixes(tokens, index);
  let at = afterName(tokens, first);
  if (at < 0) at = afterConstant(tokens, first);
  if (at < 0) return -1;
  while (tokens.kinds[at] === KIND.close) at++;
  const kind = tokens.kinds[at];
  const sign = kind === KIND.comparison || (prosePairs === 0 && (kind === KIND.arithmetic || kind === KIND.logic));
  if (!sign && (wordKinds(tokens, at) & (IS.comparison | IS.prefix)) === 0) return -1;
  const operand = afterPrefixes(tokens, at + 1);
  const end = afterConstant(tokens, operand);
  if (end >= 0) return end;
  return sign ? afterName(tokens, operand) : -1;
}
