import type { Failure } from '@sallyport/std/error/failure';

/** One try of a call that failed, where there was more than one (PIPE-05). */
export interface FailedAttempt {
  /** From 1. */
  readonly attempt: number;
  readonly failure: Failure;
  /** Epoch ms. */
  readonly startedAt: number;
  readonly durationMs: number;
  /** The wait before it, ms; 0 for the first. */
  readonly waitedMs: number;
}
