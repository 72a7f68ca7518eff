import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import { OutcomeReconcileRequest, UnknownOutcome } from '../../../api/schemas/calls/outcome.ts';
import { type InvocationRecord, waitsFor } from '../../domain/invocation/record.ts';
import { resultMembers } from '../../domain/invocation/result-members.ts';
import { sideEffectOf } from '../../domain/tool/tool-version.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { settle } from './settle-outcome.ts';
import { type OutcomeParts, unknownOutcome } from './shown-outcome.ts';

type Parts = OutcomeParts & Pick<OperationParts, 'runCall' | 'registry'>;

/** The answer of a tool that looked up the outcome of a call. */
interface Answer {
  readonly outcome?: unknown;
  readonly result?: unknown;
}

/**
 * Asks a tool for the outcome of a call, through the pipeline like every call, with the asker's own rights. The tool
 * has to be pure, so that it can be asked again. Its result says `outcome`: happened, did_not_happen, or anything else
 * for "not known yet", and may bring the `result` that the call would have had.
 */
export const reconcileOutcome = operation({
  name: 'outcomes.reconcile',
  summary: 'Have a pure tool find out what became of a call whose outcome is not known',
  method: 'POST',
  path: '/v1/outcomes/{invocation_id}/reconciliation',
  status: 200,
  access: 'operator',
  input: OutcomeReconcileRequest,
  output: UnknownOutcome,
  run:
    (parts: Parts) =>
    async ({ invocation_id, tool_id, tool_version, parameters, capability_token }, asker) => {
      const { tenantId } = asker.principal;
      const found = await unknownOutcome(parts, tenantId, invocation_id);
      if (isFailure(found)) return found;
      const tool = await parts.registry.findAnywhere(tenantId, tool_id, tool_version);
      if (isFailure(tool)) return tool;
      if (sideEffectOf(tool.tool.manifest) !== 'pure') return notPure(tool_id);
      const record = await parts.runCall({
        request: {
          tool_id,
          ...(tool_version === undefined ? {} : { tool_version }),
          parameters: parameters ?? { invocation_id },
          ...(capability_token === undefined ? {} : { capability_token }),
        },
        caller: asker.caller,
      });
      if (waitsFor(record) !== undefined) return waits(record);
      if (record.state !== 'COMPLETED') return record.failure ?? notKnown(tool_id);
      const { outcome, result } = resultMembers(record.result) as Answer;
      if (outcome !== 'happened' && outcome !== 'did_not_happen') return notKnown(tool_id);
      const note = `${tool_id} said so in ${record.invocationId}.`;
      return settle(parts, asker, invocation_id, {
        outcome,
        how: 'reconcile',
        note,
        ...(result === undefined ? {} : { result }),
      });
    },
});

const notPure = (toolId: string): Failure =>
  failure(
    'E3901',
    `${toolId} is not pure. Only a tool that looks and changes nothing can find out what became of a call.`,
  );

/** Its answer comes when nobody asks any more, and another try would be another call that waits. */
const waits = ({ invocationId, toolId }: InvocationRecord): Failure =>
  failure(
    'E3901',
    `The call ${invocationId} of ${toolId} waits, so it says nothing yet. Read its answer once it is over and settle the outcome yourself, or ask a tool that needs no approval.`,
    { details: { invocation_id: invocationId } },
  );

const notKnown = (toolId: string): Failure =>
  failure('E3704', `${toolId} does not know either what became of the call. Ask again later, or settle it yourself.`);
