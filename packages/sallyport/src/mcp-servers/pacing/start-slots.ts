/** Lets only so many start at once; the others wait their turn in order. */
export type StartSlots = <T>(start: () => Promise<T>) => Promise<T>;

/**
 * @param slots how many may run at the same time; those that wait are bounded by what there is to start
 * @param holdMsMax a start that takes longer gives its place to the next and goes on: one that hangs costs no processor time,
 *   and must not keep the others waiting (EXE-11)
 */
export function createStartSlots(slots: number, holdMsMax: number): StartSlots {
  let free = slots;
  const queue: (() => void)[] = [];
  const release = (): void => {
    const next = queue.shift();
    if (next === undefined) free += 1;
    else next();
  };
  return async (start) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => queue.push(resolve));
    let isHeld = true;
    const letGo = (): void => {
      if (!isHeld) return;
      isHeld = false;
      release();
    };
    const timer = setTimeout(letGo, holdMsMax);
    try {
      return await start();
    } finally {
      clearTimeout(timer);
      letGo();
    }
  };
}
