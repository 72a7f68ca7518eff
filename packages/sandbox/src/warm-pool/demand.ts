import type { Clock } from '@sallyport/std/clock';
import { WARM_POOL_BOUNDS, type WarmPoolSettings } from './settings.ts';
import type { StandingSandbox, WarmPlan } from './warmable-driver.ts';

/** A ready sandbox. */
export interface Standing {
  readonly sandbox: StandingSandbox;
  /** Of the monotonic clock. */
  readonly bornMs: number;
}

/** Demand for one key. */
export interface Demand {
  readonly plan: WarmPlan;
  /** Oldest first. */
  readonly standing: Set<Standing>;
  /** Number to keep ready: raised after a call found none, lowered after one grew old unused. */
  wanted: number;
  calls: number;
  /** Of the monotonic clock. */
  lastAskedMs: number;
  /** In a row. */
  failures: number;
}

/** Recently requested keys. */
export interface Demands {
  /** Notes a call. */
  ask(plan: WarmPlan): Demand;
  /** Every key, least recently requested first. */
  all(): readonly Demand[];
  /** The most recently requested key with too few ready sandboxes. */
  next(): Demand | undefined;
  /** Drops keys that are too old or too many. @returns their ready sandboxes */
  forgetOld(): readonly StandingSandbox[];
}

/** Remembers the keys of recent calls. */
export function createDemands(clock: Clock, { keepMs }: WarmPoolSettings): Demands {
  const demands = new Map<string, Demand>();
  return {
    ask(plan) {
      const fresh = { plan, standing: new Set<Standing>(), wanted: 1, calls: 0, lastAskedMs: 0, failures: 0 };
      const demand: Demand = demands.get(plan.key) ?? fresh;
      demand.calls += 1;
      demand.lastAskedMs = clock.monotonic();
      // A map keeps the order in which keys came in.
      demands.delete(plan.key);
      demands.set(plan.key, demand);
      return demand;
    },
    all: () => [...demands.values()],
    next: () =>
      [...demands.values()].findLast(
        ({ standing, wanted, failures }) => standing.size < wanted && failures < WARM_POOL_BOUNDS.failuresMax,
      ),
    forgetOld() {
      const tooMany = demands.size - WARM_POOL_BOUNDS.keysMax;
      const old = [...demands].filter(
        ([, { lastAskedMs }], index) => index < tooMany || clock.monotonic() - lastAskedMs > keepMs,
      );
      for (const [key] of old) demands.delete(key);
      return old.flatMap(([, { standing }]) => [...standing].map(({ sandbox }) => sandbox));
    },
  };
}
