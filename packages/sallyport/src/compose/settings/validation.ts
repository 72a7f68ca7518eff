import { list, oneOf } from '../../domain/settings/rows.ts';

/** How arguments and results are judged. */
export const VALIDATION_ROWS = [
  oneOf('sanitise.profile', ['default', 'strict', 'off'], {
    default: 'default',
    sentence: 'How arguments are searched for injection: by context, as plain values, or not at all.',
  }),
  oneOf('sanitise.results_profile', ['default', 'strict', 'off'], {
    default: 'off',
    sentence: 'The same for results; off by default, so that pages and files come back as they are.',
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
