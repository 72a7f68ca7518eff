import { MiB } from '@sallyport/std/bytes';
import { RE2JS } from 're2js';
import type { FilterConfidence, FilteredText } from '../output-filter.ts';

/** What a declared filter does with the lines of a text. */
export interface LineRules {
  /** Lines that match one of these stay, whatever else they match. */
  readonly keep: readonly string[];
  /** Lines that match one of these are left out. */
  readonly drop: readonly string[];
  /** What becomes of all other lines. */
  readonly others: 'keep' | 'drop';
}

/** Instructions of one compiled pattern; each may cost time for every character. */
const INSTRUCTIONS_MAX = 500;
/** Characters of a line that patterns look at. */
const LINE_CHARACTERS_MAX = 4096;
/** Characters times patterns; a longer text is not filtered. */
const WORK_MAX = 64 * MiB;

/** Tests a text in time linear in it, whatever the pattern: RE2. */
export type TextTest = (text: string) => boolean;

/** @throws SyntaxError saying what is wrong with the pattern */
export function compilePattern(pattern: string): TextTest {
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(pattern);
  } catch (cause) {
    throw new SyntaxError(cause instanceof Error ? cause.message : 'bad syntax', { cause });
  }
  if (compiled.programSize() > INSTRUCTIONS_MAX) throw new SyntaxError('it is too large; use smaller repeat counts');
  return (text) => compiled.test(text);
}

/**
 * A filter of lines; blank ones stay unless a pattern drops them. A line that no pattern matches makes the result
 * `partial`; a text without any line that one matches is not what the filter is for.
 * @throws SyntaxError for a pattern
 */
export function lineFilter(
  rules: LineRules,
): (text: string, pause: () => Promise<void> | undefined) => Promise<FilteredText> {
  const keep = rules.keep.map(compilePattern);
  const drop = rules.drop.map(compilePattern);
  return async (text, pause) => {
    if (text.length * (keep.length + drop.length) > WORK_MAX) return { text, confidence: 'fallback' };
    const lines = text.split('\n');
    const kept: string[] = [];
    let known = 0;
    let blank = 0;
    for (const line of lines) {
      const seen = line.slice(0, LINE_CHARACTERS_MAX).trimEnd();
      const isKept = keep.some((test) => test(seen));
      const isDropped = !isKept && drop.some((test) => test(seen));
      if (seen === '') blank += 1;
      else if (isKept || isDropped) known += 1;
      if (isKept || (!isDropped && (rules.others === 'keep' || seen === ''))) kept.push(line);
      const due = pause();
      if (due !== undefined) await due;
    }
    return { text: kept.join('\n'), confidence: confidenceOf(known, lines.length - blank) };
  };
}

function confidenceOf(known: number, all: number): FilterConfidence {
  if (known === 0) return 'fallback';
  return known < all ? 'partial' : 'full';
}
