import type { Setting } from './setting.ts';

/** Where calls wait for a person. */
export const APPROVALS_SETTINGS = [
  {
    key: 'approvals.file',
    type: 'string',
    default: '',
    sentence:
      'TOML file that says who approves which tools, how many of them, and when others are asked; approvals.toml in the data folder when empty.',
  },
  {
    key: 'approvals.four_eyes',
    type: 'boolean',
    default: true,
    sentence: 'Whoever asked for a call cannot decide on it, where no rule of the file says otherwise.',
  },
  {
    key: 'approvals.pending_max',
    type: 'integer',
    unit: 'calls',
    minimum: 1,
    default: 1000,
    sentence: 'Calls of one tenant that wait for a person at once; more are refused with E3803.',
  },
  {
    key: 'approvals.yes_valid_seconds',
    type: 'integer',
    unit: 'seconds',
    minimum: 1,
    default: 900,
    sentence: 'How long a yes is good for when the call cannot go on at once; then it asks again.',
  },
  {
    key: 'approvals.sweep_seconds',
    type: 'number',
    unit: 'seconds',
    minimum: 0.05,
    default: 15,
    sentence:
      'How often each instance looks for approvals that expired, that others have to be asked for, or that a crash left.',
  },
  {
    key: 'approvals.remember_days_max',
    type: 'number',
    unit: 'days',
    minimum: 0,
    default: 30,
    sentence: 'Longest life of a standing rule ("always allow"); 0 allows none.',
  },
  {
    key: 'approvals.delegation_days_max',
    type: 'number',
    unit: 'days',
    minimum: 0,
    default: 30,
    sentence: 'Longest time for which an approver may let somebody else decide; 0 allows none.',
  },
  {
    key: 'approvals.show_arguments',
    type: 'boolean',
    default: true,
    sentence: 'Whether notices show the arguments, without secrets and personal data; the desk itself always does.',
  },
] as const satisfies readonly Setting[];
