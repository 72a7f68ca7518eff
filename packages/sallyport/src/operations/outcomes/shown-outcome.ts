import { errorBody, type Failure, failure } from '@sallyport/std/error/failure';
import type {
  OutcomeSettlement as SettlementBody,
  UnknownOutcome as UnknownOutcomeBody,
} from '../../../api/schemas/calls/outcome.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { OutcomeSettlement, UnknownOutcome } from '../../pipeline/outcome-store.port.ts';
import type { OperationParts } from '../parts.ts';

/** A call with an unknown outcome as the wire has it. */
export function shownOutcome({ record, settlement }: UnknownOutcome): UnknownOutcomeBody {
  return {
    invocation_id: record.invocationId,
    tool_id: record.toolId,
    ...(record.toolVersion === undefined ? {} : { tool_version: record.toolVersion }),
    agent_did: record.agentDid,
    ...(record.userDid === undefined ? {} : { user_did: record.userDid }),
    ...(record.sessionId === undefined ? {} : { session_id: record.sessionId }),
    ...(record.sideEffect === undefined ? {} : { side_effect_policy: record.sideEffect }),
    ...(record.inputHash === undefined ? {} : { input_hash: record.inputHash }),
    accepted_at: new Date(record.acceptedAt).toISOString(),
    error: errorBody(record.failure ?? failure('E3804', 'The outcome of the call is not known.')),
    ...(settlement === undefined ? {} : { settlement: shownSettlement(settlement) }),
  };
}

/** A settlement as the wire has it. */
export function shownSettlement({ outcome, how, by, note, result, at }: OutcomeSettlement): SettlementBody {
  return {
    outcome,
    how,
    ...(by === undefined ? {} : { settled_by: by }),
    ...(note === undefined ? {} : { note }),
    ...(result === undefined ? {} : { result }),
    settled_at: new Date(at).toISOString(),
  };
}

/** Dependencies of settlements. */
export type OutcomeParts = Pick<OperationParts, 'outcomes' | 'records' | 'ledger' | 'clock' | 'sideEffects'>;

/** A call whose outcome is or was unknown. @returns E3809 for any other, and for calls of other tenants */
export async function unknownOutcome(
  parts: OutcomeParts,
  tenantId: string,
  invocationId: string,
): Promise<InvocationRecord | Failure> {
  const record = await parts.records.findInvocation(tenantId, invocationId);
  if (record?.failure?.code !== 'E3804') {
    return failure('E3809', `There is no call ${invocationId} with an unknown outcome.`);
  }
  return record;
}
