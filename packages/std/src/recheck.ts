/** Open things that are looked at again from time to time, each until its entry is disposed of. */
export interface Recheck {
  /**
   * @param check rejects when the thing may be open no longer
   * @param end called once then
   */
  add(check: () => Promise<unknown>, end: () => void): Disposable;
  /** Looks at nothing any more. */
  close(): void;
}

/** Nothing is open yet. The timer does not keep the process alive. */
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
