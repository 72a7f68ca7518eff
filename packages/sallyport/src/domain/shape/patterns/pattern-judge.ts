import { messageOf } from '@sallyport/std/error/message-of';
import { compileLinearPattern } from './linear-pattern.ts';

/** Most work of all patterns of one schema for one character; see {@link LinearPattern}. */
export const SCHEMA_STEPS_MAX = 5_000;

/** Why a pattern cannot be checked in linear time, in words; undefined when it can. */
export type PatternJudge = (pattern: string) => string | undefined;

/**
 * Judges patterns that belong together, each text once.
 * @param stepsMax most work of all of them for one character; those after it are refused
 */
export function patternJudge(stepsMax: number): PatternJudge {
  const known = new Map<string, string | undefined>();
  let steps = 0;
  const judged = (pattern: string): string | undefined => {
    if (steps > stepsMax) return 'all patterns of the schema together are too large';
    try {
      steps += compileLinearPattern(pattern).stepsPerCharacter;
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  };
  return (pattern) => {
    if (!known.has(pattern)) known.set(pattern, judged(pattern));
    return known.get(pattern);
  };
}
