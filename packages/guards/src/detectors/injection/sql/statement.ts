import { KIND, type Tokens, wordKinds } from './tokens.ts';
import { IS, slotFor } from './words.ts';

const SELECT = slotFor('select');
const FROM = slotFor('from');
const INTO = slotFor('into');
const SET = slotFor('set');
const WITH = slotFor('with');
const EXPLAIN = slotFor('explain');
const AS = slotFor('as');
const [INSERT, UPDATE, DELETE] = [slotFor('insert'), slotFor('update'), slotFor('delete')];
const [DROP, CREATE, ALTER, TRUNCATE] = [slotFor('drop'), slotFor('create'), slotFor('alter'), slotFor('truncate')];
const [EXEC, EXECUTE, DECLARE] = [slotFor('exec'), slotFor('execute'), slotFor('declare')];
const [SHUTDOWN, WAITFOR, DELAY] = [slotFor('shutdown'), slotFor('waitfor'), slotFor('delay')];

/** Tokens of a list between SELECT and FROM. */
const LIST_TOKENS_MAX = 64;

/** True when an SQL statement, not an English word, begins here. */
export function beginsStatement(tokens: Tokens, index: number): boolean {
  const { kinds, slots } = tokens;
  if (kinds[index] !== KIND.word) return false;
  const next = slots[index + 1] ?? -1;
  const nextKind = kinds[index + 1];
  switch (slots[index]) {
    case SELECT:
      return isSelectList(tokens, index + 1);
    case INSERT:
      return next === INTO && nextKind === KIND.word;
    case DELETE:
      return next === FROM && nextKind === KIND.word && !isProse(tokens, index + 2);
    case UPDATE:
      return nextKind === KIND.word && setFollows(tokens, index + 2);
    case DROP:
    case CREATE:
    case ALTER:
    case TRUNCATE:
      return (wordKinds(tokens, index + 1) & IS.object) !== 0 && !isProse(tokens, index + 2);
    case EXEC:
    case EXECUTE:
      if (nextKind === KIND.open) return kinds[index + 2] === KIND.variable;
      return nextKind === KIND.word && isProcedure(tokens, index + 1);
    case DECLARE:
      return nextKind === KIND.variable;
    case SHUTDOWN:
      return nextKind === KIND.end || nextKind === KIND.semicolon || nextKind === KIND.comment;
    case WAITFOR:
      return next === DELAY;
    case WITH:
      return nextKind === KIND.word && slots[index + 2] === AS && kinds[index + 3] === KIND.open;
    case EXPLAIN:
      return beginsStatement(tokens, index + 1);
    default:
      return false;
  }
}

/** True when a list of columns follows SELECT: constants, names and calls between commas, or one before FROM. */
export function isSelectList(tokens: Tokens, index: number): boolean {
  const { kinds, slots } = tokens;
  let at = index;
  while ((wordKinds(tokens, at) & (IS.prefix | IS.quantity)) !== 0) at++;
  const first = kinds[at];
  if (first === KIND.number) return !isProse(tokens, at + 1);
  if (first === KIND.word) {
    const known = wordKinds(tokens, at);
    const next = kinds[at + 1];
    if (slots[at] === SELECT || slots[at] === FROM) return false;
    if ((known & (IS.constant | IS.catalogue | IS.attack)) !== 0) return true;
    if ((known & (IS.scalar | IS.about | IS.delay)) !== 0 && next === KIND.open) return true;
    return reachesFrom(tokens, at);
  }
  return (
    first === KIND.quote || first === KIND.variable || first === KIND.open || isStar(tokens, at) || isSign(tokens, at)
  );
}

/** Names with commas and dots up to FROM with a name after it. */
function reachesFrom(tokens: Tokens, index: number): boolean {
  const { kinds, slots } = tokens;
  let name = false;
  for (let at = index; at < index + LIST_TOKENS_MAX; at++) {
    if (slots[at] === FROM && kinds[at] === KIND.word) return kinds[at + 1] !== KIND.end && !isProse(tokens, at + 1);
    const word = kinds[at] === KIND.word;
    // Two adjacent words are prose, except for an alias.
    if (word && name && slots[at] !== AS && slots[at - 1] !== AS) return false;
    if (!word && kinds[at] !== KIND.comma && kinds[at] !== KIND.dot && kinds[at] !== KIND.arithmetic) {
      if (kinds[at] !== KIND.open && kinds[at] !== KIND.close) return false;
    }
    name = word;
  }
  return false;
}

/** Two unknown words in a row from here on. */
function isProse(tokens: Tokens, index: number): boolean {
  return isPlain(tokens, index) && isPlain(tokens, index + 1);
}

function isPlain(tokens: Tokens, index: number): boolean {
  return tokens.kinds[index] === KIND.word && wordKinds(tokens, index) === 0;
}

function setFollows({ slots, kinds }: Tokens, index: number): boolean {
  let at = index;
  while (kinds[at] === KIND.dot && kinds[at + 1] === KIND.word) at += 2;
  return kinds[at] === KIND.word && slots[at] === SET;
}

/** `master..xp_cmdshell`, `sp_who`, `xp_dirtree`. */
function isProcedure({ text, kinds, starts }: Tokens, index: number): boolean {
  if (kinds[index + 1] === KIND.dot) return true;
  const start = starts[index] ?? 0;
  const head = text.slice(start, start + 3).toLowerCase();
  return head === 'xp_' || head === 'sp_';
}

function isStar({ kinds, slots }: Tokens, index: number): boolean {
  return kinds[index] === KIND.arithmetic && slots[index] === 42;
}

/** A sign before a constant or a parenthesis. */
function isSign({ kinds }: Tokens, index: number): boolean {
  const next = kinds[index + 1];
  return kinds[index] === KIND.arithmetic && (next === KIND.number || next === KIND.open || next === KIND.quote);
}

/** True when the text is one or more statements and nothing is open or missing at its end. */
export function isWholeStatement(tokens: Tokens): boolean {
  const { kinds, count } = tokens;
  if (count === 0 || !beginsStatement(tokens, 0)) return false;
  if (tokens.quotes % 2 !== 0 || tokens.doubleQuotes % 2 !== 0) return false;
  let depth = 0;
  for (let at = 0; at < count && depth >= 0; at++) {
    if (kinds[at] === KIND.open) depth++;
    else if (kinds[at] === KIND.close) depth--;
    else if (kinds[at] === KIND.openComment) return false;
  }
  return depth === 0 && mayEnd(tokens, count - 1);
}

function mayEnd(tokens: Tokens, last: number): boolean {
  const kind = tokens.kinds[last];
  if (kind === KIND.comment || kind === KIND.comma || kind === KIND.comparison || kind === KIND.logic) return false;
  if (kind === KIND.arithmetic) return tokens.slots[last] === 42;
  const open = IS.connective | IS.comparison | IS.union | IS.select;
  if ((wordKinds(tokens, last) & open) !== 0) return false;
  return tokens.slots[last] !== FROM || kind !== KIND.word;
}
