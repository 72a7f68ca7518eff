import type { Clock } from '@sallyport/std/clock';
import type { Demand, Demands, Standing } from './demand.ts';
import { WARM_POOL_BOUNDS, type WarmPoolSettings } from './settings.ts';
import type { StandingSandbox } from './warmable-driver.ts';

/** Dependencies of the filling. */
export interface FillingParts {
  readonly demands: Demands;
  readonly settings: WarmPoolSettings;
  readonly clock: Clock;
  /** True while more urgent work delays making sandboxes. */
  readonly isBusy: () => boolean;
}

/** Makes sandboxes in advance, one at a time, and ends those no longer needed. */
export interface Filling {
  /** Soon checks whether one must be made. */
  soon(): void;
  /** Makes one for this key now, up to the limits. */
  now(demand: Demand): Promise<void>;
  /** Number of ready sandboxes. */
  standing(): number;
  /** Ends ready sandboxes and makes no more. */
  close(): Promise<void>;
}

/** The filling of one pool. Its timers do not keep the process alive. */
export function createFilling({ demands, settings, clock, isBusy }: FillingParts): Filling {
  let making: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const standing = (): number => demands.all().reduce((sum, demand) => sum + demand.standing.size, 0);
  const plan = (delayMs: number): void => {
    if (isClosed) return;
    clearTimeout(timer);
    timer = setTimeout(look, delayMs).unref();
  };
  const look = (): void => {
    if (making !== undefined) return;
    const old = [...demands.forgetOld(), ...demands.all().flatMap((demand) => takeOld(demand, clock, settings))];
    for (const sandbox of old) void sandbox.discard();
    const demand = demands.next();
    // Nothing to do until something has grown old.
    if (demand === undefined) plan(settings.ageMaxMs);
    else if (isBusy()) plan(WARM_POOL_BOUNDS.refillRetryMs);
    else if (hasRoom(demand)) void make(demand);
    else plan(settings.ageMaxMs);
  };
  /** True when one more may be made for this key, replacing one of a less recently requested key if necessary. */
  const hasRoom = (demand: Demand): boolean => {
    if (standing() < settings.standingMax) return true;
    const all = demands.all();
    const other = all.slice(0, all.indexOf(demand)).find((one) => one.standing.size > 0);
    const [oldest] = other?.standing ?? [];
    if (other === undefined || oldest === undefined) return false;
    other.standing.delete(oldest);
    other.wanted = Math.max(1, other.wanted - 1);
    void oldest.sandbox.discard();
    return true;
  };
  const make = (demand: Demand): Promise<void> => {
    making = stand(demand, clock).then(async () => {
      making = undefined;
      if (isClosed) await end(demands);
      plan(WARM_POOL_BOUNDS.refillDelayMs);
    });
    return making;
  };

  return {
    soon: () => plan(WARM_POOL_BOUNDS.refillDelayMs),
    async now(demand) {
      await making;
      if (!isClosed && demand.standing.size < WARM_POOL_BOUNDS.standingOfKeyMax && hasRoom(demand)) await make(demand);
    },
    standing,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await making;
      await end(demands);
    },
  };
}

async function stand(demand: Demand, clock: Clock): Promise<void> {
  try {
    const sandbox = await demand.plan.stand();
    demand.failures = 0;
    demand.standing.add({ sandbox, bornMs: clock.monotonic() });
  } catch {
    // A call that starts cold meets the same fault and reports it.
    demand.failures += 1;
  }
}

async function end(demands: Demands): Promise<void> {
  await Promise.all(demands.all().flatMap((demand) => take(demand).map((sandbox) => sandbox.discard())));
}

function take({ standing }: Demand, isWanted: (entry: Standing) => boolean = () => true): StandingSandbox[] {
  const taken = [...standing].filter(isWanted);
  for (const entry of taken) standing.delete(entry);
  return taken.map(({ sandbox }) => sandbox);
}

/** Takes those that ended by themselves, and those that grew old because calls became fewer. */
function takeOld(demand: Demand, clock: Clock, { ageMaxMs }: WarmPoolSettings): StandingSandbox[] {
  const old = take(demand, ({ bornMs }) => clock.monotonic() - bornMs >= ageMaxMs);
  demand.wanted = Math.max(1, demand.wanted - old.length);
  return [...old, ...take(demand, ({ sandbox }) => !sandbox.waits())];
}
