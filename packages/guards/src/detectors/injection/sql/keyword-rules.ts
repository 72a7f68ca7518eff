import { afterCondition } from './constant-rules.ts';
import type { Judgement } from './judgement.ts';
import { beginsStatement, isSelectList } from './statement.ts';
import { isApart, KIND, type Tokens, wordKinds } from './tokens.ts';
import { IS, slotFor } from './words.ts';

const SELECT = slotFor('select');
const BY = slotFor('by');
const ORDER = slotFor('order');
const GROUP = slotFor('group');
const INTO = slotFor('into');
const [OUTFILE, DUMPFILE, INFILE, ANALYSE] = [
  slotFor('outfile'),
  slotFor('dumpfile'),
  slotFor('infile'),
  slotFor('analyse'),
];
const [SLEEP, DELAY] = [slotFor('sleep'), slotFor('delay')];
const [ASCII, ORD, HEX, CONV] = [slotFor('ascii'), slotFor('ord'), slotFor('hex'), slotFor('conv')];

/** Tokens between UNION and SELECT: ALL, DISTINCT, parentheses, signs. */
const BETWEEN_MAX = 24;
/** Tokens of a call that are searched for its query. */
const CALL_LOOK_MAX = 32;
/** Pairs of words beside which a query in parentheses is part of a program or a text about one. */
const PROSE_PAIRS_MAX = 2;
/** Least constants that make a list of columns a guess. */
const GUESSES_MIN = 2;

/** `union all select …`. */
export function unionSelect({ tokens, statement, report }: Judgement, index: number): void {
  let at = index + 1;
  while (at < index + BETWEEN_MAX && mayStandBetween(tokens, at)) at++;
  if (tokens.kinds[at] !== KIND.word || tokens.slots[at] !== SELECT) {
    const bare = tokens.kinds[at] === KIND.end && at > index + 1 && tokens.kinds[index + 1] !== KIND.other;
    if (bare && index > 0 && tokens.kinds[index - 1] !== KIND.word) report('union', index, at - 1);
    return;
  }
  if (statement && !guesses(tokens, at + 1)) return;
  const ended = tokens.kinds[at + 1] === KIND.end || tokens.kinds[at + 1] === KIND.comment;
  if (ended || isSelectList(tokens, at + 1) || endsSoon(tokens, at + 1)) report('union_select', index, at);
}

function mayStandBetween(tokens: Tokens, at: number): boolean {
  const kind = tokens.kinds[at];
  if (kind === KIND.open || kind === KIND.arithmetic || kind === KIND.comment || kind === KIND.openComment) return true;
  return kind === KIND.variable || (wordKinds(tokens, at) & IS.prefix) !== 0;
}

/** A name, and then nothing, a comma, a parenthesis or a comment. */
function endsSoon({ kinds }: Tokens, at: number): boolean {
  const after = kinds[at + 1];
  if (kinds[at] !== KIND.word) return false;
  return (
    after === KIND.end || after === KIND.comma || after === KIND.close || after === KIND.comment || after === KIND.dot
  );
}

/** `1,2,3` or `null,null`: guesses for the columns of an unknown table. */
function guesses(tokens: Tokens, index: number): boolean {
  let [at, count] = [index, 0];
  while (tokens.kinds[at] === KIND.number || (wordKinds(tokens, at) & IS.constant) !== 0) {
    count++;
    if (tokens.kinds[at + 1] !== KIND.comma) break;
    at += 2;
  }
  return count > GUESSES_MIN;
}

/** `(select …` within a value, and a statement right after a number or a parenthesis. */
export function spliced({ tokens, statement, prosePairs, report }: Judgement, index: number): void {
  if (statement || !beginsStatement(tokens, index)) return;
  const before = tokens.kinds[index - 1];
  if (before === KIND.open && tokens.slots[index] === SELECT && prosePairs <= PROSE_PAIRS_MAX)
    report('subselect', index - 1, index);
  else if (before === KIND.semicolon) report('stacked_statement', index - 1, index);
  else if (before === KIND.number || before === KIND.close || before === KIND.variable || before === KIND.dot) {
    if (index <= 2) report('spliced_statement', index - 1, index);
  }
}

/** `order by 10--`, `group by 1`: columns by number, at the beginning or after a value. */
export function positionClause({ tokens, statement, prosePairs, report }: Judgement, index: number): void {
  const { kinds, slots } = tokens;
  if (statement || prosePairs > 0 || slots[index + 1] !== BY || kinds[index + 1] !== KIND.word) return;
  if (slots[index] !== ORDER && slots[index] !== GROUP) return;
  const before = kinds[index - 1];
  const after = kinds[index + 2];
  const word = wordKinds(tokens, index + 2);
  const probing =
    (word & IS.delay) !== 0 || (kinds[index + 2] === KIND.open && (wordKinds(tokens, index + 3) & IS.select) !== 0);
  if (probing) report('clause', index, index + 2);
  else if ((index === 0 || before !== KIND.word) && after === KIND.number && isListEnd(tokens, index + 2)) {
    report('clause', index, index + 2);
  }
}

function isListEnd(tokens: Tokens, index: number): boolean {
  let at = index;
  while (tokens.kinds[at] === KIND.number && tokens.kinds[at + 1] === KIND.comma) at += 2;
  const kind = tokens.kinds[tokens.kinds[at] === KIND.number ? at + 1 : at];
  if (kind === KIND.end || kind === KIND.comment || kind === KIND.openComment || kind === KIND.close) return true;
  return (wordKinds(tokens, at) & (IS.delay | IS.union | IS.constant)) !== 0;
}

