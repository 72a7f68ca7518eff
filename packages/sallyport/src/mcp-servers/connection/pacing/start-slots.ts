/** Limits how many starts run at once; others wait their turn in order. */
export type StartSlots = <T>(start: () => Promise<T>) => Promise<T>;

/**
 * @param slots most starts at the same time; the queue is limited by what there is to start
 * @param holdMsMax a longer start releases its slot and continues: a hanging start costs no processor time, and must
 *   not keep the others waiting (EXE-11)
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
