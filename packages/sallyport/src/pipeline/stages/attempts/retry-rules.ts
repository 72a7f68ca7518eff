import type { Jitter } from '../../../domain/retry/backoff.ts';

/** How the layer tries again what failed, beside what a tool's manifest says in `execution_config.retry_policy` (PIPE-05). */
export interface RetryRules {
  /** How chance is mixed into the waits. */
  readonly jitter: Jitter;
  /** Attempts of one call, whatever a manifest asks for; 1 tries nothing again. */
  readonly attemptsMax: number;
  /** No attempt begins later after the first, ms; the call's own timeout holds beside it. */
  readonly budgetMs: number;
  /** 0 up to 1, without 1; default `Math.random`. */
  readonly random?: () => number;
}

/** Full jitter as 000 §3.4.3 recommends, the 30 s of 002, and no bound on attempts below that of the manifest's contract. */
export const RETRY_RULES: RetryRules = { jitter: 'full', attemptsMax: 20, budgetMs: 30_000 };
