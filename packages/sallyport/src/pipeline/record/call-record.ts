import { isoTime } from '@sallyport/std/iso-time';
import type { DocumentAccess, ExecutionMetadata } from '../../../api/schemas/invocation.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { NO_USAGE } from '../../domain/invocation/usage.ts';
import type { WaitingCall } from '../../domain/invocation/waiting-call.ts';
import { followsFromArguments } from '../../domain/tool/follows-from-arguments.ts';
import { sideEffectOf } from '../../domain/tool/tool-version.ts';
import type { CallSoFar } from '../call.ts';
import { type EndedCall, mayHaveRow, type OngoingCall } from '../ongoing/ongoing-call.ts';
import type { PipelineParts } from '../parts.ts';
import { attemptOf } from '../stages/attempts/try-again.ts';

/** Tenant of calls whose caller was never identified. No token can name it. */
export const UNKNOWN_TENANT = '-';

type Open<T> = { -readonly [Name in keyof T]: T[Name] };

/** The row of a call as far as it came. */
export function recordOf(
  parts: Pick<PipelineParts, 'clock' | 'instanceId'>,
  ongoing: OngoingCall,
  end: EndedCall,
): InvocationRecord {
  const { call, toolRun, nonce } = ongoing;
  const { tool, principal, request, trust, gateDecision, inputHash, outputHash, outputKeptHash } = call;
  const record: Open<InvocationRecord> = {
    invocationId: invocationIdOf(ongoing, end),
    tenantId: principal?.tenantId ?? UNKNOWN_TENANT,
    agentDid: principal?.agentDid ?? UNKNOWN_TENANT,
    toolId: tool?.manifest.tool_id ?? ongoing.resumed?.waiting.tool?.toolId ?? request.tool_id,
    door: call.caller.door,
    state: end.state,
    instanceId: parts.instanceId,
    warnings: toolRun.warnings === undefined ? call.warnings : [...call.warnings, ...toolRun.warnings],
    acceptedAt: ongoing.transitions[0]?.at ?? parts.clock.now(),
    metadata: metadataOf(parts, ongoing, end),
  };
  if (record.invocationId !== nonce) record.nonce = nonce;
  // Assigned one by one: each spread of an optional member costs an object.
  if (principal?.userDid !== undefined) record.userDid = principal.userDid;
  if (principal?.sessionId !== undefined) record.sessionId = principal.sessionId;
  if (record.toolId !== request.tool_id) record.calledAs = request.tool_id;
  if (tool !== undefined) {
    record.toolVersion = tool.manifest.version;
    record.contentHash = tool.contentHash;
    record.sideEffect = sideEffectOf(tool.manifest);
  }
  const hold = ongoing.resumed?.hold;
  if (hold !== undefined) record.fence = hold.fence;
  const waiting = waitingOf(parts, ongoing, end);
  if (waiting !== undefined) record.waiting = waiting;
  if (end.waits !== undefined || ongoing.resumed !== undefined) record.deferred = true;
  const options = request.execution_options;
  if (options?.phase !== undefined) record.phase = options.phase;
  if (options?.claim_source !== undefined) record.claimSource = options.claim_source;
  if (trust !== undefined) record.trust = trust;
  if (gateDecision !== undefined) record.gateDecision = gateDecision;
  if (inputHash !== undefined) record.inputHash = inputHash;
  if (outputHash !== undefined) record.outputHash = outputHash;
  if (outputKeptHash !== undefined) record.outputKeptHash = outputKeptHash;
  if (end.answered !== undefined) record.answeredBy = end.answered.invocationId;
  if (end.failure !== undefined) record.failure = withoutCause(end.failure);
  else if (outputHash !== undefined) {
    record.result = call.result;
    noteInputs(record, call);
  }
  noteSideEffect(record, call);
  return record;
}

/** The id that a caller chose becomes the call's once it is claimed, unless the call is refused before it has a row. */
function invocationIdOf(ongoing: OngoingCall, { failure }: EndedCall): string {
  const isRefused = failure !== undefined && !mayHaveRow(ongoing);
  return isRefused ? ongoing.nonce : (ongoing.call.invocationId ?? ongoing.resumed?.invocationId ?? ongoing.nonce);
}

/**
 * Records the hashes of a tool that claims to be deterministic, so that its claim can be checked later without any
 * in-process memory.
 */
function noteInputs(record: Open<InvocationRecord>, { tool, parameters, request, documents }: CallSoFar): void {
  if (tool === undefined || record.sideEffect !== 'pure' || parameters === undefined) return;
  if (!followsFromArguments(tool.manifest, documents)) return;
  const environment = request.execution_options?.environment;
  record.inputs = environment === undefined ? { parameters } : { parameters, environment };
}

