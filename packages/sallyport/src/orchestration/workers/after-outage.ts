import type { LeaseHolder } from '../call-lease-store.port.ts';
import { beat, type HeldCalls } from './heartbeat.ts';
import { sweep } from './sweep.ts';
import type { WorkerParts } from './worker-parts.ts';

/** Calls that one look after an outage takes up at most: whatever lost its job or its worker. */
const SWEEP_MAX = 10_000;

/**
 * Beats. Once the store is back that could not be reached, what nobody attends to any more is looked for at once, and once
 * more when leases have run out that nobody could give back: it need not wait for its turn (ORC-06).
 */
export function beatThroughOutages(parts: WorkerParts, me: LeaseHolder, calls: HeldCalls): () => Promise<void> {
  const { clock, limits } = parts;
  let wasAway = false;
  /** Monotonic ms. */
  let lookAgainAt = Number.POSITIVE_INFINITY;
  return async () => {
    const isThere = await beat(parts, me, calls);
    const isBack = isThere && wasAway;
    wasAway = !isThere;
    if (isBack) lookAgainAt = clock.monotonic() + limits.leaseMs;
    const isDue = isThere && clock.monotonic() >= lookAgainAt;
    if (isDue) lookAgainAt = Number.POSITIVE_INFINITY;
    if (isBack || isDue) await sweep(parts, me, 0, SWEEP_MAX);
  };
}
