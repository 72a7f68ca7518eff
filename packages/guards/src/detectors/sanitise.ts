import { type DetectOptions, findInjection } from './injection/detect-injection.ts';
import type { InjectionFinding } from './injection/finding.ts';
import { type OwnPattern, readPatterns } from './injection/value/own-patterns.ts';
import { createValueSanitiser } from './injection/value/sanitise-value.ts';
import type { Sanitised, SanitiseOptions, Sanitiser } from './injection/value/sanitiser.ts';

export type { DetectOptions } from './injection/detect-injection.ts';
export type { InjectionFinding, SanitiseAction, SanitiseProfile, Threat } from './injection/finding.ts';
export { THREATS } from './injection/finding.ts';
export type { OwnPattern } from './injection/value/own-patterns.ts';
export type {
  Sanitised,
  SanitiseOptions,
  Sanitiser,
  ValueFinding,
} from './injection/value/sanitiser.ts';

/**
 * Looks for SQL injection, cross-site scripting and command injection in one text (VAL-04). Tokens are judged by their
 * context, with escapes of URLs and programs decoded; the time is linear in the length of the text.
 * @returns at most 64 findings per threat, in the order of the text; empty when it is clean
 */
export function detectInjection(text: string, options: DetectOptions = {}): readonly InjectionFinding[] {
  return findInjection(text, options);
}

/**
 * Makes a reusable sanitiser.
 * @throws E3801 when one of the patterns is not valid in RE2, or there are too many
 */
export function createSanitiser(options: SanitiseOptions = {}): Sanitiser {
  return createValueSanitiser(options);
}

/** Sanitises a single value. */
export function sanitise(value: unknown, options: SanitiseOptions = {}): Sanitised {
  return createSanitiser(options).check(value);
}

/**
 * Own patterns as settings name them: `xss redact (?i)badword`, one a line.
 * @throws E3801 for a line that does not name threat, action and pattern
 */
export function patternsOf(lines: readonly string[]): readonly OwnPattern[] {
  return readPatterns(lines);
}
