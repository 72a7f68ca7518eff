import { randomUUID } from 'node:crypto';
import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import type { ToolInvokeRequest } from '../../../api/schemas/invocation.ts';
import { isFinal } from '../../domain/invocation/lifecycle.ts';
import { type InvocationRecord, waitedInVain } from '../../domain/invocation/record.ts';
import { isSafeToRepeat } from '../../domain/tool/tool-version.ts';
import type { Compensation } from '../compensation-store.port.ts';
import { compensationArguments } from './compensation-arguments.ts';
import type { CompensationAsker, CompensationParts } from './compensation-parts.ts';
import { callOf, DENIED, endOf, giveUp, settle } from './settle-compensation.ts';
import { type SideEffect, sideEffectView } from './side-effect-view.ts';
import { standingCompensations } from './standing.ts';

/** How often the row is read again when another asker changed it meanwhile. */
const RACES_MAX = 8;

/** Outcome of a compensation; with a failure when the side effect is not taken back. */
export interface Compensated {
  readonly effect: SideEffect;
  /** True when the compensation had ended before: nothing ran now. */
  readonly already: boolean;
  readonly failure?: Failure;
}

/**
 * Compensates the side effect of a call with the tool that the call's tool names, once: a repeated request, at the same
 * time or after a crash, gets the outcome of the first (VIS-03). The compensating call goes through the whole pipeline
 * as the asker's own; its idempotency key is that of the side effect, whoever asks.
 * @returns E3818 for a side effect that cannot be taken back
 */
export async function compensate(
  parts: CompensationParts,
  record: InvocationRecord,
  asker: CompensationAsker,
  said?: Readonly<Record<string, unknown>>,
): Promise<Compensated | Failure> {
  const refused = cannotBeUndone(record);
  if (refused !== undefined) return refused;
  for (let races = 0; races < RACES_MAX; races += 1) {
    const [standing] = await standingCompensations(parts, record.tenantId, [record.invocationId]);
    if (standing !== undefined && (await isGivenUp(parts, standing))) continue;
    const begun = await begin(parts, record, asker, standing);
    if (begun === 'raced') continue;
    if (begun.state !== 'compensating') return ended(record, begun, true);
    const isOurs = begun !== standing;
    return await run(parts, record, begun, asker, said, isOurs);
  }
  return failure('E3803', 'Too many ask for this side effect to be taken back. Try again in a moment.', {
    retryAfterMs: 250,
  });
}

/** Why a call cannot be compensated; undefined when it can. */
function cannotBeUndone(record: InvocationRecord): Failure | undefined {
  const effect = sideEffectView(record, undefined);
  if (effect?.status !== 'executed') {
    const left = effect === undefined ? 'It left nothing behind' : `It is ${effect.status}`;
    const why = isFinal(record.state) ? left : 'It is not over: cancel it, or ask again once it is';
    return cannot(record, `${why}; only what was executed can be taken back.`, effect?.status);
  }
  if (record.compensation !== undefined) return undefined;
  const why =
    record.sideEffect === 'compensatable'
      ? 'Its tool names no tool that takes it back'
      : `Its tool is ${record.sideEffect}`;
  return cannot(record, `${why}.`, effect.status);
}

const cannot = ({ invocationId }: InvocationRecord, why: string, status = 'none'): Failure =>
  failure('E3818', `The call ${invocationId} cannot be taken back. ${why}`, { details: { status } });

/**
 * The row as stored, or with a new attempt: that begins only when the last one failed and may be repeated, or
 * ended before its tool was reached.
 */
async function begin(
  parts: CompensationParts,
  record: InvocationRecord,
  { agentDid }: CompensationAsker,
  standing: Compensation | undefined,
): Promise<Compensation | 'raced'> {
  const toolId = record.compensation?.toolId ?? '';
  if (standing !== undefined && standing.state !== 'failed') return standing;
  const tool = parts.findTool(record.tenantId, standing?.toolId ?? toolId);
  const isSafe = tool !== undefined && isSafeToRepeat(tool);
  if (standing !== undefined && !isSafe && !(await ranNothing(parts, standing))) return standing;
  const begun: Compensation = {
    tenantId: record.tenantId,
    invocationId: record.invocationId,
    attempt: (standing?.attempt ?? 0) + 1,
    state: 'compensating',
    toolId,
    compensationId: randomUUID(),
    by: agentDid,
    startedAt: parts.clock.now(),
  };
  return (await parts.compensations.change(begun, standing)) ? begun : 'raced';
}

