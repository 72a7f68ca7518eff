/** Runs work for the same key in sequence, and for different keys in parallel. */
export type Turns = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Makes the queues, empty. */
export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const turn = (last.get(key) ?? Promise.resolve()).then(work, work);
    const ended: Promise<unknown> = turn
      .catch(() => {})
      .then(() => {
        if (last.get(key) === ended) last.delete(key);
      });
    last.set(key, ended);
    return turn;
  };
}
