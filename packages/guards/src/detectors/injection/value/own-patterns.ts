import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { RE2JS } from 're2js';
import type { InjectionFinding, SanitiseAction, Threat } from '../finding.ts';

/** A pattern of the operator. */
export interface OwnPattern {
  readonly threat_type: Threat;
  /** In the syntax of RE2; `(?i)` at the beginning ignores case. */
  readonly pattern: string;
  /** Default: the action of the threat. */
  readonly action?: SanitiseAction | undefined;
}

/** One finding of an own pattern, with the action that it names. */
export interface OwnFinding extends InjectionFinding {
  readonly ownAction: OwnPattern['action'];
}

/** Patterns at most. */
const PATTERNS_MAX = 64;
/** Characters of one. */
const PATTERN_LENGTH_MAX = 1_024;
/** Most findings of one pattern in one text. */
const FINDINGS_MAX = 64;

/**
 * Makes one function of all patterns.
 * @returns undefined when there are none
 * @throws E3801 for an invalid pattern, or too many of them
 */
export function ownPatterns(patterns: readonly OwnPattern[]): ((text: string) => readonly OwnFinding[]) | undefined {
  if (patterns.length === 0) return undefined;
  if (patterns.length > PATTERNS_MAX) {
    throw new ToolLayerError('E3801', `There are more than ${PATTERNS_MAX} sanitisation patterns. Merge some.`);
  }
  const compiled = patterns.map((each) => ({ ...each, expression: compile(each.pattern) }));
  return (text) => {
    const found: OwnFinding[] = [];
    for (const { threat_type: threat, action, expression } of compiled) {
      const matcher = expression.matcher(text);
      const before = found.length;
      while (found.length - before < FINDINGS_MAX && matcher.find()) {
        const [start, end] = [matcher.start(), matcher.end()];
        if (end > start) found.push({ threat, rule: 'operator_pattern', start, end, ownAction: action });
      }
    }
    return found;
  };
}

const LINE = /^(sql_injection|xss|command_injection)\s+(reject|redact|escape|mark)\s+(\S.*)$/s;

/**
 * Parses patterns of settings: the threat, the action, and then the pattern.
 * @throws E3801 for an invalid line
 */
export function readPatterns(lines: readonly string[]): readonly OwnPattern[] {
  return lines.map((line) => {
    const [, threat, action, pattern = ''] = LINE.exec(line) ?? [];
    if (threat === undefined) {
      const example = 'sql_injection reject (?i)xp_\\w+';
      throw new ToolLayerError('E3801', `The sanitisation pattern "${line}" should look like: ${example}`);
    }
    return { threat_type: threat as Threat, action: action as OwnPattern['action'], pattern };
  });
}

function compile(pattern: string): RE2JS {
  if (pattern.length > PATTERN_LENGTH_MAX) {
    throw new ToolLayerError('E3801', `A sanitisation pattern is longer than ${PATTERN_LENGTH_MAX} characters.`);
  }
  try {
    return RE2JS.compile(pattern);
  } catch (cause) {
    const why = 'RE2 knows neither look-around nor back-references.';
    throw new ToolLayerError('E3801', `The sanitisation pattern ${JSON.stringify(pattern)} is not RE2. ${why}`, {
      cause,
    });
  }
}
