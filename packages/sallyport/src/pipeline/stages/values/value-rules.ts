import type { OutputVerdict, Redactor, Sanitiser } from '@sallyport/guards';
import type { ControlCharacters } from '../../../validation/control-characters.ts';
import type { Turns } from './turns.ts';

/** How arguments and results are judged beside their schemas (VAL-02 to VAL-06); every one is a setting. */
export interface ValueRules {
  /** Whether arguments that do not fit are converted where that loses nothing; default true. */
  readonly coerceArguments: boolean;
  /** The same for results; default true. */
  readonly coerceResults: boolean;
  /** Whether a result that does not fit fails the call, or is passed with a warning; default true. */
  readonly strict: boolean;
  /** Whether a tool without result schema fails in strict mode (E3508); default false. */
  readonly resultSchemaRequired: boolean;
  /** Control characters in texts of arguments; default `refuse`. */
  readonly controlCharacters: ControlCharacters;
  /** Looks for injection in arguments; nobody does when absent. */
  readonly argumentSanitiser?: Sanitiser;
  /** Whether content is judged as strictly as what becomes a part of a command, query or page; default false. */
  readonly judgeContent: boolean;
  /** Looks for injection in results; nobody does when absent. */
  readonly resultSanitiser?: Sanitiser;
  /** Whether findings in results are only told, whatever the sanitiser would do; default true. */
  readonly markResultsOnly: boolean;
  /** Takes secrets, personal data and paths out of results (MOD-06); they stay as they are when absent. */
  readonly resultRedactor?: Pick<Redactor, 'value'>;
  /** Looks for instructions in results; nobody does when absent. */
  readonly scanOutput?: (result: unknown, pause: Turns) => Promise<OutputVerdict>;
}

/** Rules that hold when nothing else is said. */
export const VALUE_RULES: ValueRules = {
  coerceArguments: true,
  coerceResults: true,
  strict: true,
  resultSchemaRequired: false,
  controlCharacters: 'refuse',
  judgeContent: false,
  markResultsOnly: true,
};
