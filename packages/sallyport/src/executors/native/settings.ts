import { KiB, MiB } from '@sallyport/std/bytes';

/** Limits of sandboxed modules. */
export const MODULE_BOUNDS = {
  /** Most characters of one source. */
  sourceMax: MiB,
  /** Most processes and threads of one run under Node, which itself has about a dozen. */
  processesMax: 32,
  /** Scratch space in MiB; a function cannot access it. */
  diskMb: 8,
  /** Most console output kept, in bytes. */
  consoleBytesMax: 8 * KiB,
  /** Bytes around a result for its envelope. */
  envelopeBytes: 64,
  /** Most characters of an exception's message that reach the caller. */
  messageMax: 1000,
  /** Most lines of an exception's stack. */
  stackLinesMax: 10,
  /** Most sources of files kept in memory. */
  filesMax: 64,
} as const;
