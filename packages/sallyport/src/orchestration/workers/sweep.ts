import { failureOf } from '@sallyport/std/error/tool-layer-error';
import { recoverOpenCalls } from '../../pipeline/run.ts';
import type { LeaseHolder } from '../call-lease-store.port.ts';
import type { WorkerParts } from './worker-parts.ts';

/** Jobs added with one statement. */
const AT_ONCE = 500;

/**
 * Queues calls that nobody holds: calls whose job was lost, calls whose worker ended. Settles what dead instances left
 * open (ORC-06). Every instance sweeps; two may find the same call.
 * @param idleMs least wait of a call that never had a worker
 * @param max most calls that are taken up
 */
export async function sweep(parts: WorkerParts, me: LeaseHolder, idleMs: number, max: number): Promise<void> {
  const { leases, queue, intake, limits, log } = parts;
  try {
    await leases.forgetEnded();
    const unattended = await leases.unattended(max, idleMs);
    for (let at = 0; at < unattended.length; at += AT_ONCE) {
      const some = unattended.slice(at, at + AT_ONCE);
      await queue.add(some.map(({ acceptedAt, ...call }) => ({ ...call, due: acceptedAt })));
    }
    if (unattended.length > 0) intake.noteLoad(await queue.length());
    for (const instanceId of await leases.takeDeadInstances(me, limits.leaseMs)) {
      const settled = await recoverOpenCalls(parts, instanceId);
      // Not before: a call that is on record as ended can no longer complete, even if its instance comes back.
      const rolled_back = await parts.rollBackFor(instanceId);
      log.warn('instance-gone', { instance_id: instanceId, settled, rolled_back });
      await leases.forgetInstance(instanceId, me.owner);
    }
  } catch (thrown) {
    log.warn('sweep-failed', { reason: failureOf(thrown).message });
  }
}
