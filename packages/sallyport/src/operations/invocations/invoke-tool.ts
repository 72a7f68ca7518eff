import { errorBody } from '@sallyport/std/error/failure';
import { ToolInvokeRequest, ToolInvokeResponse } from '../../../api/schemas/invocation.ts';
import { statusOf } from '../../domain/invocation/lifecycle.ts';
import { type InvocationRecord, waitsFor } from '../../domain/invocation/record.ts';
import { unmeasured } from '../../domain/invocation/usage.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/** BC-2 tool.invoke(): runs the call through the pipeline; however it ends, that is the answer. */
export const invokeTool = operation({
  name: 'tools.invoke',
  summary: 'Invoke a tool (BC-2)',
  method: 'POST',
  path: '/v1/invocations',
  status: 200,
  access: 'token',
  input: ToolInvokeRequest,
  output: ToolInvokeResponse,
  run:
    ({ runCall, callIntake }: Pick<OperationParts, 'runCall' | 'callIntake'>) =>
    async (request, { caller }) => {
      const record = await runCall({ request, caller });
      const answer = responseOf(record);
      // Estimated only for a call that waits for a worker.
      const seconds = waitsFor(record) === 'worker' ? callIntake?.estimateSeconds() : undefined;
      if (seconds === undefined || answer.polling_info === undefined) return answer;
      return { ...answer, polling_info: { ...answer.polling_info, estimated_completion_seconds: seconds } };
    },
});

/** A record as BC-2's response shows it. */
export function responseOf(record: InvocationRecord): ToolInvokeResponse {
  return {
    invocation_id: record.invocationId,
    status: statusOf(record.state, record.failure, record.waiting?.wait.for),
    // The name under which the caller asked; the record has both.
    tool_id: record.calledAs ?? record.toolId,
    ...(record.toolVersion === undefined ? {} : { tool_version: record.toolVersion }),
    ...('result' in record ? { result: record.result } : {}),
    ...(record.failure === undefined ? {} : { error: errorBody(record.failure) }),
    ...warningsOf(record),
    execution_metadata: record.metadata ?? unmeasured(record.acceptedAt),
    ...waitingParts(record),
  };
}

/** The call's warnings, plus one when its result is no longer kept (PIPE-07). */
function warningsOf({ warnings, resultForgottenAt }: InvocationRecord): Pick<ToolInvokeResponse, 'warnings'> {
  if (resultForgottenAt === undefined) return warnings.length === 0 ? {} : { warnings: [...warnings] };
  const at = new Date(resultForgottenAt).toISOString();
  const message = `The result was kept for its time and was forgotten at ${at}. The record of the call stands.`;
  return { warnings: [...warnings, { code: 'E3819', message, details: { forgotten_at: at } }] };
}

/** Where to poll for the answer of a waiting call, and the question to the person. */
function waitingParts({
  invocationId,
  waiting,
}: InvocationRecord): Pick<ToolInvokeResponse, 'polling_info' | 'approval'> {
  if (waiting === undefined) return {};
  const polling_info = { status_url: `/v1/invocations/${encodeURIComponent(invocationId)}` };
  if (waiting.wait.for !== 'approval') return { polling_info };
  const { approvalId, reason, binding, prompt, expiresAt } = waiting.wait.approval;
  return {
    polling_info,
    approval: {
      approval_id: approvalId,
      reason,
      ...(binding.question === undefined ? {} : { question: binding.question }),
      ...(prompt === undefined ? {} : { prompt }),
      expires_at: new Date(expiresAt).toISOString(),
    },
  };
}