/** Gives up what stands when its call waited and came to nothing: then it is no longer compensating. */
async function isGivenUp(parts: CompensationParts, standing: Compensation): Promise<boolean> {
  if (standing.state !== 'compensating') return false;
  const call = await callOf(parts, standing);
  if (call === undefined || !waitedInVain(call)) return false;
  await giveUp(parts, standing, call.failure);
  return true;
}

/** False where no call is on record: then nobody knows what ran. */
async function ranNothing(parts: CompensationParts, failed: Compensation): Promise<boolean> {
  const call = await callOf(parts, failed);
  return call?.metadata?.attempts === 0;
}

/** Runs the compensating call, or finds the outcome of an earlier one. */
async function run(
  parts: CompensationParts,
  record: InvocationRecord,
  begun: Compensation,
  asker: CompensationAsker,
  said: Readonly<Record<string, unknown>> | undefined,
  isOurs: boolean,
): Promise<Compensated | Failure> {
  const earlier = isOurs ? undefined : await earlierCall(parts, begun);
  const call = earlier ?? (await callTool(parts, record, begun, asker, said, isOurs));
  const settled = isFailure(call) ? call : await settle(parts, record, begun, await onRecord(parts, call));
  if (!isFailure(settled)) return ended(record, settled, false);
  // Nothing of it ran, and the asker that began it gives it up; another asker only learns the refusal, or that it is
  // under way.
  if (isOurs) await giveUp(parts, begun, settled);
  const [now] = await parts.compensations.find(begun.tenantId, [begun.invocationId]);
  const effect = sideEffectView(record, now) as SideEffect;
  return { effect, already: false, failure: settled };
}

/** The end of a call as it is on record: it may come there later than its caller was answered. */
const onRecord = async ({ records }: CompensationParts, call: InvocationRecord): Promise<InvocationRecord> =>
  (await records.findInvocation(call.tenantId, call.invocationId)) ?? call;

/** An earlier compensating call that still runs, waits, or came to an end that counts. */
async function earlierCall(parts: CompensationParts, begun: Compensation): Promise<InvocationRecord | undefined> {
  const call = await callOf(parts, begun);
  if (call === undefined || (isFinal(call.state) && endOf(call) === undefined)) return undefined;
  return call;
}

async function callTool(
  parts: CompensationParts,
  record: InvocationRecord,
  begun: Compensation,
  { caller }: CompensationAsker,
  said: Readonly<Record<string, unknown>> | undefined,
  isOurs: boolean,
): Promise<InvocationRecord | Failure> {
  const { compensation: plan, invocationId, tenantId, turnGroupId } = record;
  const tool = parts.findTool(tenantId, begun.toolId);
  if (plan === undefined || tool === undefined) {
    return failure('E3818', `The tool ${begun.toolId} that takes this call back is not there.`);
  }
  const parameters = compensationArguments(tool.parameters_schema, record, plan, said);
  if (isFailure(parameters)) return parameters;
  const request: ToolInvokeRequest = {
    tool_id: begun.toolId,
    // Only the first asker uses the id in the row; later ones find the outcome by the idempotency key.
    ...(isOurs ? { invocation_id: begun.compensationId } : {}),
    parameters,
    execution_options: {
      idempotency_key: `${invocationId}:${begun.attempt}`,
      ...(turnGroupId === undefined ? {} : { turn_group_id: turnGroupId }),
    },
  };
  return parts.runCall({ request, caller, compensates: invocationId });
}

function ended(record: InvocationRecord, compensation: Compensation, already: boolean): Compensated {
  const effect = sideEffectView(record, compensation) as SideEffect;
  const { state, toolId, compensationId, errorCode } = compensation;
  if (state === 'compensated' || state === 'compensating') return { effect, already };
  const words =
    state === 'unknown'
      ? `Nobody knows whether ${toolId} took the call back: it was cut off. Find out before anything else is done.`
      : errorCode === DENIED
        ? `An approver denied the call of ${toolId}, so nothing is taken back. A new request asks again.`
        : `${toolId} failed to take the call back.`;
  const details = { compensation_id: compensationId, ...(errorCode === undefined ? {} : { e_code: errorCode }) };
  return { effect, already, failure: failure(state === 'unknown' ? 'E3804' : 'E3818', words, { details }) };
}
