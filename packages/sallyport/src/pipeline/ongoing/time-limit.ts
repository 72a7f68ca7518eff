/** One of many that may all last equally long. */
export interface TimedRun {
  /** Monotonic ms. */
  readonly since: number;
  readonly onOver: () => void;
  before: TimedRun | undefined;
  after: TimedRun | undefined;
}

/** How long each of many may last. */
export interface TimeLimit {
  /** @param onOver told once, when it lasts longer */
  begin(onOver: () => void): TimedRun;
  /** It is over, or was said to be. Once for each. */
  end(run: TimedRun): void;
}

/** Ms by which a timer may fire early by the other clock. */
const EARLY_MS = 2;
/** What a timer can count. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * One limit for all: they have the same time, so the first to begin is the first whose time is up, and one timer does for
 * them. It keeps the process alive as long as anything runs, as a timer for each would.
 */
export function createTimeLimit(ms: number): TimeLimit {
  // A list through the runs: a map that is empty again and again is made anew each time.
  let oldest: TimedRun | undefined;
  let newest: TimedRun | undefined;
  let timer: NodeJS.Timeout | undefined;
  const end = (run: TimedRun): void => {
    if (run.before === undefined) {
      if (oldest !== run) return;
      oldest = run.after;
    } else run.before.after = run.after;
    if (run.after === undefined) newest = run.before;
    else run.after.before = run.before;
    run.before = undefined;
    run.after = undefined;
    if (oldest === undefined) timer?.unref();
  };
  const look = (): void => {
    timer = undefined;
    while (oldest !== undefined) {
      const leftMs = oldest.since + ms - performance.now();
      if (leftMs >= EARLY_MS) {
        timer = setTimeout(look, Math.min(leftMs, TIMER_MS_MAX));
        return;
      }
      const run = oldest;
      end(run);
      run.onOver();
    }
  };
  return {
    begin(onOver) {
      const run: TimedRun = { since: performance.now(), onOver, before: newest, after: undefined };
      if (newest === undefined) oldest = run;
      else newest.after = run;
      newest = run;
      if (timer === undefined) timer = setTimeout(look, Math.min(ms, TIMER_MS_MAX));
      else if (oldest === run) timer.ref();
      return run;
    },
    end,
  };
}
