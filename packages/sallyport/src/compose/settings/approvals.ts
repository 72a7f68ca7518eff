import { boolean, integer, number, text } from '../../domain/settings/rows.ts';

/** Where calls wait for a person. */
export const APPROVALS_SETTINGS = [
  text('approvals.file', {
    default: '',
    sentence:
      'TOML file that says who approves which tools, how many of them, and when others are asked; approvals.toml in the data folder when empty.',
  }),
  boolean('approvals.four_eyes', {
    default: true,
    sentence: 'Whoever asked for a call cannot decide on it, where no rule of the file says otherwise.',
  }),
  integer('approvals.pending_max', {
    unit: 'calls',
    minimum: 1,
    default: 1000,
    sentence: 'Calls of one tenant that wait for a person at once; more are refused with E3803.',
  }),
  integer('approvals.yes_valid_seconds', {
    unit: 'seconds',
    minimum: 1,
    default: 900,
    sentence: 'How long a yes is good for when the call cannot go on at once; then it asks again.',
  }),
  number('approvals.sweep_seconds', {
    unit: 'seconds',
    minimum: 0.05,
    default: 15,
    sentence:
      'How often each instance looks for approvals that expired, that others have to be asked for, or that a crash left.',
  }),
  number('approvals.remember_days_max', {
    unit: 'days',
    minimum: 0,
    default: 30,
    sentence: 'Longest life of a standing rule ("always allow"); 0 allows none.',
  }),
  number('approvals.delegation_days_max', {
    unit: 'days',
    minimum: 0,
    default: 30,
    sentence: 'Longest time for which an approver may let somebody else decide; 0 allows none.',
  }),
  boolean('approvals.show_arguments', {
    default: true,
    sentence: 'Whether notices show the arguments, without secrets and personal data; the desk itself always does.',
  }),
];
