import { setTimeout as wait } from 'node:timers/promises';
import { isFinal } from '../../../domain/invocation/lifecycle.ts';
import type { InvocationRecord } from '../../../domain/invocation/record.ts';
import { surelyNotReached } from '../../../domain/retry/cut-off.ts';
import type { IdempotencyClaim } from '../../idempotency-store.port.ts';
import type { PipelineParts } from '../../parts.ts';

type Parts = Pick<PipelineParts, 'clock' | 'records' | 'running' | 'instanceId'>;

/** How often a duplicate looks whether the first call is over. */
const POLL_MS = 25;
/**
 * After this time without a row, the instance that made a claim counts as gone. A call that is slower asks for its claims
 * once its row stands, before its tool is reached.
 */
const TAKE_OVER_AFTER_MS = 30_000;
/** The same for a claim of this instance's own: its row is written soon after it stopped being under way. */
const OWN_GRACE_MS = 1_000;
/** Most rows that only lead on to another one. */
const LEADS_MAX = 8;

/**
 * What became of the first call with a key: its row, where that answers its duplicates too; `repeatable` when it was cut
 * off and may run again; `lost` when it left no row, so that nothing of it ran.
 */
export type FirstCall = InvocationRecord | 'repeatable' | 'lost';

/**
 * Waits for the first call, in this instance or elsewhere.
 * @param later the duplicate itself does not wait for its answer
 * @throws the signal's reason when the duplicate's own time is over
 */
export async function firstCall(
  parts: Parts,
  holder: IdempotencyClaim,
  later: boolean,
  signal: AbortSignal,
): Promise<FirstCall> {
  const since = parts.clock.monotonic();
  let { invocationId } = holder;
  let leads = 0;
  while (!signal.aborted) {
    const record = await rowOf(parts, holder, invocationId);
    if (record?.answeredBy !== undefined && leads < LEADS_MAX) {
      invocationId = record.answeredBy;
      leads += 1;
      continue;
    }
    if (record !== undefined && answers(record, later)) {
      return isRepeatable(record) ? 'repeatable' : record;
    }
    if (record === undefined && isLost(parts, holder, invocationId, since)) return 'lost';
    await wait(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
  throw signal.reason;
}

/** The row of a call: under the id of its claim, or, when it was refused before it could have a row there, under its nonce. */
async function rowOf(
  { records }: Parts,
  { tenantId, nonce, invocationId: claimed }: IdempotencyClaim,
  invocationId: string,
): Promise<InvocationRecord | undefined> {
  const row = await records.findInvocation(tenantId, invocationId);
  if (row !== undefined || invocationId !== claimed || nonce === claimed) return row;
  return records.findInvocation(tenantId, nonce);
}

/** It was cut off and may run again, or nothing of it ran because the store was away, which then did not free its key either. */
function isRepeatable({ failure, metadata }: InvocationRecord): boolean {
  if (failure?.code !== 'E3812') return failure?.code === 'E3811';
  return metadata?.attempts === 0 || surelyNotReached(failure);
}

/** A call that waits for a person may wait for hours; its duplicate learns what it waits for. */
function answers({ state, waiting }: InvocationRecord, later: boolean): boolean {
  if (isFinal(state)) return true;
  if (state === 'EXECUTING') return later && waiting !== undefined;
  return waiting !== undefined && (later || waiting.wait.for === 'approval');
}

function isLost(
  parts: Parts,
  { tenantId, instanceId }: IdempotencyClaim,
  invocationId: string,
  since: number,
): boolean {
  if (parts.running.find(tenantId, invocationId) !== undefined) return false;
  // Claimed in an earlier life of this instance: what is under way in this one is among its running calls.
  const graceMs = instanceId === parts.instanceId ? OWN_GRACE_MS : TAKE_OVER_AFTER_MS;
  return parts.clock.monotonic() - since >= graceMs;
}
