import { type Failure, failure } from '../domain/error/failure.ts';
import { statusOf } from '../domain/invocation/lifecycle.ts';
import type { InvocationRecord } from '../domain/invocation/record.ts';
import { responseOf } from './invoke-tool.ts';
import type { Asker, Run } from './operation.ts';
import type { OperationParts } from './parts.ts';

/** BC-2 tool.status(): of a call that runs, from memory; of any other, from the record. */
export function toolStatus({ running, records }: Pick<OperationParts, 'running' | 'records'>): Run<'tool.status'> {
  return async ({ invocation_id }, asker) => {
    const { tenantId } = asker.principal;
    const flight = running.find(tenantId, invocation_id);
    const state = flight?.transitions.at(-1)?.state;
    if (flight !== undefined && state !== undefined && mayAskOf(asker, flight.call.principal?.agentDid)) {
      return { invocation_id, state, status: statusOf(state), tool_id: flight.call.request.tool_id };
    }
    const record = await records.findInvocation(tenantId, invocation_id);
    if (record === undefined || !mayAskOf(asker, record.agentDid)) return noSuchCall(invocation_id);
    return fromRecord(record);
  };
}

function fromRecord(record: InvocationRecord): Awaited<ReturnType<Run<'tool.status'>>> {
  const { warnings: _warnings, ...shown } = responseOf(record);
  return { ...shown, tool_id: record.calledAs ?? record.toolId, state: record.state };
}

/** An agent asks of its own calls, an operator of all of its tenant. */
export function mayAskOf({ principal }: Asker, agentDid: string | undefined): boolean {
  return principal.agentDid === agentDid || principal.roles.includes('operator') || principal.roles.includes('admin');
}

/** The same answer for what is not there and for what is not the caller's. */
export function noSuchCall(invocationId: string): Failure {
  return failure('E3809', `There is no invocation ${invocationId} that you may see.`);
}
