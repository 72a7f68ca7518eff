import { text } from '../../domain/settings/rows.ts';

/** Files and folders of the executors. */
export const TOOL_ROWS = [
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
  text('functions.folder', {
    default: '',
    sentence: 'Folder of JavaScript modules that manifests of kind native may name by path; none when empty.',
  }),
];
