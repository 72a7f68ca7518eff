/**
 * Repeats a turn, with a pause after each, never two at the same time.
 * @param pauseMs called before each pause
 * @returns ends the repetition, and waits for a turn that is under way
 */
export function repeat(turn: () => Promise<void>, pauseMs: () => number): () => Promise<void> {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const next = (): void => {
    if (stopped) return;
    timer = setTimeout(() => {
      running = turn().finally(next);
    }, pauseMs());
    timer.unref();
  };
  next();
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await running;
  };
}
