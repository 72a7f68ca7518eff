import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { CapabilityClaims } from '../../../../api/schemas/capability-token.ts';
import type { ToolInvokeRequest } from '../../../../api/schemas/invocation.ts';
import type { UndoStep } from '../../../domain/invocation/undo-step.ts';
import type { Door } from '../../../domain/principal/principal.ts';
import type { CompensatingCall } from '../../../executors/executor.port.ts';
import { coversTool } from '../../../permission/token-scope.ts';
import type { CallRequest, Resolved } from '../../call.ts';
import type { PipelineParts } from '../../parts.ts';
import { argumentsOutOfBounds } from '../admit.ts';

/** Kind of a step that is taken back by calling another tool. */
export const CALL_STEP = 'call';

/** Journal entry of a compensating call. The token is not kept, only its claims. */
export interface CallStep extends UndoStep {
  readonly kind: typeof CALL_STEP;
  readonly request: Pick<ToolInvokeRequest, 'tool_id' | 'tool_version' | 'parameters' | 'agent_sandbox_context'>;
  readonly claims: CapabilityClaims;
  readonly door: Door;
}

/**
 * The step that undoes a change by calling a tool. Checked now, before anything is changed: that the tool exists, and
 * that the agent may call it. Everything else is judged when it is called.
 */
export async function compensatingStep(
  { visible, limits }: Pick<PipelineParts, 'visible' | 'limits'>,
  call: CallRequest & Resolved,
  { toolId, toolVersion, parameters }: CompensatingCall,
): Promise<CallStep> {
  const { claims, compensates, request, caller } = call;
  const refused =
    compensates === undefined
      ? (argumentsOutOfBounds(parameters, limits) ?? (await notCallable(visible, call, toolId, toolVersion)))
      : TAKES_BACK;
  if (refused !== undefined) throw ToolLayerError.of(refused);
  const { agent_sandbox_context } = request;
  return {
    kind: CALL_STEP,
    request: {
      tool_id: toolId,
      ...(toolVersion === undefined ? {} : { tool_version: toolVersion }),
      parameters: { ...parameters },
      ...(agent_sandbox_context === undefined ? {} : { agent_sandbox_context }),
    },
    claims,
    door: caller.door,
  };
}

/** Otherwise two tools could compensate each other without end. */
const TAKES_BACK: Failure = failure(
  'E3102',
  'This call takes another one back, so it cannot name a call that takes it back in turn.',
  { details: { limit: 'compensation' } },
);

async function notCallable(
  visible: PipelineParts['visible'],
  { principal, claims }: Resolved,
  toolId: string,
  toolVersion: string | undefined,
): Promise<Failure | undefined> {
  const found = await visible.findById({ principal, claims }, toolId, toolVersion);
  if (isFailure(found)) return found;
  const { tool_id, version } = found.tool.manifest;
  return coversTool(claims, tool_id, version);
}
