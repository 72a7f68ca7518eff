import { KiB, MiB } from '@sallyport/std/bytes';

/** Bounds of sandboxed modules. */
export const MODULE_BOUNDS = {
  /** Characters of one source. */
  sourceMax: MiB,
  /** Processes and threads of one run under Node, which has about a dozen by itself. */
  processesMax: 32,
  /** Scratch space; nothing of it is within a function's reach. */
  diskMb: 8,
  /** What is kept of what a function writes to its console. */
  consoleBytesMax: 8 * KiB,
  /** Around a result: its envelope, which is no part of it. */
  envelopeBytes: 64,
  /** Characters of a thrown error's message that reach the caller. */
  messageMax: 1000,
  /** Lines of a thrown error's stack. */
  stackLinesMax: 10,
  /** Sources of files that are kept in memory. */
  filesMax: 64,
} as const;
