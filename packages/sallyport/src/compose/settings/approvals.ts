import { boolean, text } from '../../domain/settings/rows.ts';

/** Where calls wait for a person. */
export const APPROVALS_ROWS = [
  text('approvals.file', {
    default: '',
    sentence:
      'TOML file that says who approves which tools, how many of them, and when others are asked; approvals.toml in the data folder when empty.',
  }),
  boolean('approvals.show_arguments', {
    default: true,
    sentence: 'Whether notices show the arguments, without secrets and personal data; the desk itself always does.',
  }),
];
