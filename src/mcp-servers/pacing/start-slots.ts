/** Lets only so many start at once; the others wait their turn in order. */
export type StartSlots = <T>(start: () => Promise<T>) => Promise<T>;

/** @param slots how many may run at the same time; those that wait are bounded by what there is to start */
export function createStartSlots(slots: number): StartSlots {
  let free = slots;
  const queue: (() => void)[] = [];
  return async (start) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => queue.push(resolve));
    try {
      return await start();
    } finally {
      const next = queue.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
