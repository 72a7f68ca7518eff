/** Serialises writers of one file within this process. Waiters are calls, and calls are limited. */
export interface FileTurns {
  inTurn<Result>(key: string, run: () => Promise<Result>): Promise<Result>;
}

/** Makes the turns; a key is forgotten when nobody waits for it. */
export function createFileTurns(): FileTurns {
  const last = new Map<string, Promise<unknown>>();
  return {
    async inTurn(key, run) {
      const before = last.get(key);
      const mine = before === undefined ? run() : before.then(run, run);
      last.set(key, mine);
      try {
        return await mine;
      } finally {
        if (last.get(key) === mine) last.delete(key);
      }
    },
  };
}
