import { DEFAULT_REDACTION_KINDS } from '@sallyport/guards';
import { list } from '../../domain/settings/rows.ts';

/** What is taken out of logs and audit before it is written. */
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
