import { setTimeout as wait } from 'node:timers/promises';
import { isFinal } from '../../../domain/invocation/lifecycle.ts';
import type { InvocationRecord } from '../../../domain/invocation/record.ts';
import { surelyNotReached } from '../../../domain/retry/cut-off.ts';
import type { IdempotencyClaim } from '../../idempotency-store.port.ts';
import type { PipelineParts } from '../../parts.ts';

type Parts = Pick<PipelineParts, 'clock' | 'idempotency' | 'records' | 'running' | 'instanceId'>;

/** How often a duplicate polls for the end of the first call, ms. */
const POLL_MS = 25;
/**
 * Without a row for this long, ms, the instance that made a claim counts as gone. A slower call checks its claims once
 * its row is written, before its tool is reached.
 */
const TAKE_OVER_AFTER_MS = 30_000;
/**
 * As above, for claims that this instance made: shorter, since its row follows soon after the call ends here. In ms.
 */
const OWN_GRACE_MS = 1_000;
/** Most rows that are followed from one to another. */
const LEADS_MAX = 8;

/**
 * What became of the first call with a key: its row, when that answers its duplicates too; `repeatable` when it was cut
 * off and may run again; `lost` when it left no row, so that nothing of it ran; `freed` when it gave its claim back
 * without a row, or when a crash of the database undid the claim.
 */
export type FirstCall = InvocationRecord | 'repeatable' | 'lost' | 'freed';

/**
 * Waits for the first call, in this instance or elsewhere.
 * @param later true when the duplicate is asynchronous and does not wait for its answer
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
    if (record === undefined) {
      if (!(await isClaimed(parts, holder))) return 'freed';
      if (isLost(parts, holder, invocationId, since)) return 'lost';
    }
    await wait(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
  throw signal.reason;
}

/**
 * The row of a call: under the id of its claim, or under its nonce when it was refused before it could have a row
 * there.
 */
async function rowOf(
  { records }: Parts,
  { tenantId, nonce, invocationId: claimed }: IdempotencyClaim,
  invocationId: string,
): Promise<InvocationRecord | undefined> {
  const row = await records.findInvocation(tenantId, invocationId);
  if (row !== undefined || invocationId !== claimed || nonce === claimed) return row;
  return records.findInvocation(tenantId, nonce);
}

/**
 * True when the call was cut off and may run again, or when nothing of it ran because the store was unavailable, so
 * that its key was not freed either.
 */
function isRepeatable({ failure, metadata }: InvocationRecord): boolean {
  if (failure?.code !== 'E3812') return failure?.code === 'E3811';
  return metadata?.attempts === 0 || surelyNotReached(failure);
}

/** A call may wait for a person for hours; its duplicate is answered with what it waits for. */
function answers({ state, waiting }: InvocationRecord, later: boolean): boolean {
  if (isFinal(state)) return true;
  if (state === 'EXECUTING') return later && waiting !== undefined;
  return waiting !== undefined && (later || waiting.wait.for === 'approval');
}

async function isClaimed({ idempotency }: Parts, { tenantId, key, nonce }: IdempotencyClaim): Promise<boolean> {
  return (await idempotency.find(tenantId, key))?.nonce === nonce;
}

function isLost(
  parts: Parts,
  { tenantId, instanceId }: IdempotencyClaim,
  invocationId: string,
  since: number,
): boolean {
  if (parts.running.find(tenantId, invocationId) !== undefined) return false;
  // Claims of an earlier life of this instance get the short grace too: calls of this life are among its running calls.
  const graceMs = instanceId === parts.instanceId ? OWN_GRACE_MS : TAKE_OVER_AFTER_MS;
  return parts.clock.monotonic() - since >= graceMs;
}
