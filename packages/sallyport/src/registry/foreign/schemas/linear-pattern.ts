import { RE2JS } from 're2js';

/** Longest pattern that is kept, in characters. */
const PATTERN_CHARS_MAX = 1024;

/** Verdicts of one import; patterns repeat a lot within a document. */
export type PatternVerdicts = Map<string, boolean>;

/**
 * Whether a pattern can be checked in time linear in the input: no look-around, no back-references. The others are left
 * to words, because a pattern of a foreign document must not be able to stall the layer.
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
