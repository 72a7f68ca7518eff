import { MiB } from '@sallyport/std/bytes';

/** Bounds of the shell executor. */
export const SHELL_BOUNDS = {
  /** From SIGTERM to SIGKILL when a call is cancelled or its time is up. */
  termGraceMs: 500,
  /** Processes and threads of one tool; Node alone has about a dozen. */
  processesMax: 64,
  /** Scratch space of one tool. */
  diskMb: 64,
} as const;

/** Bounds of transactions. */
export const TRANSACTION_BOUNDS = {
  /** Files and folders of one snapshot. */
  entriesMax: 200_000,
  /** Levels of folders; each holds a descriptor open while it is walked. */
  depthMax: 128,
  /** Largest single file, holes included: they are read as well. */
  fileBytesMax: 65_536 * MiB,
  /** Files of a folder that are read at once. */
  filesAtOnce: 8,
  /** Levels of new folders that are removed in place; deeper ones are moved up first. */
  removalLevels: 64,
  /** Age of a change from which its time tells it from later ones. File systems count in steps of up to 2 s. */
  ctimeSlackMs: 2500,
} as const;
