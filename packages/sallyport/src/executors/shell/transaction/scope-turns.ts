import { orAborted } from '../../abort-reason.ts';

/** Serialises transactions over the same files within this process. Waiters are calls, and calls are limited. */
export interface ScopeTurns {
  /**
   * Waits for all earlier transactions whose paths are equal to, above or below these.
   * @returns ends the turn; idempotent
   * @throws the signal's reason
   */
  take(paths: readonly string[], signal: AbortSignal): Promise<() => void>;
}

interface Turn {
  readonly paths: readonly string[];
  readonly over: Promise<void>;
}

/** Makes the turns. First come, first served, so there is no deadlock. */
export function createScopeTurns(): ScopeTurns {
  const turns = new Set<Turn>();
  return {
    async take(paths, signal) {
      const before = [...turns].filter((turn) => meet(turn.paths, paths));
      const { promise: over, resolve } = Promise.withResolvers<void>();
      const turn = { paths, over };
      turns.add(turn);
      const end = (): void => {
        turns.delete(turn);
        resolve();
      };
      try {
        await orAborted(Promise.all(before.map((each) => each.over)), signal);
      } catch (thrown) {
        // Later transactions wait for the earlier ones too, so none starts too early.
        end();
        throw thrown;
      }
      return end;
    },
  };
}

const meet = (some: readonly string[], others: readonly string[]): boolean =>
  some.some((one) => others.some((other) => isWithin(one, other) || isWithin(other, one)));

const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);
