import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import type { ApprovalBinding, ConfirmationReason } from '../../domain/invocation/waiting-call.ts';
import { sideEffectOf } from '../../domain/tool/tool-version.ts';
import type { TrustRules } from '../../permission/trust.ts';
import type { Admitted, Approved, Authorized, CallRequest, Consulted, Resolved, Validated } from '../call.ts';
import type { OngoingCall } from '../ongoing/ongoing-call.ts';
import type { PipelineParts } from '../parts.ts';
import type { Stage, StageEnd } from '../stage.ts';
import { executorCall } from './attempts/executor-call.ts';
import { cannotWait } from './grant/own-token.ts';

type Needs = CallRequest & Admitted & Resolved & Validated & Authorized & Consulted;
/** The call with its executor's question. */
type Asked = Needs & Pick<Approved, 'question'>;

const BECAUSE: Readonly<Record<ConfirmationReason, string>> = {
  requires_approval: 'its tool runs with an approval only',
  require_approval: 'the request asks for an approval',
  requires_confirmation: 'its tool runs with a confirmation only',
  policy: 'a policy asks for it',
  trust: 'what it may leave behind is beyond the trust in the agent and the source of the tool',
  executor: 'what it would do is for a person to decide',
};

/** Reasons that an approver decides later; all others are confirmed by the user at the agent's client. */
const APPROVALS: ReadonlySet<ConfirmationReason> = new Set(['requires_approval', 'require_approval']);
/**
 * Reasons that an operator may let autonomous calls skip: never a question of a policy or an executor about this call.
 */
const PASSED_BY: ReadonlySet<ConfirmationReason> = new Set(['requires_confirmation', 'trust']);

const UNCONFIRMED: Approved = { confirmed: false, question: undefined, approvedBy: undefined };
/** The approver in the audit where an approval of an earlier version names none. */
const SOMEBODY = 'unknown';

/**
 * Sets a call aside until a person has approved or confirmed it; nothing of it runs before. The approval is bound to
 * exactly this call: a call that changed meanwhile asks again (ORC-05). In an autonomous call nobody can be asked for a
 * confirmation: it is refused, or passes where the operator allowed that (PRM-06, PRM-09). The executor's question
 * about this call is asked whatever manifest, activation, trust or operator say, and is part of what an approval is
 * bound to (EXE-01).
 */
export function approve({
  trust: rules,
  approvalQuestions,
  sharedClock,
  secrets,
}: Pick<PipelineParts, 'trust' | 'approvalQuestions' | 'sharedClock' | 'secrets'>): Stage<Needs, Approved> {
  return {
    name: 'approve',
    async run(given, ongoing) {
      const question = await given.executor.requiresConfirmation(executorCall(given, ongoing));
      const call = { ...given, question };
      const reason = whyConfirmation(call, rules);
      if (reason === undefined) return UNCONFIRMED;
      const approvedBy = approverOf(call, ongoing, sharedClock.now());
      if (approvedBy !== undefined) return { confirmed: true, question, approvedBy };
      const isAutonomous = call.request.execution_options?.phase === 'autonomous';
      if (!isAutonomous || APPROVALS.has(reason))
        return ask({ asked: approvalQuestions, secrets }, reason, call, ongoing);
      return rules.autonomous === 'allow' && PASSED_BY.has(reason) ? UNCONFIRMED : nobody(reason, call);
    },
  };
}

/**
 * The strictest of several reasons: one approval answers them all, so it must come from somebody who may answer each.
 * An activation may ask for more than the manifest, or drop a confirmation; an approval it can only add (VIS-01).
 */
function whyConfirmation(call: Asked, rules: TrustRules): ConfirmationReason | undefined {
  const { request, tool, overrides, trust, policyDecision, question } = call;
  const { manifest } = tool;
  if ((overrides?.requires_approval ?? manifest.execution_config?.requires_approval) === true)
    return 'requires_approval';
  if (request.execution_options?.require_approval === true) return 'require_approval';
  if (policyDecision.ask === true) return 'policy';
  if (question !== undefined) return 'executor';
  if (!rules.runsUnconfirmed(trust, sideEffectOf(manifest))) return 'trust';
  return (overrides?.requires_confirmation ?? manifest.requires_confirmation) === true
    ? 'requires_confirmation'
    : undefined;
}

