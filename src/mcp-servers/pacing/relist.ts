import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A function that runs `list` when called, never twice at once, and never sooner than `intervalMs` after the last run
 * ended; calls in between are one.
 */
export function createRelist(intervalMs: number, signal: AbortSignal, list: () => Promise<void>): () => void {
  let running = false;
  let again = false;
  const run = async (): Promise<void> => {
    running = true;
    do {
      again = false;
      await list();
      await sleep(intervalMs, undefined, { signal, ref: false }).catch(() => {});
    } while (again && !signal.aborted);
    running = false;
  };
  return () => {
    if (running) again = true;
    else if (!signal.aborted) void run();
  };
}
