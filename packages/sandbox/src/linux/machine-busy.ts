import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/**
 * Whether more wants to run on this machine right now than it has processors, beside the process that asks. Work that can
 * wait waits then. False where the kernel does not say.
 */
export function machineBusy(): boolean {
  try {
    // "0.41 0.53 1.17 2/285 24713": the fourth is what runs or wants to, of all.
    const running = Number(/ (\d+)\//.exec(readFileSync('/proc/loadavg', 'utf8'))?.[1] ?? 0);
    return running - 1 > availableParallelism();
  } catch {
    return false;
  }
}
