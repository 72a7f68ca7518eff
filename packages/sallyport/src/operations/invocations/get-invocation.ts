import { type Failure, failure } from '@sallyport/std/error/failure';
import { isoTime } from '@sallyport/std/iso-time';
import { ToolStatusRequest, ToolStatusResponse } from '../../../api/schemas/invocation.ts';
import type { SavedCheckpoint } from '../../domain/checkpoint/checkpoint.ts';
import { isFinal, statusOf } from '../../domain/invocation/lifecycle.ts';
import { type InvocationRecord, waitsFor } from '../../domain/invocation/record.ts';
import type { HeldProgress } from '../../orchestration/call-lease-store.port.ts';
import { shownProgress } from '../../orchestration/workers.ts';
import type { OngoingCall } from '../../pipeline/run.ts';
import { type Asker, operation } from '../operation.ts';
import { shownSettlement } from '../outcomes/shown-outcome.ts';
import type { OperationParts } from '../parts.ts';
import { responseOf } from './invoke-tool.ts';
import { mayReach } from './may-reach.ts';

/** BC-2 tool.status(): from memory for a call that runs here; for any other from the record and its lease. */
export const getInvocation = operation({
  name: 'invocations.get',
  summary: 'Status of an invocation (BC-2)',
  method: 'GET',
  path: '/v1/invocations/{invocation_id}',
  status: 200,
  access: 'token',
  input: ToolStatusRequest,
  output: ToolStatusResponse,
  run:
    (parts: StatusParts) =>
    ({ invocation_id, own = false }, asker) =>
      statusFor(parts, invocation_id, asker, own),
});

/** What the status of a call is read from. */
export type StatusParts = Pick<OperationParts, 'running' | 'records' | 'callWorkers' | 'outcomes' | 'checkpoints'>;

/**
 * The status of a call, for an asker who may see it.
 * @param own only for its owner
 * @returns E3809 when there is none that the asker may see
 */
export async function statusFor(
  parts: StatusParts,
  invocationId: string,
  asker: Asker,
  own: boolean,
): Promise<ToolStatusResponse | Failure> {
  const { running, records, outcomes } = parts;
  const { tenantId } = asker.principal;
  const reach = own ? undefined : 'viewer';
  const ongoing = running.find(tenantId, invocationId);
  // An end that is not on record yet is none.
  const state = ongoing?.transitions.findLast((each) => !isFinal(each.state))?.state;
  if (ongoing !== undefined && state !== undefined && mayReach(asker, ongoing.call.principal, reach)) {
    return fromOngoing(invocationId, ongoing, state);
  }
  const record = await records.findInvocation(tenantId, invocationId);
  if (record === undefined || !mayReach(asker, record, reach)) return noSuchCall(invocationId);
  if (record.state === 'EXECUTING') return fromElsewhere(parts, record);
  const status = fromRecord(record);
  const settlement = record.failure?.code === 'E3804' ? await outcomes.find(tenantId, invocationId) : undefined;
  return settlement === undefined ? status : { ...status, settlement: shownSettlement(settlement) };
}

function fromOngoing(
  invocation_id: string,
  { call, toolRun, transitions, resumed }: OngoingCall,
  state: ToolStatusResponse['state'],
): ToolStatusResponse {
  const { tool_id, execution_options } = call.request;
  const phase = execution_options?.phase;
  return {
    invocation_id,
    state,
    status: statusOf(state),
    tool_id,
    accepted_at: isoTime(transitions[0]?.at ?? 0),
    ...(resumed === undefined ? {} : { deferred: true }),
    ...(phase === undefined ? {} : { phase }),
    ...progressMembers(shownProgress(toolRun.progress)),
    ...latestCheckpoint(toolRun.checkpoints?.at(-1)),
  };
}

/** A call that runs in another instance, or that a worker takes up again. */
async function fromElsewhere(
  { callWorkers, checkpoints }: StatusParts,
  record: InvocationRecord,
): Promise<ToolStatusResponse> {
  const { tenantId, invocationId } = record;
  const [progress, [newest]] = await Promise.all([
    waitsFor(record) === 'worker' ? callWorkers?.progressOf(record) : undefined,
    checkpoints.list(tenantId, invocationId, 1),
  ]);
  // Before its first one a call that continues another's work shows none.
  return {
    ...fromRecord(record, progress),
    ...latestCheckpoint(newest?.invocationId === invocationId ? newest : undefined),
  };
}

function latestCheckpoint(
  saved: Pick<SavedCheckpoint, 'checkpointId' | 'savedAt'> | undefined,
): Pick<ToolStatusResponse, 'latest_checkpoint'> {
  if (saved === undefined) return {};
  return { latest_checkpoint: { checkpoint_id: saved.checkpointId, timestamp: isoTime(saved.savedAt) } };
}

function fromRecord(record: InvocationRecord, progress?: HeldProgress): ToolStatusResponse {
  const { polling_info: _polling, ...shown } = responseOf(record);
  const phase = record.phase === undefined ? {} : { phase: record.phase };
  const tool_id = record.calledAs ?? record.toolId;
  const accepted_at = isoTime(record.acceptedAt);
  const deferred = record.deferred === undefined ? {} : { deferred: record.deferred };
  return { ...shown, ...phase, tool_id, accepted_at, ...deferred, state: record.state, ...progressMembers(progress) };
}

function progressMembers(
  progress: HeldProgress | undefined,
): Pick<ToolStatusResponse, 'progress_percent' | 'current_phase'> {
  if (progress === undefined) return {};
  const { percent, phase } = progress;
  return {
    ...(percent === undefined ? {} : { progress_percent: percent }),
    ...(phase === undefined ? {} : { current_phase: phase }),
  };
}

/** The same answer for a call that does not exist and for one that is not the caller's. */
export function noSuchCall(invocationId: string): Failure {
  return failure('E3809', `There is no invocation ${invocationId} that you may see.`);
}
