import type { Clock } from '@sallyport/std/clock';
import type { DailyLease } from './daily-lease.port.ts';

/** Work that one of all instances does once a day. */
export interface DailyWork {
  readonly name: string;
  /** Hour of the day in UTC at which it is due. */
  readonly hour: number;
  /** @param mayContinue renews the lease; false when another instance has it, or the layer stops */
  readonly run: (mayContinue: () => Promise<boolean>) => Promise<void>;
}

/** Dependencies of daily work. */
export interface DailyParts {
  readonly lease: DailyLease;
  /** Name of this process among all instances. */
  readonly holder: string;
  readonly clock: Clock;
}

/** How long an instance has the lease unless it renews it, in ms. */
const LEASE_MS = 300_000;
/** How long after a failure this instance tries again, in ms. */
const RETRY_MS = 3_600_000;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/**
 * Does a work when its time has come and no other instance does it; what was missed while no instance ran is made up for.
 * @returns to be called again and again; rejects when the work failed, and is then done again an hour later
 */
export function onceADay({ lease, holder, clock }: DailyParts, work: DailyWork) {
  let notBefore = 0;
  let doneFor = 0;
  return async (isStopped: () => boolean): Promise<void> => {
    const due = lastDue(clock.now(), work.hour);
    // Fast path: nothing is asked of the database until the next day.
    if (doneFor === due || clock.now() < notBefore) return;
    const hold = (): Promise<boolean> => lease.take(work.name, due, holder, LEASE_MS);
    let isWhole = true;
    const mayContinue = async (): Promise<boolean> => {
      isWhole = !isStopped() && (await hold());
      return isWhole;
    };
    if (!(await hold())) return;
    try {
      await work.run(mayContinue);
    } catch (thrown) {
      notBefore = clock.now() + RETRY_MS;
      throw thrown;
    }
    if (!isWhole) return;
    await lease.done(work.name, due, holder);
    doneFor = due;
  };
}

/** The last time before `now`, or at it, at which work of that hour was due; both epoch ms. */
export function lastDue(now: number, hour: number): number {
  const today = now - (now % DAY_MS) + hour * HOUR_MS;
  return today <= now ? today : today - DAY_MS;
}
