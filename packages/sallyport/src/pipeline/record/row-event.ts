import { randomUUID } from 'node:crypto';
import { errorBody } from '@sallyport/std/error/failure';
import type { EventType } from '../../../api/schemas/cloud-event.ts';
import type { EventDraft, EventMembers } from '../../domain/event/event-draft.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';

/**
 * An event about a call of which only the row is left: its run is over, or was never here (AUD-01).
 * @param time epoch ms
 * @param own members that the row does not have; default: the state of the row
 */
export function rowEvent(
  record: InvocationRecord,
  type: EventType,
  time: number,
  own: EventMembers = { state: record.state },
): EventDraft {
  const { tenantId, invocationId, failure } = record;
  return {
    id: randomUUID(),
    type,
    time,
    tenantId,
    subject: invocationId,
    data: {
      agent_did: record.agentDid,
      capabilities: [],
      door: record.door,
      error: failure === undefined ? undefined : withoutWords(failure),
      input_hash: record.inputHash,
      invocation_id: invocationId,
      session_id: record.sessionId,
      tenant_id: tenantId,
      tool_id: record.toolId,
      tool_version: record.toolVersion,
      user_did: record.userDid,
      ...own,
    },
  };
}

/** Words and details may quote the caller's or the tool's data, which does not belong in the audit. */
function withoutWords(failed: NonNullable<InvocationRecord['failure']>) {
  const { message: _message, details: _details, ...error } = errorBody(failed);
  return error;
}
