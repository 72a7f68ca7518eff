import { type ApprovalState, inBackground, keyOf } from './approvals-state.ts';
import { carryOut } from './carry-out.ts';
import { expire } from './decide.ts';
import { notifyPending } from './notify.ts';
import { PAGE_ROWS, pendingOf, waitingRecords } from './pending.ts';

/** How long ended approvals are kept for people to read, ms; the audit record keeps them for good. */
const KEPT_MS = 90 * 24 * 3_600_000;
/** Ms between two prunings. */
const PRUNE_MS = 3_600_000;

/**
 * One sweep over all pending approvals: sends missing notices, expires what nobody answered, and finishes what a crash
 * left half done. Every instance sweeps; what is done already stays as it is.
 */
export async function sweep(state: ApprovalState): Promise<void> {
  const counts = new Map<string, number>();
  const seen = new Set<string>();
  for await (const record of waitingRecords(state)) {
    const pending = pendingOf(state, record);
    if (pending === undefined) continue;
    const { tenantId } = record;
    counts.set(tenantId, (counts.get(tenantId) ?? 0) + 1);
    seen.add(keyOf(tenantId, pending.request.approvalId));
    // One failure must not hold up the others.
    await inBackground(state, 'approval-not-looked-at', async () => {
      if (state.clock.now() >= pending.request.expiresAt) await expire(state, pending);
      else await notifyPending(state, pending);
    });
  }
  state.pendingCounts.clear();
  for (const [tenantId, count] of counts) state.pendingCounts.set(tenantId, count);
  for (const key of state.notified.keys()) if (!seen.has(key)) state.notified.delete(key);
  await goOn(state);
}

/**
 * Carries out decisions that no instance works on: those that this instance gave up need not wait until its claim
 * expires. A call that runs long holds up no other.
 */
async function goOn(state: ApprovalState): Promise<void> {
  const open = await state.store.unfinished(PAGE_ROWS, state.limits.leaseMs);
  for (const closing of [...state.leftOff.values(), ...open])
    void inBackground(state, 'approval-not-carried-out', () => carryOut(state, closing));
}

/** Sweeps until it is disposed. */
export function startSweeping(state: ApprovalState): AsyncDisposable {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let closed = false;
  /** Monotonic ms. */
  let prunedAt = Number.NEGATIVE_INFINITY;
  const turn = async (): Promise<void> => {
    await inBackground(state, 'approvals-not-swept', async () => {
      await sweep(state);
      const now = state.clock.monotonic();
      if (now - prunedAt < PRUNE_MS) return;
      prunedAt = now;
      const removed = await state.store.prune(state.clock.now() - KEPT_MS);
      if (removed > 0) state.log.info('approvals-pruned', { removed });
    });
    if (!closed) plan(state.limits.sweepMs);
  };
  const plan = (afterMs: number): void => {
    timer = setTimeout(() => {
      running = turn();
    }, afterMs).unref();
  };
  plan(0);
  return {
    async [Symbol.asyncDispose]() {
      closed = true;
      clearTimeout(timer);
      await running;
    },
  };
}
