import { KiB } from '../../std/bytes.ts';

/** Bounds of the skill executor. */
export const SKILL_RUN_BOUNDS = {
  /** From SIGTERM to SIGKILL when a call is cancelled or its time is up. */
  termGraceMs: 500,
  /** Processes and threads of one script. */
  processesMax: 64,
  /** Scratch space of one script. */
  diskMb: 64,
  /** Part of the output that stderr may take, and its most. */
  stderrShare: 0.25,
  stderrBytesMax: 16 * KiB,
  /** Arguments of a script, and the characters of each. */
  argumentsMax: 256,
  argumentCharsMax: 64 * KiB,
  /** Variables that a call may set for a skill, and the characters of each. */
  variablesMax: 64,
  variableCharsMax: 32 * KiB,
  /** Bytes of a script in which its `#!` line has to end. */
  shebangBytesMax: 256,
  /** Longest shell script that is screened; a longer one does not run. */
  screenedBytesMax: 256 * KiB,
  /** Skills whose files are kept. */
  skillsKeptMax: 4_096,
} as const;
