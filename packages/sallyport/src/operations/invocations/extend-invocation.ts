import { ToolExtendRequest, ToolExtendResponse } from '../../../api/schemas/invocation.ts';
import { type InvocationRecord, waitsFor } from '../../domain/invocation/record.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { noSuchCall } from './get-invocation.ts';
import { mayReach } from './may-reach.ts';

type Parts = Pick<OperationParts, 'running' | 'records' | 'callWorkers' | 'clock' | 'limits'>;

/**
 * Gives more time to a call that a worker runs, in any instance (PIPE-12). No call exceeds the longest time that any
 * may have; a synchronous call, or one that does not run, gets none.
 */
export const extendInvocation = operation({
  name: 'invocations.extend',
  summary: 'Give an asynchronous invocation that runs more time',
  method: 'POST',
  path: '/v1/invocations/{invocation_id}/extension',
  status: 200,
  access: 'token',
  input: ToolExtendRequest,
  output: ToolExtendResponse,
  run:
    ({ running, records, callWorkers, clock, limits }: Parts) =>
    async ({ invocation_id, extend_seconds }, asker) => {
      const { tenantId } = asker.principal;
      const answer = (extended: boolean, message: string): ToolExtendResponse => ({ invocation_id, extended, message });
      const record = await records.findInvocation(tenantId, invocation_id);
      if (record === undefined || !mayReach(asker, record, 'operator')) return noSuchCall(invocation_id);
      const problem = whyNot(record);
      if (problem !== undefined) return answer(false, problem);
      if ((await callWorkers?.extend(record, extend_seconds * 1000)) !== true) return answer(false, NOT_RUNNING);
      const longest = limits.laterTimeoutMsMax / 1000;
      const message = `The call has up to ${extend_seconds} s more, and no more than ${longest} s in all`;
      const leftMs = running.find(tenantId, invocation_id)?.toolRun.deadline?.leftMs();
      if (leftMs === undefined) return answer(true, message);
      return { ...answer(true, message), deadline: new Date(clock.now() + leftMs).toISOString() };
    },
});

const NOT_RUNNING = 'The call does not run; its time begins when it does';

function whyNot(record: InvocationRecord): string | undefined {
  if (waitsFor(record) !== undefined) return undefined;
  return record.state === 'EXECUTING'
    ? 'A call that its caller waits for cannot be extended; call with execution_options.async_mode'
    : `Already over: ${record.state}`;
}
