import { failure } from '../../domain/error/failure.ts';
import type { Admitted, Approved, Authorized, CallRequest, Resolved, Validated } from '../call.ts';
import type { Stage } from '../stage.ts';
import { executorCall } from './executor-call.ts';

type Needs = CallRequest & Admitted & Resolved & Validated & Authorized;

/**
 * Stage 6: a call that a person has to confirm waits for that person. There is no approval desk yet, so such a call is
 * refused as pending and nothing of it runs.
 */
export function approve(): Stage<Needs, Approved> {
  return {
    name: 'approve',
    run(call, flight) {
      const reason =
        whyConfirmation(call) ??
        (call.executor.requiresConfirmation(executorCall(call, flight)) ? 'executor' : undefined);
      if (reason === undefined) return { confirmed: false };
      const prompt = call.overrides?.confirmation_prompt ?? call.tool.manifest.confirmation_prompt;
      return failure(
        'E3806',
        'This call needs a yes from a person, and this layer has nobody to ask yet. Nothing was run.',
        {
          details: { reason, ...(prompt === undefined ? {} : { confirmation_prompt: prompt }) },
        },
      );
    },
  };
}

/** An activation may ask for more than the manifest, or take a confirmation away; an approval it can only add (VIS-01). */
function whyConfirmation({ request, tool: { manifest }, overrides }: Needs): string | undefined {
  if ((overrides?.requires_approval ?? manifest.execution_config?.requires_approval) === true)
    return 'requires_approval';
  if ((overrides?.requires_confirmation ?? manifest.requires_confirmation) === true) return 'requires_confirmation';
  if (request.execution_options?.require_approval === true) return 'require_approval';
  return undefined;
}
