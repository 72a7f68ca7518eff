/** Kinds of injection that are looked for (VAL-04). */
export type Threat = 'sql_injection' | 'xss' | 'command_injection';

/** All of them, in the order in which they are looked for. */
export const THREATS: readonly Threat[] = ['sql_injection', 'xss', 'command_injection'];

/**
 * How a text is judged. `default` judges by context, so that prose, code, Markdown and whole statements pass; `strict` is
 * for fields that should hold a plain value, where markup, statements and shell syntax have no business.
 */
export type SanitiseProfile = 'default' | 'strict';

/**
 * What becomes of a text with a finding. `reject`: the value is not to be used. `redact`: what was found gives way to
 * `[removed: …]`. `escape`: the whole text is written so that it does nothing where it is put, and can be read back:
 * HTML references for xss, doubled quotes for SQL, single quotes for a shell; what no escape makes safe is redacted.
 * `mark`: the text is not changed; the finding is reported to the caller.
 */
export type SanitiseAction = 'reject' | 'redact' | 'escape' | 'mark';

/** One place in a text that looks like an attack. */
export interface InjectionFinding {
  readonly threat: Threat;
  /** Name of what was recognised, in snake_case; `operator_pattern` for an operator's own pattern. */
  readonly rule: string;
  /** First UTF-16 unit. */
  readonly start: number;
  /** After the last UTF-16 unit. */
  readonly end: number;
}

/** Takes what a rule recognised, in offsets of the text that the rule saw. */
export type Report = (rule: string, start: number, end: number) => void;
