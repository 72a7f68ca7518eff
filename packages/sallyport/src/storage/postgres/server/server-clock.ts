import type { Clock } from '@sallyport/std/clock';

/** How often the server is asked for its time, in ms. Ordinary clocks drift apart by 1 ms in that. */
const ASK_EVERY_MS = 10_000;
/** A later answer that took longer than this, in ms, is not used: the server may have read its clock at either end of it. */
const ANSWER_MS_MAX = 1_000;

/** The time of the server, as this process measured it last. What the process's own wall clock says does not matter. */
export interface ServerClock extends Clock, Disposable {}

/**
 * Measures the server's clock now and from time to time; while the server does not answer, the last measure counts.
 * @param ask the server's time in epoch ms
 * @throws what the first question throws
 */
export async function followServerClock(
  ask: () => Promise<number>,
  { monotonic }: Pick<Clock, 'monotonic'>,
): Promise<ServerClock> {
  const measured = async (): Promise<{ readonly ahead: number; readonly tookMs: number }> => {
    const asked = monotonic();
    const server = await ask();
    const answered = monotonic();
    return { ahead: server - (asked + answered) / 2, tookMs: answered - asked };
  };
  let { ahead } = await measured();
  const again = async (): Promise<void> => {
    const found = await measured().catch(() => undefined);
    if (found !== undefined && found.tookMs <= ANSWER_MS_MAX) ahead = found.ahead;
  };
  const timer = setInterval(again, ASK_EVERY_MS).unref();
  return {
    now: () => Math.round(ahead + monotonic()),
    monotonic,
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
