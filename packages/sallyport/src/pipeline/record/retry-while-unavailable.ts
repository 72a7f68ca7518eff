import { setTimeout as sleep } from 'node:timers/promises';
import { failureOf } from '@sallyport/std/error/tool-layer-error';

/** First pause, ms; each is twice the last one. */
const PAUSE_MS = 50;
const PAUSE_MS_MAX = 1_000;
/** How long a store may be unavailable, ms: enough for a server to restart, or for a standby to take over. */
const PATIENCE_MS = 10_000;

/**
 * Repeats work in a store while the store is unavailable, for 10 s at most.
 * @param work must be repeatable: it is unknown whether only the answer was lost, or the request too
 * @throws what `work` throws, at once when it is anything but E3812
 */
export async function retryWhileUnavailable<Result>(
  work: (again: boolean) => Promise<Result>,
  patienceMs = PATIENCE_MS,
): Promise<Result> {
  const deadline = performance.now() + patienceMs;
  for (let pauseMs = PAUSE_MS, again = false; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX), again = true) {
    try {
      return await work(again);
    } catch (thrown) {
      if (failureOf(thrown).code !== 'E3812' || performance.now() + pauseMs > deadline) throw thrown;
      await sleep(pauseMs, undefined, { ref: false });
    }
  }
}
