import { boolean, integer, list, oneOf, text } from '../../domain/settings/rows.ts';

/** Which commands of shell tools are refused, and which are taken back when they fail. */
export const SHELL_SETTINGS = [
  oneOf('shell.mode', ['blocklist', 'allowlist'], {
    default: 'blocklist',
    sentence:
      'blocklist: a command runs unless a rule of the command screen or shell.blocked blocks it, or asks a person first; allowlist: only commands of shell.allowed run, and of them none that is blocked.',
  }),
  list('shell.blocked', {
    default: [],
    sentence:
      'Commands that are blocked beside those that the rules block, each by its first words ("git push"; * stands for any characters of a word).',
  }),
  list('shell.allowed', {
    default: [],
    sentence:
      'Commands that run without a question, and the only ones that run under an allowlist, in the same form. It never lifts what is blocked.',
  }),
  list('shell.asked', {
    default: [],
    sentence:
      'Rules of the command screen whose commands wait for a person: instead of being blocked (deletes-by-force), or although the tool itself names the program (unknown-program, has-effect, runs-file, runs-code).',
  }),
  text('shell.policy_file', {
    default: '',
    sentence:
      'TOML file with mode, blocked, allowed and asked, which stand in for the settings of these names; a change is in force within a second, without a restart. Empty: shell-policy.toml in the data folder.',
  }),
  boolean('shell.transactional', {
    default: false,
    sentence:
      'Whether shell tools whose manifest says nothing of transactions have their granted rw folders restored when they fail.',
  }),
  list('shell.transaction_scope', {
    default: ['**'],
    sentence: 'Globs of the files that a transaction secures, from each granted rw folder on.',
  }),
  list('shell.auto_rollback_exit_codes', {
    default: ['1', '2'],
    sentence: 'Exit codes after which a transaction is rolled back.',
  }),
  boolean('shell.snapshot_required', {
    default: false,
    sentence: 'Whether a command of a transaction is refused (E3110) when its files cannot be secured.',
  }),
  integer('shell.max_snapshot_bytes', {
    unit: 'bytes',
    minimum: 0,
    default: 0,
    sentence: 'Most bytes of content that one snapshot holds; 0 sets no bound. Manifests can only lower it.',
  }),
  text('shell.snapshot_folder', {
    default: '',
    sentence:
      'Where snapshots are while their commands run; it must lie outside of what tools may see. Empty: snapshots in the data folder.',
  }),
];
