import type { LeaseHolder } from '../call-lease-store.port.ts';
import { beat, type HeldCalls } from './heartbeat.ts';
import { sweep } from './sweep.ts';
import type { WorkerParts } from './worker-parts.ts';

/** Most calls without a job or a worker that one sweep after an outage takes up. */
const SWEEP_MAX = 10_000;

/**
 * Beats. After an outage of the store it sweeps at once for calls that nobody holds, and again when leases have expired
 * that nobody could give back, without waiting for the next regular sweep (ORC-06).
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
