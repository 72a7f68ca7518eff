/** Things that come up again after a while. */
export interface Later<T> extends Disposable {
  readonly size: number;
  /** @returns false when the same waits already: then nothing changes */
  add(key: string, thing: T, ms: number): boolean;
}

/** Each of several that wait for the same comes up to so much later than it was told, as a share of its wait. */
const SPREAD = 0.25;

/** @param onDue told once for each; never once it is disposed */
export function createLater<T>(onDue: (thing: T) => void): Later<T> {
  const timers = new Map<string, NodeJS.Timeout>();
  return {
    get size() {
      return timers.size;
    },
    add(key, thing, ms) {
      if (timers.has(key)) return false;
      const due = (): void => {
        timers.delete(key);
        onDue(thing);
      };
      timers.set(key, setTimeout(due, ms * (1 + Math.random() * SPREAD)).unref());
      return true;
    },
    [Symbol.dispose]() {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };
}
