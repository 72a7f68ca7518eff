import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { ToolInvokeRequest } from '../../../api/schemas/invocation.ts';
import type { Caller } from '../../domain/principal/principal.ts';
import type { ToolErrorContext } from '../../operations/error-for-model.ts';
import type { ToolLayer } from '../../operations/tool-layer.ts';
import { askSupersede } from './supersede.ts';
import { errorResult, resultOf } from './tool-result.ts';
import type { PlannedToolExecution, ToolMetadata, ToolResult, TurnContext } from './toolbox-types.ts';

/** Dependencies of the executions of one toolbox. */
export interface ExecuteParts {
  readonly layer: ToolLayer;
  readonly caller: Caller;
}

/** Runs one tool in a turn; never rejects. */
export async function execute(
  parts: ExecuteParts,
  planned: PlannedToolExecution,
  { turnGroupId, checkSupersede }: TurnContext,
): Promise<ToolResult> {
  const { layer, caller } = parts;
  if (checkSupersede === undefined) return run(parts, planned, turnGroupId, undefined);
  const asked = await askSupersede(layer, caller, planned, checkSupersede);
  if ('stopped' in asked) return asked.stopped;
  const result = await run(parts, planned, turnGroupId, asked.metadata);
  return asked.decision === undefined ? result : { ...result, supersede: asked.decision };
}

async function run(
  parts: ExecuteParts,
  planned: PlannedToolExecution,
  turnGroupId: string | undefined,
  metadata: ToolMetadata | undefined,
): Promise<ToolResult> {
  const context: ToolErrorContext = metadata?.isSafeToRetry === true ? { safeToRepeat: true } : {};
  try {
    const response = await parts.layer.ask('tools.invoke', requestOf(planned, turnGroupId), parts.caller);
    return resultOf(planned, response, context);
  } catch (thrown) {
    return errorResult(planned.toolName, failureOf(thrown), context);
  }
}

function requestOf(planned: PlannedToolExecution, turnGroupId: string | undefined): ToolInvokeRequest {
  const { toolName, args, version, idempotencyKey, when, boundRuleId, boundStepId } = planned;
  const plan = {
    ...(when === undefined ? {} : { when }),
    ...(boundRuleId === undefined ? {} : { bound_rule_id: boundRuleId }),
    ...(boundStepId === undefined ? {} : { bound_step_id: boundStepId }),
  };
  const options = {
    ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }),
    ...(turnGroupId === undefined ? {} : { turn_group_id: turnGroupId }),
    ...(Object.keys(plan).length === 0 ? {} : { plan }),
  };
  return {
    tool_id: toolName,
    ...(args === undefined ? {} : { parameters: { ...args } }),
    ...(version === undefined ? {} : { tool_version: version }),
    ...(Object.keys(options).length === 0 ? {} : { execution_options: options }),
  };
}
