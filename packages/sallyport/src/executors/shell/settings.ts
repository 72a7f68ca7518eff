import { MiB } from '@sallyport/std/bytes';
import { boolean, integer, list, oneOf } from '../../domain/settings/rows.ts';
import { EXECUTION_SETTINGS } from '../../domain/tool/execution-settings.ts';

/** An operator's additions to the rules of the command screen. */
export const COMMAND_SETTINGS = {
  mode: oneOf('shell.mode', ['blocklist', 'allowlist'], {
    default: 'blocklist',
    sentence:
      'blocklist: a command runs unless a rule of the command screen or shell.blocked blocks it, or asks a person first; allowlist: only commands of shell.allowed run, and of them none that is blocked.',
  }),
  blocked: list('shell.blocked', {
    default: [],
    sentence:
      'Commands that are blocked beside those that the rules block, each by its first words ("git push"; * stands for any characters of a word).',
  }),
  allowed: list('shell.allowed', {
    default: [],
    sentence:
      'Commands that run without a question, and the only ones that run under an allowlist, in the same form. It never lifts what is blocked.',
  }),
  asked: list('shell.asked', {
    default: [],
    sentence:
      'Rules of the command screen whose commands wait for a person: instead of being blocked (deletes-by-force), or although the tool itself names the program (unknown-program, has-effect, runs-file, runs-code).',
  }),
};

/** Defaults for manifests that do not mention transactions. */
export const TRANSACTION_SETTINGS = {
  transactional: boolean('shell.transactional', {
    default: false,
    sentence:
      'Whether shell tools whose manifest says nothing of transactions have their granted rw folders restored when they fail.',
  }),
  transactionScope: list('shell.transaction_scope', {
    default: ['**'],
    sentence: 'Globs of the files that a transaction secures, from each granted rw folder on.',
  }),
  autoRollbackExitCodes: list('shell.auto_rollback_exit_codes', {
    default: ['1', '2'],
    sentence: 'Exit codes after which a transaction is rolled back.',
  }),
  snapshotRequired: boolean('shell.snapshot_required', {
    default: false,
    sentence: 'Whether a command of a transaction is refused (E3110) when its files cannot be secured.',
  }),
  maxSnapshotBytes: integer('shell.max_snapshot_bytes', {
    unit: 'bytes',
    minimum: 0,
    default: 0,
    sentence: 'Most bytes of content that one snapshot holds; 0 sets no bound. Manifests can only lower it.',
  }),
};

/** Limits of the shell executor. */
export const SHELL_BOUNDS = {
  /** Time from SIGTERM to SIGKILL when a call is cancelled or times out, in ms. */
  termGraceMs: 500,
  /** Most processes and threads of one tool; Node alone has about a dozen. */
  processesMax: EXECUTION_SETTINGS.processesMax.default,
  /** Scratch space of one tool. */
  diskMb: EXECUTION_SETTINGS.diskMb.default,
} as const;

/** Limits of transactions. */
export const TRANSACTION_BOUNDS = {
  /** Most files and folders of one snapshot. */
  entriesMax: 200_000,
  /** Most levels of folders; each keeps a descriptor open during the walk. */
  depthMax: 128,
  /** Largest single file, holes included: they are read as well. */
  fileBytesMax: 65_536 * MiB,
  /** Most files of a folder read at once. */
  filesAtOnce: 8,
  /** Levels of new folders that are removed in place; deeper ones are moved up first. */
  removalLevels: 64,
  /** Age of a change from which its time is distinct from later changes. File systems count in steps of up to 2 s. */
  ctimeSlackMs: 2500,
  /** Time in which nothing of a restore moves, after which it is given up; one large file may take minutes to be closed. */
  stallMs: 300_000,
} as const;