/** Who gave the approval that the resumed call brings, when it was given to exactly this call. */
function approverOf(call: Asked, { resumed }: OngoingCall, now: number): string | undefined {
  if (resumed === undefined) return undefined;
  const { approval, waiting } = resumed;
  // Set aside for a worker after the approval: arguments and version cannot have changed, the executor's question can.
  if (waiting.wait.for === 'worker') {
    const { confirmed, question, approvedBy = SOMEBODY } = waiting.wait;
    return confirmed && question === call.question ? approvedBy : undefined;
  }
  if (approval === undefined || now >= approval.expiresAt) return undefined;
  return isSameCall(approval.binding, bindingOf(call)) ? (approval.by ?? SOMEBODY) : undefined;
}

/** What an approval of a call is bound to. */
export function bindingOf({
  principal,
  tool,
  inputHash,
  policyDecision,
  question,
}: Pick<Asked, 'principal' | 'tool' | 'inputHash' | 'policyDecision' | 'question'>): ApprovalBinding {
  return {
    tenantId: principal.tenantId,
    agentDid: principal.agentDid,
    ...(principal.userDid === undefined ? {} : { userDid: principal.userDid }),
    toolId: tool.manifest.tool_id,
    toolVersion: tool.manifest.version,
    contentHash: tool.contentHash,
    inputHash,
    policyVersion: policyDecision.version,
    ...(question === undefined ? {} : { question }),
  };
}

/** Compared field by field: a binding from a store may hold its fields in another order. */
function isSameCall(one: ApprovalBinding, other: ApprovalBinding): boolean {
  return BOUND.every((name) => one[name] === other[name]);
}

const BOUND = [
  'tenantId',
  'agentDid',
  'userDid',
  'toolId',
  'toolVersion',
  'contentHash',
  'inputHash',
  'policyVersion',
  'question',
] as const satisfies readonly (keyof ApprovalBinding)[];

function ask(
  { asked, secrets }: { readonly asked: PipelineParts['approvalQuestions'] } & Pick<PipelineParts, 'secrets'>,
  reason: ConfirmationReason,
  call: Asked,
  { rehearsal }: OngoingCall,
): StageEnd<Approved> {
  if (asked === undefined || rehearsal) return pending(reason, call, asked === undefined);
  const prompt = promptOf(call);
  const question = {
    reason,
    binding: bindingOf(call),
    claims: call.claims,
    tool: call.tool,
    ...(prompt === undefined ? {} : { prompt }),
  };
  const rule = asked.standing(question);
  if (rule !== undefined) return { confirmed: true, question: call.question, approvedBy: rule };
  const refused = cannotWait({ secrets }, call, 'for a person');
  if (refused !== undefined) return refused;
  const approval = asked.question(question);
  return isFailure(approval) ? approval : { waits: { for: 'approval', approval } };
}

const promptOf = ({ overrides, tool }: Needs): string | undefined =>
  overrides?.confirmation_prompt ?? tool.manifest.confirmation_prompt;

function pending(reason: ConfirmationReason, call: Asked, nobodyThere: boolean): Failure {
  const prompt = promptOf(call);
  return failure(
    'E3806',
    `This call needs the approval of a person, because ${BECAUSE[reason]}${nobodyThere ? ', and this layer has nobody to ask' : ''}. Nothing was run.`,
    { details: { ...detailsOf(reason, call), ...(prompt === undefined ? {} : { confirmation_prompt: prompt }) } },
  );
}

const nobody = (reason: ConfirmationReason, call: Asked): Failure =>
  failure(
    'E3210',
    `This call needs the approval of a person, because ${BECAUSE[reason]}, and nobody can be asked in the phase "autonomous". Nothing was run.`,
    { details: detailsOf(reason, call) },
  );

function detailsOf(reason: ConfirmationReason, { trust, tool, question }: Asked): Record<string, unknown> {
  if (reason === 'trust') return { reason, trust, side_effect_policy: sideEffectOf(tool.manifest) };
  return { reason, ...(question === undefined ? {} : { question }) };
}