/** Adds the members about the side effect of a call, and about its compensation (VIS-03). */
function noteSideEffect(
  record: Open<InvocationRecord>,
  // Members are named one by one: a rest pattern would copy the whole call.
  { tool, request, idempotencyKey, parameters, compensates, keptMembers }: CallSoFar,
): void {
  const turnGroup = request.execution_options?.turn_group_id;
  if (turnGroup !== undefined) record.turnGroupId = turnGroup;
  if (compensates !== undefined) record.compensates = compensates;
  if (tool === undefined || record.sideEffect === 'pure') return;
  if (idempotencyKey !== undefined) record.idempotencyKey = idempotencyKey;
  const toolId = tool.manifest.compensation_tool_id;
  // While it runs, and when its outcome is unknown, the call may turn out to need compensation.
  const mayHaveDone = record.state === 'COMPLETED' || record.state === 'EXECUTING' || record.failure?.code === 'E3804';
  const canBeUndone = record.sideEffect === 'compensatable' && mayHaveDone;
  if (!canBeUndone || toolId === undefined || parameters === undefined) return;
  const isPart = keptMembers !== undefined && record.state === 'COMPLETED';
  record.compensation = isPart ? { toolId, parameters, resultMembers: keptMembers } : { toolId, parameters };
}

/** What is needed to run the call later, as long as it may have to run. */
function waitingOf(
  { clock }: Pick<PipelineParts, 'clock'>,
  { call, resumed, toolRun }: OngoingCall,
  { state, waits }: EndedCall,
): WaitingCall | undefined {
  const { claims, tool, givenParameters } = call;
  const { serverTask } = toolRun;
  if (waits === undefined) {
    const waiting = state === 'EXECUTING' ? resumed?.waiting : undefined;
    return waiting === undefined || serverTask === undefined ? waiting : { ...waiting, serverTask };
  }
  if (claims === undefined || tool === undefined) throw new Error('a call waits before it is known who asks for what');
  const { capability_token: _token, ...request } = call.request;
  return {
    request: { ...request, tool_version: tool.manifest.version, parameters: givenParameters ?? {} },
    tool: { toolId: tool.manifest.tool_id, contentHash: tool.contentHash },
    claims,
    wait: waits,
    ...(call.asked === undefined ? {} : { asked: call.asked }),
    ...(call.compensates === undefined ? {} : { compensates: call.compensates }),
    ...(serverTask === undefined ? {} : { serverTask }),
    ...(call.caller.questions === undefined ? {} : { questions: call.caller.questions }),
    since: clock.now(),
  };
}

function withoutCause({
  cause: _cause,
  ...rest
}: NonNullable<EndedCall['failure']>): NonNullable<InvocationRecord['failure']> {
  return rest;
}

function metadataOf(
  { clock }: Pick<PipelineParts, 'clock'>,
  ongoing: OngoingCall,
  { state, waits }: EndedCall,
): ExecutionMetadata {
  const { toolRun, call } = ongoing;
  const usage = call.ran?.usage ?? toolRun.usage ?? NO_USAGE;
  const slotWaitMs = call.slotWaitMs ?? 0;
  const started = ongoing.transitions[0]?.at ?? clock.now();
  const metadata: ExecutionMetadata = {
    duration_ms: rounded(clock.monotonic() - ongoing.startedAt - slotWaitMs),
    started_at: isoTime(started),
    cpu_used_millicore_seconds: usage.cpuMillicoreSeconds,
    memory_peak_mb: usage.memoryPeakMb,
    network_bytes_sent: usage.networkBytesSent,
    network_bytes_received: usage.networkBytesReceived,
    documents_accessed: accessedIn(ongoing),
    checkpoints_created: (toolRun.checkpoints ?? []).map(({ checkpointId, type, savedAt }) => ({
      checkpoint_id: checkpointId,
      checkpoint_type: type,
      timestamp: isoTime(savedAt),
    })),
    attempts: toolRun.attempts,
    cached: false,
  };
  if (slotWaitMs > 0) metadata.slot_wait_ms = rounded(slotWaitMs);
  if (usage.weakerLimits !== undefined) metadata.weaker_limits = [...usage.weakerLimits];
  if (toolRun.failedAttempts !== undefined) metadata.failed_attempts = toolRun.failedAttempts.map(attemptOf);
  if (state !== 'EXECUTING' && waits === undefined)
    metadata.completed_at = isoTime(ongoing.transitions.at(-1)?.at ?? started);
  return metadata;
}

/** Every attempt gets every document of the call. */
function accessedIn({ call: { documents = [] }, toolRun: { attempts } }: OngoingCall): DocumentAccess[] {
  if (attempts === 0) return [];
  return documents.map(({ document_id, version }) => ({
    access_count: attempts,
    document_id,
    document_version: version,
  }));
}

/** Rounded to thousandths of a ms. */
const rounded = (ms: number): number => Math.round(ms * 1000) / 1000;

/** The answer to a duplicate: the earlier call's record, marked as a repetition (PIPE-09). */
export function repeated(duplicate: InvocationRecord, earlier: InvocationRecord): InvocationRecord {
  const metadata = earlier.metadata ?? duplicate.metadata;
  return metadata === undefined ? earlier : { ...earlier, metadata: { ...metadata, cached: true } };
}
