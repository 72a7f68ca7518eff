import { randomUUID } from 'node:crypto';
import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { sha256 } from '@sallyport/std/sha256';
import { OutcomeSettleRequest, UnknownOutcome } from '../../../api/schemas/calls/outcome.ts';
import type { Fault } from '../../../api/schemas/error.ts';
import { recordedChange } from '../../audit/recorded-change.ts';
import type { EventDraft } from '../../domain/event/event-draft.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { OutcomeSettlement } from '../../pipeline/outcome-store.port.ts';
import { checkPayload } from '../../validation/check-payload.ts';
import { type Asker, operation } from '../operation.ts';
import { type OutcomeParts, shownOutcome, unknownOutcome } from './shown-outcome.ts';

/** The finding of a person or a tool. */
type Said = Pick<OutcomeSettlement, 'outcome' | 'how' | 'note' | 'result'>;

/** A person states the outcome of a call that was unknown (PIPE-13). */
export const settleOutcome = operation({
  name: 'outcomes.settle',
  summary: 'Say what became of a call whose outcome was not known; once',
  method: 'POST',
  path: '/v1/outcomes/{invocation_id}/settlement',
  status: 200,
  access: 'operator',
  input: OutcomeSettleRequest,
  output: UnknownOutcome,
  run:
    (parts: OutcomeParts) =>
    ({ invocation_id, outcome, note, result }, asker) => {
      const faults = checkPayload(result ?? null, { depthMax: RESULT_LEVELS_MAX });
      if (faults[0] !== undefined) return unusable(faults, faults[0].message);
      const said: Said = { outcome, how: 'person', note, ...(result === undefined ? {} : { result }) };
      return settle(parts, asker, invocation_id, said);
    },
});

/** As many as the result of a call may have. */
const RESULT_LEVELS_MAX = 256;

/** @returns E3801 with the places in the request */
function unusable(faults: readonly Fault[], first: string): Failure {
  return failure('E3801', `The result cannot be taken: ${first}`, {
    details: { faults: faults.map((fault) => ({ ...fault, path: `/result${fault.path}` })) },
  });
}

/**
 * Settles an unknown outcome once; the row of the call stays as it is.
 * @returns E3704 when it is settled already
 */
export async function settle(
  parts: OutcomeParts,
  asker: Asker,
  invocationId: string,
  said: Said,
): Promise<UnknownOutcome | Failure> {
  const { tenantId, agentDid } = asker.principal;
  const record = await unknownOutcome(parts, tenantId, invocationId);
  if (isFailure(record)) return record;
  const own: OutcomeSettlement = { tenantId, invocationId, by: agentDid, at: parts.clock.now(), ...said };
  const standing = await recordedChange(
    parts.ledger,
    () => [...effectEvent(own, record), settledEvent(own, asker, record.toolId)],
    (keep) => parts.outcomes.settle(own, keep),
  );
  if (!isSame(standing, own)) {
    return failure('E3704', `The call ${invocationId} is settled already: ${standing.outcome}.`, {
      details: { outcome: standing.outcome, how: standing.how },
    });
  }
  // The outcome of a compensating call also settles that of its compensation.
  if (record.compensates !== undefined) await parts.sideEffects.find(tenantId, record.compensates);
  return shownOutcome({ record, settlement: standing });
}

/** True for a repeated settlement, for example after a lost answer: it is no conflict, and changes nothing. */
function isSame(standing: OutcomeSettlement, { outcome, how, by, note }: OutcomeSettlement): boolean {
  return standing.outcome === outcome && standing.how === how && standing.by === by && standing.note === note;
}

/** The end of a side effect that was unknown (VIS-03). */
function effectEvent({ outcome, how, at }: OutcomeSettlement, record: InvocationRecord): EventDraft[] {
  const { tenantId, invocationId, agentDid, toolId, sideEffect } = record;
  if (sideEffect === undefined || sideEffect === 'pure') return [];
  const happened = outcome === 'happened';
  return [
    {
      id: randomUUID(),
      type: happened ? 'ai.agent.tool.side_effect.completed' : 'ai.agent.tool.side_effect.failed',
      time: at,
      tenantId,
      subject: invocationId,
      data: {
        agent_did: agentDid,
        invocation_id: invocationId,
        side_effect: { policy: sideEffect, settled_by: how, status: happened ? 'executed' : 'failed' },
        tenant_id: tenantId,
        tool_id: toolId,
      },
    },
  ];
}

/** The result itself does not belong in the audit, only its hash. */
function settledEvent(
  { tenantId, invocationId, outcome, how, note, result, at }: OutcomeSettlement,
  asker: Asker,
  tool: string,
) {
  return {
    id: randomUUID(),
    type: 'ai.agent.tool.outcome_settled' as const,
    time: at,
    tenantId,
    subject: invocationId,
    data: {
      by: asker.principal.agentDid,
      door: asker.caller.door,
      how,
      invocation_id: invocationId,
      outcome,
      tenant_id: tenantId,
      tool_id: tool,
      ...(note === undefined ? {} : { note }),
      ...(result === undefined ? {} : { output_hash: sha256(canonicalJson(result)) }),
    },
  };
}
