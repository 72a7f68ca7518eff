import { setTimeout as sleep } from 'node:timers/promises';

/** Largest factor by which listings slow down for a server that announces changes without end. */
const SLOWEST = 32;

/**
 * A function that runs `list` when called, never twice at once, and at least `intervalMs` after the last run ended;
 * calls in between are merged. While calls keep coming, the interval doubles, up to {@link SLOWEST} times.
 */
export function createRelist(intervalMs: number, signal: AbortSignal, list: () => Promise<void>): () => void {
  let running = false;
  let again = false;
  let slower = 1;
  const run = async (): Promise<void> => {
    running = true;
    do {
      again = false;
      await list();
      await sleep(intervalMs * slower, undefined, { signal, ref: false }).catch(() => {});
      slower = Math.min(slower * 2, SLOWEST);
    } while (again && !signal.aborted);
    slower = 1;
    running = false;
  };
  return () => {
    if (running) again = true;
    else if (!signal.aborted) void run();
  };
}
