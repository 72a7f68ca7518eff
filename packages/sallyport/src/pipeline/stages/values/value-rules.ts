import type { OutputVerdict, Redactor, Sanitiser } from '@sallyport/guards';
import { boolean, oneOf } from '../../../domain/settings/rows.ts';
import type { ValuesOf } from '../../../domain/settings/setting.ts';
import type { Turns } from './turns.ts';

/** Rules for arguments and results besides their schemas (VAL-02 to VAL-06). */
export const VALUE_SETTINGS = {
  coerceArguments: boolean('validation.coerce_arguments', {
    default: true,
    sentence: 'Arguments of the wrong type are converted where that loses nothing.',
  }),
  coerceResults: boolean('validation.coerce_results', { default: true, sentence: 'The same for results.' }),
  strict: boolean('validation.strict_mode', {
    default: true,
    sentence: 'A result that does not match its result schema fails the call; otherwise it passes with a warning.',
  }),
  resultSchemaRequired: boolean('validation.result_schema_required', {
    default: false,
    sentence: 'A tool without result schema fails with E3508 in strict mode, and warns otherwise.',
  }),
  controlCharacters: oneOf('validation.control_characters', ['refuse', 'strip', 'allow'], {
    default: 'refuse',
    sentence:
      'What becomes of control characters and byte order marks in texts of arguments; in names they are refused.',
  }),
  markResultsOnly: boolean('sanitise.mark_results_only', {
    default: true,
    sentence: 'Whether findings in a result only cause a warning; otherwise they are treated as in arguments.',
  }),
};

/** Rules for arguments and results besides their schemas. */
export interface ValueRules extends ValuesOf<typeof VALUE_SETTINGS> {
  /** Looks for injection in arguments; no check when absent. */
  readonly argumentSanitiser?: Sanitiser;
  /** True when content is judged as strictly as parts of a command, query or page. */
  readonly judgeContent: boolean;
  /** Looks for injection in results; no check when absent. */
  readonly resultSanitiser?: Sanitiser;
  /** Removes secrets, personal data and paths from results (MOD-06); they stay when absent. */
  readonly resultRedactor?: Pick<Redactor, 'value'>;
  /** Looks for instructions in results. */
  readonly scanOutput: (result: unknown, pause: Turns) => Promise<OutputVerdict>;
}
