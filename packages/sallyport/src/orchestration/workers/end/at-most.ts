import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../../telemetry/log.ts';

/** How long the end of the workers waits for one thing that it does not have in its own hands, in ms. */
const PATIENCE_MS = 5_000;

/**
 * Waits for something while the workers are closed, but not for ever: a database or a queue that does not answer any more
 * must not keep the layer from ending. What is left is found by the next start, or by another instance.
 * @param what in the words of the log
 */
export async function atMost(work: Promise<unknown>, what: string, log: Log, patienceMs = PATIENCE_MS): Promise<void> {
  const timer = new AbortController();
  const late = sleep(patienceMs, true, { signal: timer.signal }).catch(() => false);
  const isLate = await Promise.race([work.then(() => false), late]);
  timer.abort();
  if (!isLate) return;
  log.warn('workers-not-closed', { what, waited_ms: patienceMs });
  work.catch(() => undefined);
}
