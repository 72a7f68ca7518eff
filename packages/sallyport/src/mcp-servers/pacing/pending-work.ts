/** Work that its owner has to wait for before it is closed. */
export interface PendingWork {
  /** Remembers the work until it ends; answers it. */
  add<T>(work: Promise<T>): Promise<T>;
  /** Resolves when nothing is left, however it ended. */
  done(): Promise<void>;
}

/** Nothing is pending. */
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
