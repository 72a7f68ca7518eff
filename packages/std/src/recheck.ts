/** Rechecks open things from time to time, each until its entry is disposed. */
export interface Recheck {
  /**
   * @param check rejects when the thing may no longer be open
   * @param end called once in that case
   */
  add(check: () => Promise<unknown>, end: () => void): Disposable;
  /** Ends all checks. */
  close(): void;
}

/** Makes the checks, initially none. The timer does not keep the process alive. */
export function createRecheck(everyMs: number): Recheck {
  const open = new Set<{ readonly check: () => Promise<unknown>; readonly end: () => void }>();
  const look = (): void => {
    for (const entry of open) entry.check().catch(() => open.delete(entry) && entry.end());
  };
  const timer = setInterval(look, everyMs);
  timer.unref();
  return {
    add(check, end) {
      const entry = { check, end };
      open.add(entry);
      return { [Symbol.dispose]: () => void open.delete(entry) };
    },
    close: () => clearInterval(timer),
  };
}
