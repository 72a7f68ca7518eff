import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../../telemetry/log.ts';

/** How long closing the workers waits for one external operation, in ms. */
const PATIENCE_MS = 5_000;

/**
 * Waits for work while the workers are closed, but not for ever: a database or a queue that does not answer must not
 * keep the layer from ending. The next start, or another instance, finds what is left.
 * @param what words for the log
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
