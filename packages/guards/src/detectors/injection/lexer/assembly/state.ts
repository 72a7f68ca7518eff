import {
  AT_ANCHOR_COUNT,
  AT_DOUBLE_QUOTES,
  AT_EXACT,
  AT_HIDDEN_COUNT,
  AT_HIDDEN_DOUBLE_QUOTES,
  AT_HIDDEN_PROSE_PAIRS,
  AT_HIDDEN_QUOTES,
  AT_LINE_COMMENTS,
  AT_PROSE_PAIRS,
  AT_QUOTES,
  AT_TOLD,
  AT_VERSION_COMMENT,
  ROOM,
  WORD,
} from '../constants.ts';
import { ANCHORS, codeAt, ENDS, i32At, KINDS, REPORT, ROLES, SLOTS_OF, STARTS, setI32 } from './memory.ts';

/** One text while it is cut, and what was found in it. */
export class State {
  static length: i32 = 0;
  static plusIsBlank: bool = false;
  /** Leaves out comments with what follows them on their line. */
  static skipLines: bool = false;
  /** The next run that a word may be taken from. */
  static run: i32 = 0;
  /** Quotes of each sort on this line. */
  static single: i32 = 0;
  static double: i32 = 0;
  /** No comment ends from here on, so that a text of nothing but openings stays linear; -1 when unknown. */
  static noClosingFrom: i32 = -1;

  static told: i32 = 0;
  static count: i32 = 0;
  static anchorCount: i32 = 0;
  static prosePairs: i32 = 0;
  static quotes: i32 = 0;
  static doubleQuotes: i32 = 0;
  static versionComment: bool = false;
  static lineComments: bool = false;

  /** What comments to the end of a line would hide; see `Hidden`. */
  static hiddenCount: i32 = 0;
  static hiddenProsePairs: i32 = 0;
  static hiddenQuotes: i32 = 0;
  static hiddenDoubleQuotes: i32 = 0;
  static exact: bool = true;
  /** The first comment of the line that is cut, as the index of its token, and what came before it; -1 for none. */
  static open: i32 = -1;
  static prosePairsBefore: i32 = 0;
  static quotesBefore: i32 = 0;
  static doubleQuotesBefore: i32 = 0;
}

export function begin(length: i32, told: i32, plusIsBlank: bool, skipLines: bool): void {
  State.length = length;
  State.plusIsBlank = plusIsBlank;
  State.skipLines = skipLines;
  State.run = State.single = State.double = 0;
  State.noClosingFrom = State.open = -1;
  State.told = told;
  State.count = State.anchorCount = State.prosePairs = State.quotes = State.doubleQuotes = 0;
  State.versionComment = State.lineComments = false;
  State.hiddenCount = State.hiddenProsePairs = State.hiddenQuotes = State.hiddenDoubleQuotes = 0;
  State.exact = true;
}

/** Closes the list of tokens, and leaves what was found where `lex` looks for it. */
export function report(): i32 {
  const count = State.count;
  memory.fill(KINDS + count, 0, ROOM);
  setI32(STARTS, count, State.length);
  setI32(ENDS, count, State.length);
  setI32(REPORT, AT_TOLD, State.told);
  setI32(REPORT, AT_ANCHOR_COUNT, State.anchorCount);
  setI32(REPORT, AT_PROSE_PAIRS, State.prosePairs);
  setI32(REPORT, AT_QUOTES, State.quotes);
  setI32(REPORT, AT_DOUBLE_QUOTES, State.doubleQuotes);
  setI32(REPORT, AT_VERSION_COMMENT, i32(State.versionComment));
  setI32(REPORT, AT_LINE_COMMENTS, i32(State.lineComments));
  setI32(REPORT, AT_HIDDEN_COUNT, State.hiddenCount);
  setI32(REPORT, AT_HIDDEN_PROSE_PAIRS, State.hiddenProsePairs);
  setI32(REPORT, AT_HIDDEN_QUOTES, State.hiddenQuotes);
  setI32(REPORT, AT_HIDDEN_DOUBLE_QUOTES, State.hiddenDoubleQuotes);
  setI32(REPORT, AT_EXACT, i32(State.exact));
  return count;
}

/** Adds a token, and answers with where it ends. */
export function push(kind: i32, slot: i32, start: i32, end: i32): i32 {
  const index = State.count;
  store<u8>(KINDS + index, kind as u8);
  setI32(SLOTS_OF, index, slot);
  setI32(STARTS, index, start);
  setI32(ENDS, index, end);
  State.count = index + 1;
  return end;
}

/** A rule begins at the token that was added last. */
export function anchor(): void {
  setI32(ANCHORS, State.anchorCount++, State.count - 1);
}

/** Something that is no word of prose stands before a place on its line: a comment there may hide what a rule should see. */
export function isBehindValue(at: i32): bool {
  const last = State.count - 1;
  if (last < 0) return false;
  for (let from = i32At(ENDS, last); from < at; from++) if (codeAt(from) === 10) return false;
  if (load<u8>(KINDS + last) !== WORD) return true;
  const slot = i32At(SLOTS_OF, last);
  return slot >= 0 && i32At(ROLES, slot) !== 0;
}
