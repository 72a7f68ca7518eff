import { DEFAULT_REDACTION_KINDS } from '@sallyport/guards';
import type { Setting } from './setting.ts';

/** What is taken out of logs and audit before it is written. */
export const REDACTION_SETTINGS = [
  {
    key: 'redact.kinds',
    type: 'list',
    default: DEFAULT_REDACTION_KINDS,
    sentence:
      'Personal data and secrets that are taken out of audit, log lines and what tools say of their failures. By kind, or by group: secrets, tokens, keys, credentials, paths, personal. path is the only other one.',
  },
  {
    key: 'redact.results',
    type: 'list',
    default: [],
    sentence: 'The same for results of calls, before anybody sees them; by default they come as they are.',
  },
  {
    key: 'redact.fields',
    type: 'list',
    default: [],
    sentence: 'Names of further fields, in any case and spelling, whose values are taken out.',
  },
] as const satisfies readonly Setting[];
