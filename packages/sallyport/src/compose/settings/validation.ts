import { boolean, list, oneOf } from '../../domain/settings/rows.ts';

/** How arguments and results are judged. */
export const VALIDATION_SETTINGS = [
  boolean('validation.strict_mode', {
    default: true,
    sentence: 'A result that does not match its result schema fails the call; otherwise it passes with a warning.',
  }),
  boolean('validation.result_schema_required', {
    default: false,
    sentence: 'A tool without result schema fails with E3508 in strict mode, and warns otherwise.',
  }),
  boolean('validation.coerce_arguments', {
    default: true,
    sentence: 'Arguments of the wrong type are converted where that loses nothing.',
  }),
  boolean('validation.coerce_results', { default: true, sentence: 'The same for results.' }),
  boolean('validation.coerce_dates', {
    default: true,
    sentence:
      'Such a conversion also rewrites dates in another spelling to ISO 8601, when they name one day or instant.',
  }),
  boolean('validation.coerce_epochs', {
    default: false,
    sentence: 'It also takes Unix seconds and milliseconds of 2001 to 2100 where a date-time is asked for.',
  }),
  oneOf('validation.control_characters', ['refuse', 'strip', 'allow'], {
    default: 'refuse',
    sentence:
      'What becomes of control characters and byte order marks in texts of arguments; in names they are refused.',
  }),
  oneOf('sanitise.profile', ['default', 'strict', 'off'], {
    default: 'default',
    sentence: 'How arguments are searched for injection: by context, as plain values, or not at all.',
  }),
  oneOf('sanitise.results_profile', ['default', 'strict', 'off'], {
    default: 'off',
    sentence: 'The same for results; off by default, so that pages and files come back as they are.',
  }),
  boolean('sanitise.mark_results_only', {
    default: true,
    sentence: 'What is found in a result is only told in a warning; otherwise it is dealt with as in arguments.',
  }),
  oneOf('sanitise.sql_injection', ['reject', 'redact', 'escape', 'mark'], {
    default: 'reject',
    sentence: 'What becomes of an argument that holds SQL injection and becomes a part of a command, query or page.',
  }),
  oneOf('sanitise.xss', ['reject', 'redact', 'escape', 'mark'], {
    default: 'reject',
    sentence: 'The same for cross-site scripting.',
  }),
  oneOf('sanitise.command_injection', ['reject', 'redact', 'escape', 'mark'], {
    default: 'reject',
    sentence: 'The same for command injection.',
  }),
  oneOf('sanitise.content', ['mark', 'judge'], {
    default: 'mark',
    sentence:
      'What becomes of such findings in arguments that are content: told to policies and audit, or treated as in all others.',
  }),
  list('sanitise.patterns', {
    default: [],
    sentence: 'Own patterns as THREAT ACTION PATTERN, in the syntax of RE2, looked for beside the others.',
  }),
];
