import { text } from '../../domain/settings/rows.ts';

/** Which commands of shell tools are refused, and which are taken back when they fail. */
export const SHELL_ROWS = [
  text('shell.policy_file', {
    default: '',
    sentence:
      'TOML file with mode, blocked, allowed and asked, which stand in for the settings of these names; a change is in force within a second, without a restart. Empty: shell-policy.toml in the data folder.',
  }),
  text('shell.snapshot_folder', {
    default: '',
    sentence:
      'Where snapshots are while their commands run; it must lie outside of what tools may see. Empty: snapshots in the data folder.',
  }),
];
