import { DEFAULT_REDACTION_KINDS } from '@sallyport/guards';
import { list, oneOf } from '../../domain/settings/rows.ts';

/** Redaction of logs and audit before they are written. */
export const REDACTION_ROWS = [
  list('redact.kinds', {
    default: DEFAULT_REDACTION_KINDS,
    sentence:
      'Personal data and secrets that are taken out of audit, log lines and what tools say of their failures. By kind, or by group: secrets, tokens, keys, credentials, paths, personal. path is the only other one.',
  }),
  list('redact.results', {
    default: [],
    sentence: 'The same for results of calls, before anybody sees them; by default they come as they are.',
  }),
  list('redact.fields', {
    default: [],
    sentence: 'Names of further fields, in any case and spelling, whose values are taken out.',
  }),
];

/** Search for injection in arguments and results. */
export const SANITISE_ROWS = [
  oneOf('sanitise.profile', ['default', 'strict', 'off'], {
    default: 'default',
    sentence: 'How arguments are searched for injection: by context, as plain values, or not at all.',
  }),
  oneOf('sanitise.results_profile', ['default', 'strict', 'off'], {
    default: 'default',
    sentence: 'The same for results. What is found is only marked, as long as sanitise.mark_results_only is on.',
  }),
  oneOf('sanitise.content', ['mark', 'judge'], {
    default: 'mark',
    sentence:
      'What becomes of such findings in arguments that are content: passed to policies and audit, or treated as in all others.',
  }),
  list('sanitise.patterns', {
    default: [],
    sentence: 'Own patterns as THREAT ACTION PATTERN, in the syntax of RE2, looked for beside the others.',
  }),
];

/** Actions on findings. */
export const SANITISE_ACTIONS = {
  sql_injection: oneOf('sanitise.sql_injection', ['reject', 'redact', 'escape', 'mark'], {
    default: 'reject',
    sentence: 'What becomes of an argument that holds SQL injection and becomes a part of a command, query or page.',
  }),
  xss: oneOf('sanitise.xss', ['reject', 'redact', 'escape', 'mark'], {
    default: 'reject',
    sentence: 'The same for cross-site scripting.',
  }),
  command_injection: oneOf('sanitise.command_injection', ['reject', 'redact', 'escape', 'mark'], {
    default: 'reject',
    sentence: 'The same for command injection.',
  }),
};
