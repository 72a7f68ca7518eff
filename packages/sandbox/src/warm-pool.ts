import { type Clock, systemClock } from '@sallyport/std/clock';
import type { SandboxDriver, SandboxProcess, SandboxSpec } from './driver.port.ts';
import { machineBusy } from './linux/machine-busy.ts';
import { createDemands, type Demand } from './warm-pool/demand.ts';
import { createFilling } from './warm-pool/filling.ts';
import { WARM_POOL_BOUNDS, WARM_POOL_DEFAULTS, type WarmPoolSettings } from './warm-pool/settings.ts';
import type { WarmableDriver } from './warm-pool/warmable-driver.ts';

export type { WarmableDriver, WarmPoolSettings };
export { WARM_POOL_DEFAULTS };

/** A driver whose sandboxes may be made in advance; each still serves one call and is gone after it (SBX-06). */
export interface WarmPool extends SandboxDriver {
  /**
   * Makes one sandbox for specs like this now, as if a call had asked for it, up to the limits.
   * @returns true when one is ready; false when none can be made in advance
   * @throws what `start` throws for a spec that cannot be run
   */
  prepare(spec: SandboxSpec): Promise<boolean>;
  counts(): WarmPoolCounts;
  /** Ends ready sandboxes, and the driver's own stock. Running sandboxes are not affected. Idempotent. */
  close(): Promise<void>;
}

/** Counters of a pool. */
export interface WarmPoolCounts {
  /** Sandboxes ready now. */
  readonly standing: number;
  /** Calls that got a ready one. */
  readonly warm: number;
  /** Calls that could have used one, but found none. */
  readonly cold: number;
}

/** Dependencies of a pool beside its driver; everything has a default. */
export interface WarmPoolParts {
  readonly settings?: Partial<WarmPoolSettings>;
  readonly clock?: Clock;
  /** True while the machine has more urgent work than making sandboxes in advance. */
  readonly isBusy?: () => boolean;
}

/**
 * Keeps sandboxes ready for recently requested keys. A call takes a ready one if there is one, and starts cold
 * otherwise. A taken one is replaced after the call began, one at a time, and not while the machine is busy.
 */
export function createWarmPool(driver: WarmableDriver, parts: WarmPoolParts = {}): WarmPool {
  const { clock = systemClock, isBusy = machineBusy } = parts;
  const settings = { ...WARM_POOL_DEFAULTS, ...parts.settings };
  const demands = createDemands(clock, settings);
  const counted = { warm: 0, cold: 0 };
  /** Calls that are starting a cold sandbox. */
  let starting = 0;
  let closing: Promise<void> | undefined;
  const filling = createFilling({ demands, settings, clock, isBusy: () => starting > 0 || isBusy() });

  const demandOf = (spec: SandboxSpec): Demand | undefined => {
    if (settings.standingMax === 0 || closing !== undefined) return undefined;
    const plan = driver.plan(spec);
    return plan === undefined ? undefined : demands.ask(plan);
  };
  const startCold = async (spec: SandboxSpec): Promise<SandboxProcess> => {
    starting += 1;
    try {
      return await driver.start(spec);
    } finally {
      starting -= 1;
    }
  };
  const close = async (): Promise<void> => {
    await filling.close();
    await driver.close();
  };

  return {
    name: driver.name,
    isolation: driver.isolation,
    supports: driver.supports,
    probe: () => driver.probe(),
    async start(spec) {
      const demand = demandOf(spec);
      if (demand === undefined) return startCold(spec);
      filling.soon();
      const running = handOff(demand, spec);
      counted[running === undefined ? 'cold' : 'warm'] += 1;
      if (running !== undefined) return running;
      // Calls of this key come faster than sandboxes are made.
      if (demand.calls > 1) demand.wanted = Math.min(demand.wanted + 1, WARM_POOL_BOUNDS.standingOfKeyMax);
      return startCold(spec);
    },
    async prepare(spec) {
      await driver.probe();
      const demand = demandOf(spec);
      if (demand !== undefined) await filling.now(demand);
      return (demand?.standing.size ?? 0) > 0;
    },
    counts: () => ({ standing: filling.standing(), ...counted }),
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** Gives the job to the oldest ready one. Undefined when none can take it. */
function handOff(demand: Demand, spec: SandboxSpec): SandboxProcess | undefined {
  for (const entry of demand.standing) {
    demand.standing.delete(entry);
    if (!entry.sandbox.waits()) continue;
    try {
      return entry.sandbox.handOff(spec);
    } catch {
      // Its limits are too tight for the runtime that already waits in it.
      void entry.sandbox.discard();
    }
  }
  return undefined;
}
