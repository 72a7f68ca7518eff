import { ToolLayerError } from '../../domain/error/tool-layer-error.ts';
import type { Run } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { mayEnd, noSuchCall } from './tool-status.ts';

/** BC-2 tool.cancel(): idempotent; what is over stays as it is. */
export function cancelTool({ running, records }: Pick<OperationParts, 'running' | 'records'>): Run<'tool.cancel'> {
  return async ({ invocation_id, reason }, asker) => {
    const { tenantId } = asker.principal;
    const flight = running.find(tenantId, invocation_id);
    if (flight !== undefined && mayEnd(asker, flight.call.principal?.agentDid)) {
      const because = reason === undefined ? '' : ` Reason given: ${reason}`;
      flight.controller.abort(new ToolLayerError('E3805', `The call was cancelled.${because}`));
      return { invocation_id, cancelled: true, message: 'Cancellation in progress' };
    }
    const record = await records.findInvocation(tenantId, invocation_id);
    if (record === undefined || !mayEnd(asker, record.agentDid)) return noSuchCall(invocation_id);
    return { invocation_id, cancelled: false, message: `Already over: ${record.state}` };
  };
}
