import { KiB } from '@sallyport/std/bytes';
import { EXECUTION_SETTINGS } from '../../domain/tool/execution-settings.ts';

/** Bounds of the skill executor. */
export const SKILL_RUN_BOUNDS = {
  /** From SIGTERM to SIGKILL when a call is cancelled or its time is up. */
  termGraceMs: 500,
  /** Processes and threads of one script. */
  processesMax: EXECUTION_SETTINGS.processesMax.default,
  /** Scratch space of one script. */
  diskMb: EXECUTION_SETTINGS.diskMb.default,
  /** Arguments of a script, and the characters of each. */
  argumentsMax: 256,
  argumentCharsMax: 64 * KiB,
  /** Bytes of a script in which its `#!` line has to end. */
  shebangBytesMax: 256,
  /** Longest shell script that is screened; a longer one does not run. */
  screenedBytesMax: 256 * KiB,
  /** How old contents are at least that nobody names and that make room for others: an import registers its skills last. */
  unnamedMsMin: 3_600_000,
  /** Skills whose files lie in folders. */
  skillsKeptMax: 4_096,
} as const;