/** `into outfile`, `load data infile`, `procedure analyse(`. */
export function fileClause({ tokens, report }: Judgement, index: number): void {
  const slot = tokens.slots[index];
  const before = tokens.kinds[index - 1] === KIND.word ? tokens.slots[index - 1] : -1;
  if ((slot === OUTFILE || slot === DUMPFILE) && before === INTO) report('file_access', index - 1, index);
  else if (slot === INFILE && tokens.kinds[index + 1] === KIND.quote) report('file_access', index, index + 1);
  else if (slot === ANALYSE && tokens.kinds[index + 1] === KIND.open) report('probe', index, index + 1);
}

/** Functions and procedures that only attacks call, and delay functions. */
export function attackFunction(judgement: Judgement, index: number): void {
  const { tokens, prosePairs, report } = judgement;
  const { kinds, slots } = tokens;
  const after = kinds[index + 1];
  if (slots[index] === DELAY) {
    if (index > 0 && after === KIND.quote && (wordKinds(tokens, index - 1) & IS.statement) !== 0) {
      report('delay', index - 1, index + 1);
    }
    return;
  }
  if (slots[index] === SLEEP) {
    if (after === KIND.open && waits(judgement, index)) report('delay', index, index + 1);
    return;
  }
  const kind = wordKinds(tokens, index);
  if (after === KIND.open && !isMember(tokens, index)) {
    if ((kind & IS.delay) !== 0 || prosePairs === 0)
      report((kind & IS.delay) !== 0 ? 'delay' : 'attack_function', index, index + 1);
  } else if ((kind & IS.attack) !== 0 && isProcedureName(tokens, index)) report('attack_function', index, index);
}

/** A method of something is no function of a database. */
function isMember(tokens: Tokens, index: number): boolean {
  return tokens.kinds[index - 1] === KIND.dot && !isApart(tokens, index);
}

/** sleep() exists in most languages; here it is an operand in SQL. */
function waits({ tokens, prosePairs }: Judgement, index: number): boolean {
  const { kinds } = tokens;
  if (kinds[index + 2] !== KIND.number && kinds[index + 2] !== KIND.word && kinds[index + 2] !== KIND.open)
    return false;
  const before = kinds[index - 1];
  if (index === 0) return prosePairs === 0 && kinds[index + 3] === KIND.close && !isCallEnd(tokens, index + 4);
  if (before === KIND.word)
    return (wordKinds(tokens, index - 1) & (IS.connective | IS.select | IS.clause | IS.comparison)) !== 0;
  return (
    prosePairs === 0 &&
    (before === KIND.logic ||
      before === KIND.quote ||
      before === KIND.comparison ||
      before === KIND.open ||
      before === KIND.comma)
  );
}

function isCallEnd({ kinds }: Tokens, at: number): boolean {
  return kinds[at] === KIND.end || kinds[at] === KIND.semicolon || kinds[at] === KIND.word || kinds[at] === KIND.number;
}

/** `exec master..xp_cmdshell`, `utl_http.request`. */
function isProcedureName({ text, kinds, starts, slots }: Tokens, index: number): boolean {
  const start = starts[index] ?? 0;
  const extended = text.charCodeAt(start + 2) === 95 && (text.charCodeAt(start) | 32) === 120;
  if (extended)
    return kinds[index + 1] === KIND.quote || kinds[index - 1] === KIND.dot || kinds[index + 1] === KIND.open;
  return (
    kinds[index + 1] === KIND.dot &&
    kinds[index + 2] === KIND.word &&
    kinds[index + 3] === KIND.open &&
    slots[index] !== -1
  );
}

/** `ascii(substring(…`, `hex(version())`: a value taken apart, or a query about the database itself. */
export function probingCall({ tokens, prosePairs, statement, report }: Judgement, index: number): void {
  const { kinds, slots } = tokens;
  if (statement || prosePairs > 0 || kinds[index + 1] !== KIND.open || isMember(tokens, index)) return;
  const takesApart = slots[index] === ASCII || slots[index] === ORD || slots[index] === HEX || slots[index] === CONV;
  if (takesApart && (wordKinds(tokens, index + 2) & IS.scalar) !== 0 && kinds[index + 3] === KIND.open) {
    report('probe', index, index + 3);
    return;
  }
  let depth = 0;
  for (let at = index + 1; at < index + CALL_LOOK_MAX; at++) {
    const kind = kinds[at];
    if (kind === KIND.open) depth++;
    else if (kind === KIND.end || (kind === KIND.close && --depth === 0)) return;
    const asks =
      (wordKinds(tokens, at) & IS.about) !== 0 && kinds[at + 1] === KIND.open && kinds[at + 2] === KIND.close;
    if (asks || (kind === KIND.variable && slots[at] === 64)) {
      report('probe', index, at);
      return;
    }
  }
}

/** `1) or name = …`, `1 and (select`: a condition that continues after a value at the beginning. */
export function appendedCondition(judgement: Judgement, index: number): void {
  const { tokens, prosePairs, report } = judgement;
  const { kinds } = tokens;
  if (prosePairs > 0 || judgement.statement) return;
  const before = kinds[index - 1];
  const afterClose = before === KIND.close && isUnbalanced(tokens, index - 1);
  if (afterClose && afterCondition(judgement, index + 1) >= 0) report('appended_condition', index - 1, index);
}

/** More parentheses close than open up to here, within the first tokens. */
function isUnbalanced({ kinds }: Tokens, index: number): boolean {
  if (index > BETWEEN_MAX) return false;
  let depth = 0;
  for (let at = 0; at <= index; at++) {
    if (kinds[at] === KIND.open) depth++;
    else if (kinds[at] === KIND.close) depth--;
  }
  return depth < 0;
}
