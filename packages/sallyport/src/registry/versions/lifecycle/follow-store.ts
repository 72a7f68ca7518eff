import { clearInterval, setInterval } from 'node:timers';
import type { RegistryState } from './registry-state.ts';

/** How often notes of uses are written, in ms. */
const FLUSH_MS = 60_000;

/** Follows writes of other instances until disposed; then the notes of uses are written a last time. */
export function followStore(state: RegistryState, intervalMs: number): AsyncDisposable {
  let working: Promise<void> | undefined;
  let flushedAt = state.clock.monotonic();
  const work = async (): Promise<void> => {
    await state.refresh();
    const now = state.clock.monotonic();
    if (now - flushedAt < FLUSH_MS) return;
    flushedAt = now;
    await state.uses.flush();
  };
  const logFailure = (cause: unknown): void => state.log.warn('registry-not-refreshed', { reason: String(cause) });
  const timer = setInterval(() => {
    working ??= work()
      .catch(logFailure)
      .finally(() => {
        working = undefined;
      });
  }, intervalMs);
  timer.unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await working;
      await state.uses.flush().catch(logFailure);
    },
  };
}
