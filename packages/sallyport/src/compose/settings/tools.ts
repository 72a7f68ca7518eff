import { ExecutorKind } from '../../../api/schemas/tool-manifest.ts';
import { someOf, text } from '../../domain/settings/rows.ts';

/** Files and folders of the executors. */
export const TOOL_ROWS = [
  someOf('executors.order', ExecutorKind.enum, {
    default: ['native', 'shell', 'http', 'file', 'web', 'mcp', 'skill', 'composio'],
    sentence:
      'Kinds of tools that this instance runs, in the order in which their executors are asked whether a tool is theirs. Tools of a kind that is left out cannot be registered, and their calls are refused with E3901.',
  }),
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
