import { type Clock, systemClock } from '@sallyport/std/clock';
import type { SandboxDriver, SandboxProcess, SandboxSpec } from './driver.port.ts';
import { machineBusy } from './linux/machine-busy.ts';
import { createDemands, type Demand } from './warm-pool/demand.ts';
import { createFilling } from './warm-pool/filling.ts';
import { WARM_POOL_BOUNDS, WARM_POOL_DEFAULTS, type WarmPoolSettings } from './warm-pool/settings.ts';
import type { WarmableDriver } from './warm-pool/warmable-driver.ts';

export type { WarmableDriver, WarmPoolSettings };
export { WARM_POOL_DEFAULTS };

/** A driver whose sandboxes may have been made ahead; each still serves one call and is gone after it (SBX-06). */
export interface WarmPool extends SandboxDriver {
  /**
   * Makes one sandbox for specs like this now, as if a call had asked for it, up to the bounds.
   * @returns whether one stands ready; false where none can be made ahead
   * @throws what `start` throws for a spec that cannot be run
   */
  prepare(spec: SandboxSpec): Promise<boolean>;
  counts(): WarmPoolCounts;
  /** Ends what stands ready, and what the driver keeps. Sandboxes that run are not touched. Idempotent. */
  close(): Promise<void>;
}

/** What a pool did. */
export interface WarmPoolCounts {
  /** Sandboxes that stand ready now. */
  readonly standing: number;
  /** Calls that got one. */
  readonly warm: number;
  /** Calls that could have had one, and found none. */
  readonly cold: number;
}

/** What a pool stands on beside its driver; everything has a default. */
export interface WarmPoolParts {
  readonly settings?: Partial<WarmPoolSettings>;
  readonly clock?: Clock;
  /** Whether the machine has better things to do than to make a sandbox ahead. */
  readonly isBusy?: () => boolean;
}

/**
 * Keeps sandboxes ready for what calls asked for lately. A call takes one if one stands ready, and starts cold if not. The
 * place of one that was taken is filled after the call began, one at a time, and not while the machine is busy.
 */
export function createWarmPool(driver: WarmableDriver, parts: WarmPoolParts = {}): WarmPool {
  const { clock = systemClock, isBusy = machineBusy } = parts;
  const settings = { ...WARM_POOL_DEFAULTS, ...parts.settings };
  const demands = createDemands(clock, settings);
  const counted = { warm: 0, cold: 0 };
  /** Calls that are on their way into a cold sandbox. */
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

/** Gives the job to the oldest that stands ready. Undefined when none can take it. */
function handOff(demand: Demand, spec: SandboxSpec): SandboxProcess | undefined {
  for (const entry of demand.standing) {
    demand.standing.delete(entry);
    if (!entry.sandbox.waits()) continue;
    try {
      return entry.sandbox.handOff(spec);
    } catch {
      // Its limits are too tight for what already waits in it.
      void entry.sandbox.discard();
    }
  }
  return undefined;
}
