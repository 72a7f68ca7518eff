import type { Role } from '../../../api/schemas/capability-token.ts';
import { type Failure, failure } from '../../domain/error/failure.ts';
import { statusOf } from '../../domain/invocation/lifecycle.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { Principal } from '../../domain/principal/principal.ts';
import { ROLES_FOR } from '../catalogue/entry.ts';
import type { Asker, Run } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { responseOf } from './invoke-tool.ts';

/** BC-2 tool.status(): of a call that runs, from memory; of any other, from the record. */
export function toolStatus({ running, records }: Pick<OperationParts, 'running' | 'records'>): Run<'tool.status'> {
  return async ({ invocation_id }, asker) => {
    const { tenantId } = asker.principal;
    const flight = running.find(tenantId, invocation_id);
    const state = flight?.transitions.at(-1)?.state;
    if (flight !== undefined && state !== undefined && mayLookAt(asker, flight.call.principal?.agentDid)) {
      const { tool_id, execution_options } = flight.call.request;
      const phase = execution_options?.phase;
      return { invocation_id, state, status: statusOf(state), tool_id, ...(phase === undefined ? {} : { phase }) };
    }
    const record = await records.findInvocation(tenantId, invocation_id);
    if (record === undefined || !mayLookAt(asker, record.agentDid)) return noSuchCall(invocation_id);
    return fromRecord(record);
  };
}

function fromRecord(record: InvocationRecord): Awaited<ReturnType<Run<'tool.status'>>> {
  const { warnings: _warnings, polling_info: _polling, ...shown } = responseOf(record);
  const phase = record.phase === undefined ? {} : { phase: record.phase };
  return { ...shown, ...phase, tool_id: record.calledAs ?? record.toolId, state: record.state };
}

/** Whether somebody may look at a call: an agent at its own, who reads for the tenant at all of its tenant. */
function mayLookAt({ principal }: Asker, agentDid: string | undefined): boolean {
  return principal.agentDid === agentDid || hasRole(principal, ROLES_FOR.viewer);
}

/** Whether somebody may end a call: an agent its own, an operator all of its tenant. */
export function mayEnd({ principal }: Asker, agentDid: string | undefined): boolean {
  return principal.agentDid === agentDid || hasRole(principal, ROLES_FOR.operator);
}

const hasRole = ({ roles }: Principal, wanted: readonly Role[]): boolean => roles.some((role) => wanted.includes(role));

/** The same answer for what is not there and for what is not the caller's. */
export function noSuchCall(invocationId: string): Failure {
  return failure('E3809', `There is no invocation ${invocationId} that you may see.`);
}
