import { type Failure, failure } from '../../domain/error/failure.ts';
import { sideEffectOf } from '../../domain/tool/tool-version.ts';
import { createTrustRules, type TrustRules } from '../../permission/trust.ts';
import type { Admitted, Approved, Authorized, CallRequest, Consulted, Resolved, Validated } from '../call.ts';
import type { PipelineParts } from '../parts.ts';
import type { Stage } from '../stage.ts';
import { executorCall } from './executor-call.ts';

type Needs = CallRequest & Admitted & Resolved & Validated & Authorized & Consulted;

/** Why a call does not run without a person's yes. */
export type ConfirmationReason =
  | 'requires_approval'
  | 'require_approval'
  | 'requires_confirmation'
  | 'policy'
  | 'trust'
  | 'executor';

const BECAUSE: Readonly<Record<ConfirmationReason, string>> = {
  requires_approval: 'its tool runs with an approval only',
  require_approval: 'the request asks for an approval',
  requires_confirmation: 'its tool runs with a confirmation only',
  policy: 'a policy asks for it',
  trust: 'what it may leave behind is beyond the trust in the agent and the source of the tool',
  executor: 'it does more than its kind of tool may do unasked',
};

/** An approver decides on these whenever there is time; the user who sits with the agent confirms the others. */
const APPROVALS: ReadonlySet<ConfirmationReason> = new Set(['requires_approval', 'require_approval']);
/** What an operator may let autonomous calls pass by: never what a policy or an executor says of this very call. */
const PASSED_BY: ReadonlySet<ConfirmationReason> = new Set(['requires_confirmation', 'trust']);

const UNCONFIRMED: Approved = { confirmed: false };

/**
 * Stage 6: a call that a person has to confirm waits for that person. There is no approval desk yet, so such a call is
 * refused as pending and nothing of it runs. In an autonomous call nobody can be asked: it is refused, or passes where
 * the operator said so (PRM-06, PRM-09).
 */
export function approve({ trust: rules = createTrustRules() }: Pick<PipelineParts, 'trust'>): Stage<Needs, Approved> {
  return {
    name: 'approve',
    run(call, flight) {
      const reason =
        whyConfirmation(call, rules) ??
        (call.executor.requiresConfirmation(executorCall(call, flight)) ? 'executor' : undefined);
      if (reason === undefined) return UNCONFIRMED;
      const isAutonomous = call.request.execution_options?.phase === 'autonomous';
      if (!isAutonomous || APPROVALS.has(reason)) return pending(reason, call);
      // An executor is asked all the same: its word stands beside the one that is passed by.
      const passes = rules.autonomous === 'allow' && PASSED_BY.has(reason);
      if (passes && !call.executor.requiresConfirmation(executorCall(call, flight))) return UNCONFIRMED;
      return nobody(passes ? 'executor' : reason, call);
    },
  };
}

/** An activation may ask for more than the manifest, or take a confirmation away; an approval it can only add (VIS-01). */
function whyConfirmation(call: Needs, rules: TrustRules): ConfirmationReason | undefined {
  const { request, tool, overrides, trust, policyAsks } = call;
  const { manifest } = tool;
  if ((overrides?.requires_approval ?? manifest.execution_config?.requires_approval) === true)
    return 'requires_approval';
  if (request.execution_options?.require_approval === true) return 'require_approval';
  if (policyAsks) return 'policy';
  if ((overrides?.requires_confirmation ?? manifest.requires_confirmation) === true) return 'requires_confirmation';
  return rules.runsUnconfirmed(trust, sideEffectOf(manifest)) ? undefined : 'trust';
}

function pending(reason: ConfirmationReason, call: Needs): Failure {
  const prompt = call.overrides?.confirmation_prompt ?? call.tool.manifest.confirmation_prompt;
  return failure(
    'E3806',
    `This call needs a yes from a person, because ${BECAUSE[reason]}, and this layer has nobody to ask yet. Nothing was run.`,
    { details: { ...detailsOf(reason, call), ...(prompt === undefined ? {} : { confirmation_prompt: prompt }) } },
  );
}

const nobody = (reason: ConfirmationReason, call: Needs): Failure =>
  failure(
    'E3210',
    `This call needs a yes from a person, because ${BECAUSE[reason]}, and nobody can be asked in the phase "autonomous". Nothing was run.`,
    { details: detailsOf(reason, call) },
  );

function detailsOf(reason: ConfirmationReason, { trust, tool }: Needs): Record<string, unknown> {
  return reason === 'trust' ? { reason, trust, side_effect_policy: sideEffectOf(tool.manifest) } : { reason };
}
