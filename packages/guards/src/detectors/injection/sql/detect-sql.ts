import type { Report } from '../finding.ts';
import type { Reading } from '../text/reading.ts';
import { breakout } from './breakout-rules.ts';
import { constantCondition, probingCondition } from './constant-rules.ts';
import type { Judgement } from './judgement.ts';
import {
  appendedCondition,
  attackFunction,
  fileClause,
  positionClause,
  probingCall,
  spliced,
  unionSelect,
} from './keyword-rules.ts';
import { lex } from './lex.ts';
import { beginsStatement, isSelectList, isWholeStatement } from './statement.ts';
import { isApart, isOddQuote, KIND, type Tokens, wordKinds } from './tokens.ts';
import { withoutComments } from './without-comments.ts';
import { IS, slotFor } from './words.ts';

const FROM = slotFor('from');
const SELECT = slotFor('select');

/**
 * Looks for SQL injected into a value: tokens are judged by their context, whatever quote the value will be put into. A
 * whole statement passes by default, since database tools are given those.
 */
export function detectSql(
  reading: Reading,
  tokens: Tokens,
  strict: boolean,
  plusIsBlank: boolean,
  report: Report,
): void {
  const again = tokens.lineComments;
  judge(tokens, strict, report);
  // An apparent comment may hide the text between two words.
  if (again) judge(tokens.hidden.exact ? withoutComments(tokens) : lex(reading, plusIsBlank, true), strict, report);
}

function judge(tokens: Tokens, strict: boolean, onMatch: Report): void {
  const { starts, ends, count, anchors, anchorCount, prosePairs } = tokens;
  if (count < TOKENS_MIN || !mayHold(tokens, strict)) return;
  const report: Report = (rule, first, last) =>
    onMatch(rule, starts[Math.max(first, 0)] ?? 0, ends[Math.min(last, count - 1)] ?? tokens.text.length);
  const whole = isWholeStatement(tokens);
  if (strict && beginsStatement(tokens, 0)) report('statement', 0, count - 1);
  const judgement: Judgement = { tokens, strict, statement: whole && !strict, prosePairs, report };
  for (let at = 0; at < anchorCount; at++) apply(judgement, anchors[at] ?? 0);
  wholeText(judgement);
}

/** Most short texts have no place for any rule to start. */
function mayHold({ kinds, count, anchorCount, versionComment }: Tokens, strict: boolean): boolean {
  const last = kinds[count - 1];
  return strict || anchorCount > 0 || versionComment || last === KIND.comment || last === KIND.openComment;
}

/** Nothing shorter is an attack. */
const TOKENS_MIN = 2;

function apply(judgement: Judgement, index: number): void {
  const { tokens } = judgement;
  const kind = tokens.kinds[index];
  if (kind === KIND.quote) breakout(judgement, index);
  else if (kind === KIND.logic) {
    constantCondition(judgement, index);
    probingCondition(judgement, index);
  } else if (kind === KIND.word) applyToWord(judgement, index);
}

function applyToWord(judgement: Judgement, index: number): void {
  const kinds = wordKinds(judgement.tokens, index);
  if (kinds === 0) return;
  if ((kinds & IS.connective) !== 0) {
    constantCondition(judgement, index);
    probingCondition(judgement, index);
    appendedCondition(judgement, index);
  }
  if ((kinds & IS.union) !== 0) unionSelect(judgement, index);
  if ((kinds & IS.statement) !== 0) spliced(judgement, index);
  if ((kinds & IS.place) !== 0) positionClause(judgement, index);
  if ((kinds & (IS.delay | IS.attack)) !== 0) {
    attackFunction(judgement, index);
    fileClause(judgement, index);
  }
  if ((kinds & (IS.scalar | IS.about)) !== 0) probingCall(judgement, index);
}

/** Evidence that only the text as a whole shows. */
function wholeText({ tokens, prosePairs, statement, report }: Judgement): void {
  const { kinds, count } = tokens;
  if (statement || prosePairs > 0) return;
  const last = count - 1;
  if (tokens.versionComment) report('version_comment', 0, last);
  if (endsInComment(tokens, last) && !UNDERLINE.test(tokens.text)) report('trailing_comment', last - 1, last);
  const first = kinds[0] === KIND.open ? 1 : 0;
  if (isFragment(tokens, first)) report('statement_fragment', 0, last);
}

/** The line below a heading of Markdown. */
const UNDERLINE = /\S\r?\n-{3,}\s{0,8}$/;

/** A value followed by an empty comment, which is meant to hide the rest of a statement. */
function endsInComment(tokens: Tokens, last: number): boolean {
  const { kinds, slots } = tokens;
  if (last < 1 || (kinds[last] !== KIND.comment && kinds[last] !== KIND.openComment)) return false;
  const before = kinds[last - 1];
  if (before === KIND.close) return kinds[0] !== KIND.word || last < 4;
  if (before === KIND.number) return slots[last] !== 35 || !isApart(tokens, last);
  return isOddQuote(tokens, last - 1);
}

/** A SELECT with a list and a missing end; a complete one was recognised before. */
function isFragment(tokens: Tokens, index: number): boolean {
  const { kinds, slots, count } = tokens;
  if (slots[index] !== SELECT || kinds[index] !== KIND.word || !isSelectList(tokens, index + 1)) return false;
  for (let at = index; at < count; at++) if (slots[at] === FROM && kinds[at] === KIND.word) return true;
  return false;
}
