import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../../telemetry/log.ts';

/**
 * Does the work every `intervalMs`, never twice at once, until disposed; disposing waits for the work under way.
 * Failures are logged as `event`.
 */
export function repeatedly(intervalMs: number, work: () => Promise<void>, log: Log, event: string): AsyncDisposable {
  const ending = new AbortController();
  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      await sleep(intervalMs, undefined, { signal: ending.signal, ref: false }).catch(() => {});
      if (ending.signal.aborted) return;
      await work().catch((thrown: unknown) => log.warn(event, { error: String(thrown) }));
    }
  };
  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      ending.abort();
      await running;
    },
  };
}
