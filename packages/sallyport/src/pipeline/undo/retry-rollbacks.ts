import { type ContinueParts, continueRollbacks } from './continue-rollbacks.ts';

/** Pauses before another try, in ms: the first, doubled while something is left, and the longest. */
const PAUSE_MS = 1_000;
const PAUSE_MS_MAX = 600_000;

/**
 * Retries failed rollbacks while the layer runs: a disk or a compensating tool may be back. Nothing is lost between two
 * tries, or without another one: the journal keeps it.
 * @param pauseMs the first pause
 */
export function retryRollbacks(parts: ContinueParts, instanceId: string, pauseMs = PAUSE_MS): AsyncDisposable {
  let ended = false;
  let timer: NodeJS.Timeout | undefined;
  let working: Promise<void> = Promise.resolve();
  let nextMs = pauseMs;
  const turn = async (): Promise<void> => {
    try {
      const { rolledBack, left } = await continueRollbacks(parts, instanceId, 'failed', () => ended);
      if (rolledBack > 0) parts.log.info('rollbacks-finished', { rolled_back: rolledBack, left });
      // What was taken back may have been what the rest waited for.
      nextMs = left === 0 || rolledBack > 0 ? pauseMs : Math.min(PAUSE_MS_MAX, nextMs * 2);
    } catch (cause) {
      // The store was away: that says nothing of the rollbacks.
      parts.log.warn('rollbacks-not-retried', { reason: String(cause) });
    }
  };
  const next = (): void => {
    if (ended) return;
    timer = setTimeout(() => {
      working = turn().finally(next);
    }, nextMs);
    timer.unref();
  };
  next();
  return {
    async [Symbol.asyncDispose]() {
      ended = true;
      clearTimeout(timer);
      await working;
    },
  };
}
