/** Kinds of injection (VAL-04). */
export type Threat = 'sql_injection' | 'xss' | 'command_injection';

/** All kinds, in the order of the search. */
export const THREATS: readonly Threat[] = ['sql_injection', 'xss', 'command_injection'];

/**
 * How a text is judged. `default` judges by context, so that prose, code, Markdown and whole statements pass; `strict` is
 * for fields that should hold a plain value, where markup, statements and shell syntax have no business.
 */
export type SanitiseProfile = 'default' | 'strict';

/**
 * What happens to a text with a finding. `reject`: the value must not be used. `redact`: the finding is replaced by
 * `[removed: …]`. `escape`: the whole text is escaped so that it is harmless in its target, and can be read back: HTML
 * references for xss, doubled quotes for SQL, single quotes for a shell; findings that no escape makes safe are
 * redacted. `mark`: the text is unchanged; the finding is reported to the caller.
 */
export type SanitiseAction = 'reject' | 'redact' | 'escape' | 'mark';

/** One place in a text that looks like an attack. */
export interface InjectionFinding {
  readonly threat: Threat;
  /** Name of the matched rule, in snake_case; `operator_pattern` for an operator's own pattern. */
  readonly rule: string;
  /** First UTF-16 unit. */
  readonly start: number;
  /** After the last UTF-16 unit. */
  readonly end: number;
}

/** Takes a rule's match, in offsets of the text that the rule searched. */
export type Report = (rule: string, start: number, end: number) => void;
