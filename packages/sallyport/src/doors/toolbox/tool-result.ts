import { errorBody, type Failure } from '@sallyport/std/error/failure';
import type { ToolErrorBody } from '../../../api/schemas/error.ts';
import type { PendingApproval, ToolInvokeResponse, ToolStatusResponse } from '../../../api/schemas/invocation.ts';
import { type ToolErrorContext, toolErrorText } from '../../operations/error-for-model.ts';
import type { PlannedToolExecution, SupersedeDecision, ToolResult } from './toolbox-types.ts';

/** The result of a call: its outcome, or what it waits for. */
export function resultOf(
  { toolName, args = {} }: Pick<PlannedToolExecution, 'toolName' | 'args'>,
  response: ToolInvokeResponse | ToolStatusResponse,
  context: ToolErrorContext = {},
): ToolResult {
  const { invocation_id, status, error, approval, execution_metadata: metadata } = response;
  const success = status === 'success';
  const cached = metadata?.cached === true;
  const warnings = 'warnings' in response ? response.warnings : undefined;
  return {
    toolName,
    status: success ? (cached ? 'cached' : 'success') : approval === undefined ? 'error' : 'confirmation',
    success,
    cached,
    callStatus: status,
    ...('result' in response ? { data: response.result } : {}),
    ...(error === undefined ? {} : errorParts(error, context)),
    ...(approval === undefined
      ? {}
      : {
          confirmation: {
            toolName,
            args,
            prompt: promptOf(approval, toolName),
            reason: approval.reason,
            approvalId: approval.approval_id,
            invocationId: invocation_id,
            expiresAt: approval.expires_at,
          },
        }),
    ...(warnings === undefined ? {} : { warnings }),
    invocationId: invocation_id,
    ...(metadata === undefined ? {} : { executionTimeMs: metadata.duration_ms }),
  };
}

/** The result of an execution that never became a call, or whose call is unknown. */
export function errorResult(toolName: string, failed: Failure, context: ToolErrorContext = {}): ToolResult {
  return { toolName, status: 'error', success: false, cached: false, ...errorParts(errorBody(failed), context) };
}

/** The result of an execution that the caller decided to skip. */
export function skippedResult(toolName: string, failed: Failure, supersede: SupersedeDecision): ToolResult {
  return { ...errorResult(toolName, failed), status: 'skipped', supersede };
}

const errorParts = (error: ToolErrorBody, context: ToolErrorContext): Pick<ToolResult, 'error' | 'modelText'> => ({
  error,
  modelText: toolErrorText(error, context),
});

/** The executor's question comes first, so that no text of a manifest can imitate it. */
function promptOf({ question, prompt }: PendingApproval, toolName: string): string {
  const own = prompt ?? `May ${toolName} run with these arguments?`;
  return question === undefined ? own : `${question} ${own}`;
}
