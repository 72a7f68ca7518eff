import type { MachineSize } from './machine.ts';
import { MICROVM_BOUNDS } from './settings.ts';

/** States of machines that have booted and never ran a job; each job gets a copy. */
export interface StateStore<State> {
  /** Made at the first request for a size. @throws Error when that fails; the next request tries again */
  of(size: MachineSize): Promise<State>;
}

/**
 * Keeps one state for each size, a few at most.
 * @param take boots a machine and keeps its state; what it returns is closed when another takes its place
 */
export function createStateStore<State extends { close(): void }>(
  take: (size: MachineSize) => Promise<State>,
): StateStore<State> {
  const kept = new Map<string, Promise<State>>();
  return {
    of(size) {
      const key = `${size.memoryMb}/${size.processors}`;
      const known = kept.get(key);
      if (known !== undefined) return known;
      const made = take(size);
      kept.set(key, made);
      made.catch(() => kept.delete(key));
      const [oldest] = kept.keys();
      if (kept.size > MICROVM_BOUNDS.snapshotsMax && oldest !== undefined) {
        // Copies that run have read it already, or hold it open.
        void kept.get(oldest)?.then((state) => state.close(), ignore);
        kept.delete(oldest);
      }
      return made;
    },
  };
}

/** Whoever asked for it gets the failure. */
function ignore(): void {}
