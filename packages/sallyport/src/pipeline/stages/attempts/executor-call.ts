// Made for every attempt; the recording parts are made when the tool first asks for them.
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { documentParameter } from '../../../domain/document/document-parameter.ts';
import type { GivenDocument } from '../../../domain/document/given-document.ts';
import type { UndoStep } from '../../../domain/invocation/undo-step.ts';
import { originalArguments } from '../../../domain/tool/property-names/original-names.ts';
import { isSafeToRepeat, sideEffectOf } from '../../../domain/tool/tool-version.ts';
import type { ExecutorCall, UndoRecorder } from '../../../executors/executor.port.ts';
import type { Admitted, Authorized, CallRequest, Prepared, Reserved, Resolved, Validated } from '../../call.ts';
import type { OngoingCall } from '../../ongoing/ongoing-call.ts';
import type { PipelineParts } from '../../parts.ts';
import { CallState } from '../../undo/state/call-state.ts';
import { checkOf, type DocumentJudges } from '../prepared/document-access.ts';
import { compensatingStep } from './compensating-step.ts';
import type { LazyCheckpoints } from './lazy-checkpoints.ts';
import { type ServerTaskParts, serverTasksOf } from './server-tasks.ts';
import { towardsClient } from './towards-client.ts';

/** Code of the warning on a call whose tool asked a question that nobody was shown. */
const UNASKED = 'question_unanswered';
/** Code of the warning on a call whose tool sent a checkpoint that was not stored. */
const UNSAVED = 'checkpoint_not_saved';
const NO_SECRETS: ReadonlyMap<string, string> = new Map();

type Call = CallRequest & Admitted & Resolved & Validated & Authorized & Partial<Reserved & Prepared>;

/** Dependencies of calls that change state. */
export type RecordingParts = ServerTaskParts &
  DocumentJudges &
  Pick<PipelineParts, 'transactions' | 'state' | 'records' | 'visible' | 'limits' | 'redactor' | 'clients' | 'context'>;

/**
 * The call as its executor sees it. With `parts` the executor may make changes that a crash must not leave half made.
 */
export function executorCall(
  call: Call,
  ongoing: OngoingCall,
  parts?: RecordingParts,
  checkpoints?: LazyCheckpoints,
): ExecutorCall {
  const { onProgress, meta } = call.caller;
  const { environment, priority } = call.request.execution_options ?? {};
  const ofThisAttempt = checkpoints?.beginAttempt();
  const documents = call.documents?.map(ownDocument);
  return {
    invocationId: call.invocationId,
    principal: call.principal,
    tool: call.tool,
    parameters: originalArguments(call.tool.manifest, withDocuments(call, documents)),
    grant: call.grant,
    secrets: call.secrets ?? NO_SECRETS,
    attempt: ongoing.toolRun.attempts,
    ...(environment === undefined ? {} : { environment }),
    ...(priority === undefined ? {} : { priority }),
    ...(documents === undefined ? {} : { documents }),
    ...(meta === undefined ? {} : { meta }),
    onUsage(usage) {
      ongoing.toolRun.noteUsage(usage);
    },
    onUndoing: () => ongoing.toolRun.noteUndoing(),
    // The executor has already undone it; only the note is left to make (PIPE-03).
    onRolledBack: () => ongoing.undo.sayRolledBack(),
    whileAsking: (ask) => whileAsking(call, ongoing, ask),
    onProgress(progress) {
      ongoing.toolRun.noteProgress(progress);
      onProgress?.(progress);
    },
    ...(parts === undefined ? {} : ofAttempt(parts, call, ongoing)),
    get checkpoints() {
      return ofThisAttempt?.();
    },
  };
}

/** Of this attempt alone: a tool may change what it gets, and others get what is remembered of the same document. */
const ownDocument = ({ tags, deprecation, ...document }: GivenDocument): GivenDocument => ({
  ...document,
  ...(tags === undefined ? {} : { tags: [...tags] }),
  ...(deprecation === undefined ? {} : { deprecation: { ...deprecation } }),
});

/** The arguments, with the documents in the parameter that the manifest marks for them. */
function withDocuments(
  { parameters, tool }: Pick<Call, 'parameters' | 'tool'>,
  documents: readonly GivenDocument[] | undefined,
): Call['parameters'] {
  const name = documents === undefined ? undefined : documentParameter(tool.manifest);
  return name === undefined ? parameters : { ...parameters, [name]: documents };
}

