import { KiB } from '../../std/bytes.ts';

/** Bounds of the shell executor. */
export const SHELL_BOUNDS = {
  /** From SIGTERM to SIGKILL when a call is cancelled or its time is up. */
  termGraceMs: 500,
  /** Processes and threads of one tool; Node alone has about a dozen. */
  processesMax: 64,
  /** Scratch space of one tool. */
  diskMb: 64,
  /** Part of the output that stderr may take, and its most. */
  stderrShare: 0.25,
  stderrBytesMax: 16 * KiB,
} as const;
