/** Work that its owner must wait for before closing. */
export interface PendingWork {
  /** Tracks the work until it ends; returns it. */
  add<T>(work: Promise<T>): Promise<T>;
  /** Resolves when no work is left, successful or not. */
  done(): Promise<void>;
}

/** Makes an empty set of work. */
export function createPendingWork(): PendingWork {
  const pending = new Set<Promise<unknown>>();
  return {
    add(work) {
      const ended: Promise<unknown> = work.then(
        () => pending.delete(ended),
        () => pending.delete(ended),
      );
      pending.add(ended);
      return work;
    },
    async done() {
      while (pending.size > 0) await Promise.all(pending);
    },
  };
}
