import { randomUUID } from 'node:crypto';
import { type Failure, failure } from '@sallyport/std/error/failure';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import { recordedChange } from '../../audit/recorded-change.ts';
import type { EventDraft } from '../../domain/event/event-draft.ts';
import { isFinal } from '../../domain/invocation/lifecycle.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { Compensation, CompensationStep } from '../compensation-store.port.ts';
import type { CompensationParts } from './compensation-parts.ts';

type Parts = Pick<CompensationParts, 'compensations' | 'ledger' | 'clock' | 'log'>;

/**
 * Records the outcome of a compensation, from the row of its call.
 * @returns its state; a failure when nothing of it ran, and then nothing is written
 */
export async function settle(
  parts: Parts,
  record: InvocationRecord,
  begun: Compensation,
  call: InvocationRecord,
): Promise<Compensation | Failure> {
  const compensationId = call.invocationId;
  if (!isFinal(call.state)) return { ...begun, compensationId };
  const state = endOf(call);
  if (state === undefined) return call.failure ?? failure('E3900', 'The compensating call ended without a result.');
  const { errorCode: _earlier, ...row } = begun;
  const ended: Compensation = {
    ...row,
    state,
    compensationId,
    endedAt: parts.clock.now(),
    ...(call.failure === undefined ? {} : { errorCode: call.failure.code }),
  };
  const from = { attempt: begun.attempt, state: 'compensating' } as const;
  if (await writeEnd(parts, ended, from, record)) return ended;
  // Another instance found the same and wrote it.
  const [now] = await parts.compensations.find(begun.tenantId, [begun.invocationId]);
  return now ?? ended;
}

/** The code of a compensation that an approver denied: nothing of it ran, and somebody may ask again. */
export const DENIED = 'E3807';

/**
 * The end of a compensation, from the end of its call; undefined when nothing of the call ran, or it may run again. A
 * denial is an end: the call keeps its key, so that only another attempt can ask again.
 */
export function endOf({ state, failure: failed, metadata }: InvocationRecord): Compensation['state'] | undefined {
  if (state === 'COMPLETED') return 'compensated';
  if (failed?.code === 'E3804') return 'unknown';
  if (failed?.code === DENIED) return 'failed';
  const attempts = metadata?.attempts ?? 0;
  return attempts === 0 || failed?.code === 'E3811' ? undefined : 'failed';
}

/** The compensating call, or the one that answered it; undefined while there is none. */
export async function callOf(
  { records }: Pick<CompensationParts, 'records'>,
  { tenantId, compensationId }: Compensation,
): Promise<InvocationRecord | undefined> {
  const own = await records.findInvocation(tenantId, compensationId);
  return own?.answeredBy === undefined ? own : records.findInvocation(tenantId, own.answeredBy);
}

/**
 * Takes back the beginning of a compensation whose call came to nothing: the side effect is as it was before. A later
 * attempt stays on record as failed.
 */
export async function giveUp(
  { compensations }: Pick<Parts, 'compensations'>,
  begun: Compensation,
  failed: Pick<Failure, 'code'> | undefined,
): Promise<void> {
  const { tenantId, invocationId, attempt } = begun;
  const from = { attempt, state: 'compensating' } as const;
  if (attempt === 1) await compensations.remove(tenantId, invocationId, from);
  else await compensations.change({ ...begun, state: 'failed', errorCode: failed?.code ?? 'E3900' }, from);
}

/**
 * Writes the end of a compensation, and adds the compensated call to the audit of the compensating call, which has all
 * other events already.
 * @param record of the compensated call
 * @returns false, with nothing written, when the compensation is not at `from`
 */
export async function writeEnd(
  { compensations, ledger, clock, log }: Parts,
  ended: Compensation,
  from: CompensationStep,
  record: InvocationRecord | undefined,
): Promise<boolean> {
  let isWritten = false;
  const eventsOf = () =>
    record === undefined || ended.state !== 'compensated' ? [] : [compensatedEvent(record, ended, clock.now())];
  try {
    await recordedChange(ledger, eventsOf, async (keep) => {
      isWritten = await compensations.change(ended, from, keep);
    });
  } catch (thrown) {
    if (!isWritten) throw thrown;
    log.warn('compensation-not-audited', { invocation_id: ended.invocationId, e_code: failureOf(thrown).code });
  }
  return isWritten;
}

function compensatedEvent(record: InvocationRecord, ended: Compensation, time: number): EventDraft {
  const { tenantId, invocationId, toolId, toolVersion, sideEffect, compensation, idempotencyKey } = record;
  return {
    id: randomUUID(),
    type: 'ai.agent.tool.side_effect.compensated',
    time,
    tenantId,
    subject: invocationId,
    data: {
      agent_did: ended.by,
      invocation_id: invocationId,
      side_effect: {
        compensation_executed: true,
        compensation_id: ended.compensationId,
        ...(compensation === undefined ? {} : { compensation_tool: compensation.toolId }),
        ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }),
        policy: sideEffect,
        status: 'compensated',
      },
      tenant_id: tenantId,
      tool_id: toolId,
      ...(toolVersion === undefined ? {} : { tool_version: toolVersion }),
    },
  };
}
