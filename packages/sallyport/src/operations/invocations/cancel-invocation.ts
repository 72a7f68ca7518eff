import { ToolCancelRequest, ToolCancelResponse } from '../../../api/schemas/invocation.ts';
import { isFinal } from '../../domain/invocation/lifecycle.ts';
import type { CancelEnd } from '../../orchestration/workers.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { noSuchCall } from './get-invocation.ts';
import { mayReach } from './may-reach.ts';

type Parts = Pick<OperationParts, 'running' | 'records' | 'callWorkers'>;

const MESSAGES: Readonly<Record<CancelEnd, string>> = {
  ended: 'The call waited, and will not run',
  notified: 'Cancellation in progress',
  unreachable: 'Nobody runs the call whom this layer could tell',
};

/**
 * BC-2 tool.cancel(): idempotent; a call that is over stays as it is. A waiting call ends at once; a call that runs
 * here is cancelled at once, one that runs in another instance with that instance's next beat.
 */
export const cancelInvocation = operation({
  name: 'invocations.cancel',
  summary: 'Cancel an invocation (BC-2)',
  method: 'DELETE',
  path: '/v1/invocations/{invocation_id}',
  status: 200,
  access: 'token',
  input: ToolCancelRequest,
  output: ToolCancelResponse,
  run:
    ({ running, records, callWorkers }: Parts) =>
    async ({ invocation_id, reason, own }, asker) => {
      const { tenantId } = asker.principal;
      const reach = own === true ? undefined : 'operator';
      const answer = (cancelled: boolean, message: string): ToolCancelResponse => ({
        invocation_id,
        cancelled,
        message,
      });
      const ongoing = running.find(tenantId, invocation_id);
      if (ongoing !== undefined && mayReach(asker, ongoing.call.principal, reach)) {
        running.cancel(ongoing, reason);
        if (ongoing.resumed?.hold !== undefined)
          await callWorkers?.keepCancel({ tenantId, invocationId: invocation_id }, reason);
        return answer(true, MESSAGES.notified);
      }
      const record = await records.findInvocation(tenantId, invocation_id);
      if (record === undefined || !mayReach(asker, record, reach)) return noSuchCall(invocation_id);
      if (isFinal(record.state)) return answer(false, `Already over: ${record.state}`);
      const end = (await callWorkers?.cancel(record, reason)) ?? 'unreachable';
      if (end !== 'unreachable') return answer(true, MESSAGES[end]);
      const now = await records.findInvocation(tenantId, invocation_id);
      return answer(
        false,
        now !== undefined && isFinal(now.state) ? `Already over: ${now.state}` : MESSAGES.unreachable,
      );
    },
});
