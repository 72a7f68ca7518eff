import { TIMER_MS_MAX } from '@sallyport/std/timer-max';

/** One of many runs that share one limit. */
export interface TimedRun {
  /** Monotonic ms. */
  readonly since: number;
  readonly onOver: () => void;
  before: TimedRun | undefined;
  after: TimedRun | undefined;
}

/** A limit of time that many runs share. */
export interface TimeLimit {
  /** @param onOver called once, when the run lasts longer than the limit */
  begin(onOver: () => void): TimedRun;
  /** Ends a run, whether it ended by itself or was over its limit. Called once for each run. */
  end(run: TimedRun): void;
}

/** Ms by which a timer may fire early as the monotonic clock sees it. */
const EARLY_MS = 2;

/**
 * One limit for all runs: the first to begin is the first whose time is up, so one timer serves them all. It keeps the
 * process alive while anything runs, as a timer for each run would.
 */
export function createTimeLimit(ms: number): TimeLimit {
  // A linked list of the runs: a Map that becomes empty again and again is allocated anew each time.
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
