import { DEFAULT_REDACTION_KINDS } from '../../detectors/redaction/kinds.ts';
import type { Setting } from './setting.ts';

/** What is taken out of logs and audit before it is written. */
export const REDACTION_SETTINGS = [
  {
    key: 'redact.kinds',
    variable: 'SALLYPORT_REDACT_KINDS',
    type: 'list',
    default: DEFAULT_REDACTION_KINDS,
    sentence:
      'Personal data and secrets that are taken out of audit, stored errors and log lines. path is the only other one.',
  },
  {
    key: 'redact.fields',
    variable: 'SALLYPORT_REDACT_FIELDS',
    type: 'list',
    default: [],
    sentence: 'Names of further fields, in any case and spelling, whose values are taken out.',
  },
] as const satisfies readonly Setting[];
