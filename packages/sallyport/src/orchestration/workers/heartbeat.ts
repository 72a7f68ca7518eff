import { failureOf } from '@sallyport/std/error/tool-layer-error';
import { textOfCall } from '../../domain/invocation/call-key.ts';
import type { Progress } from '../../domain/principal/principal.ts';
import type { AttendedCall, HeldProgress, LeaseHolder } from '../call-lease-store.port.ts';
import type { HeldCall } from './held-call.ts';
import type { WorkerParts } from './worker-parts.ts';

/** Characters of a tool's own text on its progress. */
const PHASE_MAX = 200;

/** The calls that this instance holds. */
export type HeldCalls = ReadonlyMap<string, HeldCall>;

/**
 * One beat of an instance: renews its leases, stores progress, and reads requests of others. A lease that does not come
 * back belongs to another holder, and its run ends here.
 * @returns the number of instances that beat, this one included; undefined when the store could not be reached
 */
export async function beat(parts: WorkerParts, me: LeaseHolder, calls: HeldCalls): Promise<number | undefined> {
  const { leases, running, intake, limits, log, queue } = parts;
  // Leases that are taken while the beat is under way are not judged by it.
  const before = [...calls.values()].filter(({ lease }) => lease !== undefined);
  try {
    const { held, unheld, instances } = await leases.beat(me, limits.leaseMs, attended(parts, before));
    const mine = new Map(held.map((each) => [textOfCall(each), each]));
    for (const call of before) {
      const found = mine.get(textOfCall(call));
      if (calls.get(textOfCall(call)) !== call) continue;
      if (found === undefined || found.fence !== call.lease?.fence) call.lose();
      else {
        if (found.cancel !== undefined) call.cancel(found.cancel);
        if (found.answers !== undefined)
          running.find(call.tenantId, call.invocationId)?.toolRun.questions.answer(found.answers);
        call.extendedMs = Math.max(call.extendedMs, found.extendedMs);
        running.find(call.tenantId, call.invocationId)?.toolRun.deadline?.extendTo(call.extendedMs);
      }
    }
    for (const { tenantId, invocationId, cancel } of unheld) {
      const ongoing = running.find(tenantId, invocationId);
      if (ongoing !== undefined) running.cancel(ongoing, cancel);
    }
    intake.noteLoad(intake.queued() === 0 ? 0 : await queue.length(), instances);
    return instances;
  } catch (thrown) {
    log.warn('leases-not-renewed', { reason: failureOf(thrown).message, held: before.length });
    return undefined;
  }
}

function attended({ running }: WorkerParts, calls: readonly HeldCall[]): AttendedCall[] {
  return calls.map(({ tenantId, invocationId }) => {
    const { progress, openQuestions: questions } = running.find(tenantId, invocationId)?.toolRun ?? {};
    const shown = shownProgress(progress);
    if (questions !== undefined) return { tenantId, invocationId, progress: { ...shown, questions } };
    return { tenantId, invocationId, ...(shown === undefined ? {} : { progress: shown }) };
  });
}

/** A tool's progress as it is shown. The percentage is known only when the tool reports a total. */
export function shownProgress(said: Progress | undefined): HeldProgress | undefined {
  if (said === undefined) return undefined;
  const { progress, total, message } = said;
  const percent = total === undefined || !(total > 0) ? Number.NaN : (progress / total) * 100;
  return {
    ...(Number.isFinite(percent) ? { percent: Math.round(Math.min(100, Math.max(0, percent)) * 10) / 10 } : {}),
    ...(typeof message === 'string' ? { phase: message.slice(0, PHASE_MAX).toWellFormed() } : {}),
  };
}
