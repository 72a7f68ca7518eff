import type { Setting } from './setting.ts';

/** How arguments and results are judged. */
export const VALIDATION_SETTINGS = [
  {
    key: 'validation.strict_mode',
    type: 'boolean',
    default: true,
    sentence: 'A result that does not match its result schema fails the call; otherwise it passes with a warning.',
  },
  {
    key: 'validation.result_schema_required',
    type: 'boolean',
    default: false,
    sentence: 'A tool without result schema fails with E3508 in strict mode, and warns otherwise.',
  },
  {
    key: 'validation.coerce_arguments',
    type: 'boolean',
    default: true,
    sentence: 'Arguments of the wrong type are converted where that loses nothing.',
  },
  {
    key: 'validation.coerce_results',
    type: 'boolean',
    default: true,
    sentence: 'The same for results.',
  },
  {
    key: 'validation.coerce_dates',
    type: 'boolean',
    default: true,
    sentence:
      'Such a conversion also rewrites dates in another spelling to ISO 8601, when they name one day or instant.',
  },
  {
    key: 'validation.coerce_epochs',
    type: 'boolean',
    default: false,
    sentence: 'It also takes Unix seconds and milliseconds of 2001 to 2100 where a date-time is asked for.',
  },
  {
    key: 'validation.control_characters',
    type: 'string',
    oneOf: ['refuse', 'strip', 'allow'],
    default: 'refuse',
    sentence:
      'What becomes of control characters and byte order marks in texts of arguments; in names they are refused.',
  },
  {
    key: 'sanitise.profile',
    type: 'string',
    oneOf: ['default', 'strict', 'off'],
    default: 'default',
    sentence: 'How arguments are searched for injection: by context, as plain values, or not at all.',
  },
  {
    key: 'sanitise.results_profile',
    type: 'string',
    oneOf: ['default', 'strict', 'off'],
    default: 'off',
    sentence: 'The same for results; off by default, so that pages and files come back as they are.',
  },
  {
    key: 'sanitise.mark_results_only',
    type: 'boolean',
    default: true,
    sentence: 'What is found in a result is only told in a warning; otherwise it is dealt with as in arguments.',
  },
  {
    key: 'sanitise.sql_injection',
    type: 'string',
    oneOf: ['reject', 'redact', 'escape', 'mark'],
    default: 'reject',
    sentence: 'What becomes of an argument that holds SQL injection and becomes a part of a command, query or page.',
  },
  {
    key: 'sanitise.xss',
    type: 'string',
    oneOf: ['reject', 'redact', 'escape', 'mark'],
    default: 'reject',
    sentence: 'The same for cross-site scripting.',
  },
  {
    key: 'sanitise.command_injection',
    type: 'string',
    oneOf: ['reject', 'redact', 'escape', 'mark'],
    default: 'reject',
    sentence: 'The same for command injection.',
  },
  {
    key: 'sanitise.content',
    type: 'string',
    oneOf: ['mark', 'judge'],
    default: 'mark',
    sentence:
      'What becomes of such findings in arguments that are content: told to policies and audit, or treated as in all others.',
  },
  {
    key: 'sanitise.patterns',
    type: 'list',
    default: [],
    sentence: 'Own patterns as THREAT ACTION PATTERN, in the syntax of RE2, looked for beside the others.',
  },
] as const satisfies readonly Setting[];
