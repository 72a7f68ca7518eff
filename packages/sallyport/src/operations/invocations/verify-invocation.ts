import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import { ToolVerifyRequest, ToolVerifyResponse } from '../../../api/schemas/calls/outcome.ts';
import { isOwner } from '../../domain/invocation/call-owner.ts';
import { type InvocationRecord, waitsFor } from '../../domain/invocation/record.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { noSuchCall } from './get-invocation.ts';

/**
 * Repeats a call and compares the results (PIPE-10). For a tool that claims to be deterministic the record holds the
 * arguments; for others only a hash: then the caller sends the arguments, which must match it. Only pure tools are
 * called again.
 */
export const verifyInvocation = operation({
  name: 'invocations.verify',
  summary: 'Make a call of a pure tool again, with the arguments that it had, and compare the results',
  method: 'POST',
  path: '/v1/invocations/{invocation_id}/verification',
  status: 200,
  access: 'token',
  input: ToolVerifyRequest,
  output: ToolVerifyResponse,
  run:
    ({ records, runCall, visible }: Pick<OperationParts, 'records' | 'runCall' | 'visible'>) =>
    async ({ invocation_id, parameters, environment, capability_token }, { principal, caller }) => {
      const record = await records.findInvocation(principal.tenantId, invocation_id);
      if (record === undefined || !isOwner(principal, record)) return noSuchCall(invocation_id);
      const { state, sideEffect, inputHash, outputHash, toolId, toolVersion, contentHash } = record;
      if (state !== 'COMPLETED' || outputHash === undefined || toolVersion === undefined) return notOver(invocation_id);
      if (sideEffect !== 'pure') return notPure(toolId);
      const name = record.calledAs ?? toolId;
      // A view may have given the name to another tool since, which need not be pure.
      const found = visible.find({ principal }, name, toolVersion);
      if (!isFailure(found) && found.tool.contentHash !== contentHash) return otherTool(name);
      const recorded = parameters === undefined && environment === undefined ? record.inputs : undefined;
      const variables = recorded?.environment ?? environment;
      const replay = await runCall({
        request: {
          tool_id: name,
          tool_version: toolVersion,
          parameters: parameters ?? recorded?.parameters ?? {},
          ...(variables === undefined ? {} : { execution_options: { environment: variables } }),
          ...(capability_token === undefined ? {} : { capability_token }),
        },
        caller,
      });
      if (replay.inputHash !== undefined && replay.inputHash !== inputHash) return otherArguments(invocation_id);
      if (replay.failure !== undefined) return { ...replay.failure };
      if (waitsFor(replay) !== undefined) return waits(replay);
      if (replay.contentHash !== contentHash || replay.outputHash === undefined) return otherTool(name);
      return {
        invocation_id,
        same: replay.outputHash === outputHash,
        recorded_output_hash: outputHash,
        output_hash: replay.outputHash,
        replay_invocation_id: replay.invocationId,
      };
    },
});

const notOver = (invocationId: string): Failure =>
  failure('E3901', `The call ${invocationId} did not complete, so there is nothing to compare with.`);

const notPure = (toolId: string): Failure =>
  failure('E3901', `${toolId} is not pure: to call it again may change something. Only pure tools are verified.`);

const waits = ({ invocationId, toolId }: InvocationRecord): Failure =>
  failure(
    'E3901',
    `The call ${invocationId} of ${toolId} waits, so there is no result to compare yet. Compare the hash of its result once it is over.`,
    { details: { invocation_id: invocationId } },
  );

const otherArguments = (invocationId: string): Failure =>
  failure(
    'E3801',
    `These are not the arguments of ${invocationId}: their hash is another. Give the arguments that the call had.`,
  );

const otherTool = (toolId: string): Failure =>
  failure('E3704', `${toolId} is not the same definition any more, so its results cannot be compared.`);
