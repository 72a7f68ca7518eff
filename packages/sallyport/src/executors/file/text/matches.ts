import type { LinePattern } from './line-pattern.ts';
import { fitting, jsonBytes } from './line-window.ts';

/** One matching line. */
export interface Match {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

/** Matching lines of many texts, within one byte budget. */
export interface Matches {
  /** Searches one text. Yields now and then, so that its runner can stop it; stops by itself when full. */
  search(text: string, path: string): Generator<void>;
  /** True when there were more matches than were taken. */
  isFull(): boolean;
  found(): readonly Match[];
}

export interface MatchOptions {
  readonly pattern: LinePattern;
  readonly context: number;
  /** Most matches. */
  readonly limit: number;
  /** Most characters of a line that are searched. */
  readonly lineMax: number;
  /** Most bytes of all matches together, in JSON. */
  readonly bytesMax: number;
}

/** Characters searched before yielding; some milliseconds at RE2's speed. */
const STRIDE = 65_536;
/** JSON overhead per match, in bytes. */
const MATCH_BYTES = 80;
/** Most bytes shown of a line, in JSON. */
const SHOWN_LINE_BYTES = 1000;

export function createMatches({ pattern, context, limit, lineMax, bytesMax }: MatchOptions): Matches {
  const found: Match[] = [];
  let room = bytesMax;
  let full = false;

  const take = (match: Match): void => {
    const { before = [], after = [] } = match;
    const lines = [match.text, ...before, ...after];
    room -= lines.reduce((sum, line) => sum + jsonBytes(line) + 3, MATCH_BYTES + jsonBytes(match.path));
    full = room < 0 || found.length === limit;
    if (!full) found.push(match);
  };
  return {
    isFull: () => full,
    found: () => found,
    *search(text, path) {
      let line = 1;
      let counted = 0;
      let yieldedAt = 0;
      for (let at = 0; at < text.length && !full; ) {
        const hit = pattern.candidate(text, at);
        if (hit === -1) return;
        const start = text.lastIndexOf('\n', hit - 1) + 1;
        const lineStart = hit === 0 ? 0 : start;
        const end = endOfLine(text, hit);
        if (pattern.test(lineAt(text, lineStart, end, lineMax))) {
          line += lineEnds(text, counted, lineStart);
          counted = lineStart;
          take({ path, line, text: shownLine(text, lineStart, end), ...around(text, lineStart, end, context) });
        }
        at = end + 1;
        if (at - yieldedAt < STRIDE) continue;
        yieldedAt = at;
        yield;
      }
    },
  };
}

const endOfLine = (text: string, from: number): number => {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
};

/** The line without its line end (LF or CRLF). */
function lineAt(text: string, start: number, end: number, most: number): string {
  const stop = end > start && text[end - 1] === '\r' ? end - 1 : end;
  return text.slice(start, Math.min(stop, start + most));
}

const shownLine = (text: string, start: number, end: number): string =>
  fitting(lineAt(text, start, end, SHOWN_LINE_BYTES), SHOWN_LINE_BYTES);

function lineEnds(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

function around(text: string, start: number, end: number, context: number): Pick<Match, 'before' | 'after'> {
  if (context === 0) return {};
  const before: string[] = [];
  for (let stop = start - 1; stop >= 0 && before.length < context; ) {
    const first = stop === 0 ? 0 : text.lastIndexOf('\n', stop - 1) + 1;
    before.unshift(shownLine(text, first, stop));
    stop = first - 1;
  }
  const after: string[] = [];
  for (let next = end + 1; next < text.length && after.length < context; ) {
    const stop = endOfLine(text, next);
    after.push(shownLine(text, next, stop));
    next = stop + 1;
  }
  return { before, after };
}
