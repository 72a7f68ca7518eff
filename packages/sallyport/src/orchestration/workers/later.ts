/** Items that come up again after a while. */
export interface Later<T> extends Disposable {
  readonly size: number;
  /** @returns false when an item with this key waits already: then nothing changes */
  add(key: string, thing: T, ms: number): boolean;
}

/** Random delay, as a share of the wait, so that several items with the same wait do not come up together. */
const SPREAD = 0.25;

/** @param onDue called once for each item; never after dispose */
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
