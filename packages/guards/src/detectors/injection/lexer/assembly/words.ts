import {
  CLASS_LETTER,
  GROUP_SHIFT,
  HASH_FACTOR,
  ROLE_ANCHOR,
  ROLE_CONTINUES,
  ROLE_KNOWN,
  SLOT_SHIFT,
  SLOTS,
  SPREAD,
  TELLS_PLACE,
  VARIABLE,
  WORD,
} from '../constants.ts';
import {
  ANCHORS,
  classOf,
  codeAt,
  DISPLACEMENTS,
  ENDS,
  foldOf,
  HASHES,
  i32At,
  isBelow,
  isDigit,
  KINDS,
  KNOWN_HASHES,
  ROLES,
  RUNS,
  SLOTS_OF,
  STARTS,
  setI32,
} from './memory.ts';
import { push, State } from './state.ts';

const BLANK: i32 = 32;
const DOLLAR: i32 = 36;
const AT_SIGN: i32 = 64;
const UNDERSCORE: i32 = 95;
/** Of a text in which others may see more words than are read here. */
const ALL_TOLD: i32 = -1;
/** Words that SQL does not know, in a row; the last token takes in those after them, for no rule looks further. */
const PLAIN_MAX: i32 = 2;

/** A word and those after it, with nothing but blanks between: most texts are little else. */
export function words(from: i32): i32 {
  let count = State.count;
  let anchors = State.anchorCount;
  let run = runAt(from);
  let told: i32 = 0;
  let prose: i32 = 0;
  let plain: i32 = 0;
  let start = from;
  let end = i32At(RUNS, run + 1);
  // Behind a number only a part of the run is left.
  let hash = i32At(RUNS, run) === from ? i32At(HASHES, run + 1) : hashOf(from, end);
  do {
    if (codeAt(end) === DOLLAR) {
      // A part of the word here, and the end of it for others.
      told = ALL_TOLD;
      end = afterDollars(end);
      hash = hashOf(start, end);
      while (i32At(RUNS, run + 2) < end) run += 2;
    }
    run += 2;
    // Without branches: none of them could be foreseen.
    const slot = slotOf(hash);
    const role = i32At(ROLES, slot) & isTheWord(slot, hash);
    told |= role >> TELLS_PLACE;
    const unknown = (role & ROLE_KNOWN) - 1;
    setI32(ANCHORS, anchors, count);
    anchors += i32((role & ROLE_ANCHOR) !== 0);
    plain = (plain + 1) & unknown;
    prose += isBelow(1, plain);
    setI32(STARTS, count, start);
    count -= isBelow(PLAIN_MAX, plain);
    store<u8>(KINDS + count, WORD as u8);
    setI32(SLOTS_OF, count, slot | unknown);
    setI32(ENDS, count++, end);
    start = end + isBelow(codeAt(end) ^ BLANK, 1);
    end = i32At(RUNS, run + 1);
    hash = i32At(HASHES, run + 1);
  } while (classOf(codeAt(start)) === CLASS_LETTER);
  State.run = run;
  State.told |= told;
  State.count = count;
  State.anchorCount = anchors;
  State.prosePairs += prose;
  return start;
}

/** The run that a place lies in. */
function runAt(at: i32): i32 {
  let run = State.run;
  while (i32At(RUNS, run + 1) <= at) run += 2;
  return run;
}

function afterDollars(from: i32): i32 {
  let at = from;
  while (codeAt(at) === DOLLAR || foldOf(codeAt(at)) !== 0) at++;
  return at;
}

function hashOf(start: i32, end: i32): i32 {
  let hash: i32 = 0;
  for (let at = start; at < end; at++) hash = hash * HASH_FACTOR + foldOf(codeAt(at));
  return hash;
}

/** Slot of the only word in the table that may have this hash: hash and displace (Fox, Chen, Heath 1992). */
function slotOf(hash: i32): i32 {
  const spread: i32 = hash * SPREAD;
  return ((spread >>> SLOT_SHIFT) ^ i32At(DISPLACEMENTS, spread >>> GROUP_SHIFT)) & (SLOTS - 1);
}

/** All bits when the word in a slot has this hash, else none. Two words with one hash would be taken for each other. */
function isTheWord(slot: i32, hash: i32): i32 {
  const other = i32At(KNOWN_HASHES, slot) ^ hash;
  return ((other | (0 - other)) >>> 31) - 1;
}

/** `@name`. Nobody else takes the sign for a part of the name, so the name tells what a word does. */
export function variable(start: i32): i32 {
  const twice = codeAt(start + 1) === AT_SIGN;
  const name = start + (twice ? 2 : 1);
  let at = name;
  let hash: i32 = 0;
  for (let folded = foldOf(codeAt(at)); folded !== 0; folded = foldOf(codeAt(++at))) hash = hash * HASH_FACTOR + folded;
  if (codeAt(at) === DOLLAR) {
    State.told = ALL_TOLD;
    at = afterDollars(at);
    hash = hashOf(name, at);
  }
  const slot = slotOf(hash);
  State.told |= (i32At(ROLES, slot) & isTheWord(slot, hash)) >> TELLS_PLACE;
  return push(VARIABLE, twice ? AT_SIGN : -1, start, at);
}

/** Whether a word with which a splice goes on stands here, and ends as others see words: `d'or` may be one. */
export function continues(from: i32): bool {
  let at = from;
  let hash: i32 = 0;
  for (let code = codeAt(at); isPlain(code); code = codeAt(++at)) hash = hash * HASH_FACTOR + foldOf(code);
  const slot = slotOf(hash);
  return (i32At(ROLES, slot) & isTheWord(slot, hash) & ROLE_CONTINUES) !== 0;
}

function isPlain(code: i32): bool {
  return isDigit(code) || code === UNDERSCORE || ((code | 32) >= 97 && (code | 32) <= 122);
}
