/** Work that was given up because nothing of it moved any more, as on a network disk that is gone. */
export class Stalled extends Error {
  override readonly name = 'Stalled';
  /** Resolves once the operation that it hangs in is over, and with it the work. */
  readonly over: Promise<void>;

  constructor(stallMs: number, over: Promise<void>) {
    super(`nothing moved for ${stallMs / 1000} s`);
    this.over = over;
  }
}

/**
 * Notes that the work moves; called before each change of a file.
 * @throws Stalled once the work was given up: what still runs changes nothing any more
 */
export type Moves = () => void;

/**
 * Does long work, as long as it moves.
 * @throws Stalled when it has not moved for the time
 */
export async function unlessStalled(work: (moves: Moves) => Promise<void>, stallMs: number): Promise<void> {
  const stalled = Promise.withResolvers<never>();
  let given: Stalled | undefined;
  const working = (): Promise<void> =>
    work(() => {
      if (given !== undefined) throw given;
      timer.refresh();
    });
  const timer = setTimeout(() => {
    given = new Stalled(
      stallMs,
      running.catch(() => undefined),
    );
    stalled.reject(given);
  }, stallMs);
  const running = working();
  try {
    await Promise.race([running, stalled.promise]);
  } finally {
    clearTimeout(timer);
  }
}
