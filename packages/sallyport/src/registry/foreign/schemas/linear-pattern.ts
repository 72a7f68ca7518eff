import { RE2JS } from 're2js';

/** Longest pattern that is kept, in characters. */
const PATTERN_CHARS_MAX = 1024;

/** Verdicts of one import; patterns repeat often within a document. */
export type PatternVerdicts = Map<string, boolean>;

/**
 * True when a pattern can be checked in time linear in the input: no look-around, no back-references. Others are kept
 * only as words, because a foreign document's pattern must not be able to stall the layer.
 */
export function isLinear(pattern: string, verdicts: PatternVerdicts): boolean {
  let verdict = verdicts.get(pattern);
  if (verdict === undefined) {
    verdict = pattern.length <= PATTERN_CHARS_MAX && compiles(pattern);
    verdicts.set(pattern, verdict);
  }
  return verdict;
}

function compiles(pattern: string): boolean {
  try {
    RE2JS.compile(pattern);
    new RegExp(pattern, 'u');
    return true;
  } catch {
    return false;
  }
}