/** What only an attempt has: it changes state, and it may ask the client and send it log messages. */
function ofAttempt(parts: RecordingParts, call: Call, ongoing: OngoingCall) {
  const ask: NonNullable<ExecutorCall['whileAsking']> = (asking) => whileAsking(call, ongoing, asking);
  const onUnasked = (why: string): void => noteUnasked(ongoing, why, parts.clock.now());
  return {
    ...changing(parts, call, ongoing),
    ...serverTasksOf(parts, call, ongoing),
    ...sessionOf(parts, call, ongoing.controller.signal),
    ...documentCheckOf(parts, call, ongoing),
    ...towardsClient(parts, call, { whileAsking: ask, onUnasked, signal: ongoing.controller.signal }),
    onUnasked,
    onUnsaved: (why: string): void => noteUnsaved(ongoing, why),
  };
}

/** Read when the tool asks for it: the call of another tool costs nothing. */
function sessionOf({ context }: RecordingParts, { principal, tool }: Call, signal: AbortSignal) {
  const { sessionId } = principal;
  if (tool.manifest.execution_config?.session_context !== true) return {};
  const sessionContext: NonNullable<ExecutorCall['sessionContext']> = async () =>
    sessionId === undefined ? undefined : context.sessionContext(principal, sessionId, signal);
  return { sessionContext };
}

function documentCheckOf(parts: RecordingParts, call: Call, { toolRun }: OngoingCall) {
  const checkDocument = checkOf(parts, call, (fact) => toolRun.noteFact(fact));
  return checkDocument === undefined ? {} : { checkDocument };
}

/** While a person is asked the call holds no slot, and its silence is not counted. */
async function whileAsking<Answer>(
  { slot }: Call,
  { toolRun, controller }: OngoingCall,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  using _asking = toolRun.deadline?.asking();
  return await (slot === undefined ? ask() : slot.without(ask, controller.signal));
}

/** Noted once for each call: a tool may ask without end. */
function noteUnasked({ toolRun }: OngoingCall, why: string, at: number): void {
  if (toolRun.warnings?.some(({ code }) => code === UNASKED) === true) return;
  toolRun.noteWarning({
    code: UNASKED,
    message: `The tool wanted to ask the client something in the middle of this call. Nobody was shown the question, because ${why}.`,
  });
  toolRun.noteFact({ type: 'ai.agent.tool.question_unanswered', at, data: { reason: why } });
}

/** Noted once for each call: the reason of the first one. */
function noteUnsaved({ toolRun }: OngoingCall, why: string): void {
  if (toolRun.warnings?.some(({ code }) => code === UNSAVED) === true) return;
  toolRun.noteWarning({
    code: UNSAVED,
    message: `A checkpoint of the tool was not saved, because ${why}`.replace(/[^.]$/, '$&.'),
  });
}

/**
 * Everything by which a tool changes state. It works only during its own attempt: kept from an earlier one, it changes
 * nothing.
 */
function changing(
  parts: RecordingParts,
  call: Call,
  ongoing: OngoingCall,
): Pick<ExecutorCall, 'undo' | 'state' | 'compensateWith'> {
  const attempt = ongoing.toolRun.attempts;
  if (attempt > 1) ongoing.undo.reopen();
  const { principal, invocationId } = call;
  const fence = ongoing.resumed?.hold?.fence ?? 0;
  const of = { tenantId: principal.tenantId, invocationId, instanceId: parts.instanceId, fence };
  const record = (step: UndoStep): Promise<void> =>
    ongoing.toolRun.attempts === attempt ? ongoing.undo.record(parts.transactions, of, step) : Promise.reject(isOver());
  const undo: UndoRecorder = { record };
  const compensateWith: NonNullable<ExecutorCall['compensateWith']> = async (given) =>
    record(withReach(call, await compensatingStep(parts, call, given)));
  return { undo, compensateWith, state: stateOf(parts, call, ongoing, of, record) };
}

function stateOf(
  { state, records }: RecordingParts,
  call: Call,
  ongoing: OngoingCall,
  by: { readonly tenantId: string; readonly invocationId: string; readonly fence: number },
  record: UndoRecorder['record'],
): CallState {
  const { tool } = call;
  const attempt = ongoing.toolRun.attempts;
  return new CallState({
    parts: state,
    records,
    scope: { tenantId: by.tenantId, ownerId: tool.tenantId, toolId: tool.manifest.tool_id },
    by,
    mayWrite: sideEffectOf(tool.manifest) !== 'pure',
    signal: ongoing.controller.signal,
    record: (step) => record(withReach(call, step)),
    change: (make) => (ongoing.toolRun.attempts === attempt ? ongoing.undo.change(make) : Promise.reject(isOver())),
  });
}

/** Marks in a step whether it may undo only a part. For a tool that may be repeated this does not matter. */
function withReach({ executor, tool }: Call, step: UndoStep): UndoStep {
  const isWhole = isSafeToRepeat(tool.manifest) || executor.takesBackAll?.(tool) === true;
  return isWhole ? step : { ...step, partial: true };
}

const isOver = (): ToolLayerError =>
  new ToolLayerError('E3805', 'This attempt of the call is over; it changes nothing any more.');
