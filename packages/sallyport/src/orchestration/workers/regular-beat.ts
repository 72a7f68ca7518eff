import type { LeaseHolder } from '../call-lease-store.port.ts';
import { beat, type HeldCalls } from './heartbeat.ts';
import { sweep } from './sweep.ts';
import type { WorkerParts } from './worker-parts.ts';

/** Most calls without a job or a worker that one sweep takes up. */
const SWEEP_MAX = 10_000;

/**
 * Beats, and sweeps at once where calls may have lost their worker, without waiting for the next regular sweep
 * (ORC-06): when another instance is gone; after an outage of the store; and when leases have expired since that
 * nobody could give back.
 */
export function regularBeat(parts: WorkerParts, me: LeaseHolder, calls: HeldCalls): () => Promise<void> {
  const { clock, limits } = parts;
  let wasAway = false;
  let instancesBefore = 0;
  /** Monotonic ms. */
  let lookAgainAt = Number.POSITIVE_INFINITY;
  return async () => {
    const instances = await beat(parts, me, calls);
    const isThere = instances !== undefined;
    const isBack = isThere && wasAway;
    wasAway = !isThere;
    if (isBack) lookAgainAt = clock.monotonic() + limits.leaseMs;
    const isDue = isThere && clock.monotonic() >= lookAgainAt;
    if (isDue) lookAgainAt = Number.POSITIVE_INFINITY;
    const isOneGone = isThere && instances < instancesBefore;
    instancesBefore = instances ?? instancesBefore;
    if (isBack || isDue || isOneGone) await sweep(parts, me, 0, SWEEP_MAX);
  };
}
