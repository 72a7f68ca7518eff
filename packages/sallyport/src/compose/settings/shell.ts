import type { Setting } from './setting.ts';

/** Which commands of shell tools are refused, and which are taken back when they fail. */
export const SHELL_SETTINGS = [
  {
    key: 'shell.mode',
    type: 'string',
    oneOf: ['blocklist', 'allowlist'],
    default: 'blocklist',
    sentence:
      'blocklist: a command runs unless a rule of the command screen or shell.blocked blocks it, or asks a person first; allowlist: only commands of shell.allowed run, and of them none that is blocked.',
  },
  {
    key: 'shell.blocked',
    type: 'list',
    default: [],
    sentence:
      'Commands that are blocked beside those that the rules block, each by its first words ("git push"; * stands for any characters of a word).',
  },
  {
    key: 'shell.allowed',
    type: 'list',
    default: [],
    sentence:
      'Commands that run without a question, and the only ones that run under an allowlist, in the same form. It never lifts what is blocked.',
  },
  {
    key: 'shell.asked',
    type: 'list',
    default: [],
    sentence:
      'Rules of the command screen whose commands wait for a person: instead of being blocked (deletes-by-force), or although the tool itself names the program (unknown-program, has-effect, runs-file, runs-code).',
  },
  {
    key: 'shell.policy_file',
    type: 'string',
    default: '',
    sentence:
      'TOML file with mode, blocked, allowed and asked, which stand in for the settings of these names; a change is in force within a second, without a restart. Empty: shell-policy.toml in the data folder.',
  },
  {
    key: 'shell.transactional',
    type: 'boolean',
    default: false,
    sentence:
      'Whether shell tools whose manifest says nothing of transactions have their granted rw folders restored when they fail.',
  },
  {
    key: 'shell.transaction_scope',
    type: 'list',
    default: ['**'],
    sentence: 'Globs of the files that a transaction secures, from each granted rw folder on.',
  },
  {
    key: 'shell.auto_rollback_exit_codes',
    type: 'list',
    default: ['1', '2'],
    sentence: 'Exit codes after which a transaction is rolled back.',
  },
  {
    key: 'shell.snapshot_required',
    type: 'boolean',
    default: false,
    sentence: 'Whether a command of a transaction is refused (E3110) when its files cannot be secured.',
  },
  {
    key: 'shell.max_snapshot_bytes',
    type: 'integer',
    unit: 'bytes',
    minimum: 0,
    default: 0,
    sentence: 'Most bytes of content that one snapshot holds; 0 sets no bound. Manifests can only lower it.',
  },
  {
    key: 'shell.snapshot_folder',
    type: 'string',
    default: '',
    sentence:
      'Where snapshots are while their commands run; it must lie outside of what tools may see. Empty: snapshots in the data folder.',
  },
] as const satisfies readonly Setting[];
