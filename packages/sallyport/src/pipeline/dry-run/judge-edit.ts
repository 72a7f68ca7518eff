import { type Failure, failure } from '@sallyport/std/error/failure';
import { type InvocationRecord, nonceOf } from '../../domain/invocation/record.ts';
import type { ApprovalBinding } from '../../domain/invocation/waiting-call.ts';
import type { CallSoFar } from '../call.ts';
import { newOngoingCall } from '../ongoing/ongoing-call.ts';
import { stagesInOrder } from '../order.ts';
import type { PipelineParts } from '../parts.ts';
import { noState, throughStages } from '../run.ts';
import type { AnyStage } from '../stage.ts';
import { bindingOf } from '../stages/approve.ts';
import { bounded } from '../wrappers/bounded.ts';

/**
 * Runs a waiting call with changed arguments through every stage before `approve`, without effect: arguments that an
 * approver changed are validated, authorised and shown to the hooks like all others (ORC-03, PIPE-14).
 * @returns what an approval of the changed call is bound to, or the refusal of the changed call
 */
export type JudgeEdit = (
  record: InvocationRecord,
  parameters: Readonly<Record<string, unknown>>,
) => Promise<ApprovalBinding | Failure>;

/** Edits judged at once; more are refused with E3803. */
const EDITS_MAX = 32;
const RETRY_MS = 250;

/** The stages of the pipeline before the question, as one judgement. */
export function createEditJudge(parts: PipelineParts): JudgeEdit {
  const all = stagesInOrder(parts);
  const end = all.findIndex(({ name }) => name === 'approve');
  const stages = all.slice(0, end);
  let underWay = 0;
  return async (record, parameters) => {
    if (underWay >= EDITS_MAX)
      return failure('E3803', `The layer judges ${EDITS_MAX} edits already. Try again in a moment.`, {
        retryAfterMs: RETRY_MS,
      });
    underWay += 1;
    try {
      return await judge(parts, stages, record, parameters);
    } finally {
      underWay -= 1;
    }
  };
}

async function judge(
  parts: PipelineParts,
  stages: readonly AnyStage[],
  record: InvocationRecord,
  parameters: Readonly<Record<string, unknown>>,
): Promise<ApprovalBinding | Failure> {
  const { waiting, invocationId, acceptedAt, door } = record;
  if (waiting === undefined) return failure('E3809', 'The call does not wait any more.');
  const request = { ...waiting.request, parameters };
  const resumed = { invocationId, nonce: nonceOf(record), acceptedAt, waiting: { ...waiting, request } };
  const ongoing = newOngoingCall({ request, caller: { door } }, parts.clock.monotonic(), true, resumed);
  const { failure: refused } = await bounded(parts)(throughStages(stages))(ongoing, noState);
  if (refused !== undefined) return refused;
  const { principal, tool, inputHash, policyDecision, hookVerdicts = [] }: CallSoFar = ongoing.call;
  if (principal === undefined || tool === undefined || inputHash === undefined || policyDecision === undefined)
    throw new Error('the stages before the question do not establish what an approval is bound to');
  const changing = hookVerdicts.filter(({ input_hash_before: before = inputHash }) => before !== inputHash);
  if (changing.length > 0) return changedByHooks(changing.map(({ id }) => id));
  // The approval answers the question that the approver saw; a different question about the new arguments is asked when
  // the call resumes.
  const shown = waiting.wait.for === 'approval' ? waiting.wait.approval.binding.question : undefined;
  return bindingOf({ principal, tool, inputHash, policyDecision, question: shown });
}

/** An approval holds for what its approver has seen. */
const changedByHooks = (hooks: readonly string[]): Failure =>
  failure(
    'E3817',
    `These arguments are changed by a hook (${hooks.join(', ')}). Approve arguments that no hook changes.`,
    {
      details: { hooks },
    },
  );
