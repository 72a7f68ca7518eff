import { errorBody } from '@sallyport/std/error/failure';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { DryRunResponse } from '../../../../api/schemas/calls/dry-run.ts';
import type { ToolErrorBody } from '../../../../api/schemas/error.ts';
import type { ToolInvokeRequest, ToolInvokeResponse } from '../../../../api/schemas/invocation.ts';
import type { Caller, Progress } from '../../../domain/principal/principal.ts';
import type { ToolLayer } from '../../../operations/tool-layer.ts';
import {
  errorAnswer,
  notificationText,
  type Params,
  RPC,
  type RpcAnswer,
  type RpcId,
  type RpcRequest,
} from '../../json-rpc.ts';
import { declaresTasks, metaOf } from '../../mcp-protocol.ts';
import { type Peer, protocolError } from '../../mcp-server.ts';
import type { ConfirmCalls } from '../confirmation/confirm-calls.ts';
import type { AskedFor, Settled } from '../confirmation/confirming.ts';
import { isOpen, isWaiting } from '../confirmation/decide.ts';
import { callDigest } from '../confirmation/waiting-calls.ts';
import { createTaskCreation, questionsMember } from '../tasks/create-task.ts';
import type { TaskParts } from '../tasks/task-parts.ts';
import type { AskableClients } from '../upstream-questions/askable-clients.ts';
import type { OpenedLinks } from '../upstream-questions/opened-links.ts';
import type { SuspendedRequests, Work } from '../upstream-questions/suspended-requests.ts';
import type { CachedToolLists } from './cached-tool-lists.ts';
import { endedAnswer } from './call-answer.ts';
import { callOptions } from './call-options.ts';
import { dryRunAnswer, type ResultFrame, unhappyAnswer } from './call-result.ts';
import { type ClientLogs, logLevelFault } from './log-messages.ts';
import { metaForServer } from './meta-for-server.ts';
import { inputRequiredAnswer, pendingAnswer } from './pending-result.ts';

/** Dependencies of tool calls. */
export interface InvokeParts {
  readonly layer: ToolLayer;
  readonly toolLists: CachedToolLists;
  readonly confirmCalls: ConfirmCalls;
  readonly suspended: SuspendedRequests;
  readonly clients: Pick<AskableClients, 'ofRequest'>;
  readonly logs: Pick<ClientLogs, 'listenerFor'>;
  readonly links: Pick<OpenedLinks, 'refused'>;
  /** Absent: no call becomes a task. */
  readonly tasks?: TaskParts | undefined;
}

/** The caller of a call, and the tool that it named. */
export interface CalledAs {
  readonly caller: Caller;
  readonly toolId: string;
}

/** How the ends of a call are answered. */
export interface CallAnswers {
  dryRun(id: RpcId, dryRun: DryRunResponse): RpcAnswer;
  asks(id: RpcId, inputRequests: Params, requestState: string): RpcAnswer;
  waits(id: RpcId, response: ToolInvokeResponse, note: string | undefined): RpcAnswer;
  failed(id: RpcId, error: ToolErrorBody, response: ToolInvokeResponse | undefined): RpcAnswer;
  done(id: RpcId, response: ToolInvokeResponse, of: CalledAs): RpcAnswer | Promise<RpcAnswer>;
}

/**
 * Calls the tool that `input` names, on behalf of this request.
 * @param answers default: those of `tools/call`
 */
export type Invoke = (
  input: ToolInvokeRequest,
  request: RpcRequest,
  peer: Peer,
  answers?: CallAnswers,
) => Promise<RpcAnswer>;

export function createInvoke(parts: InvokeParts, frame: ResultFrame): Invoke {
  const { layer, toolLists, confirmCalls, suspended, clients, logs, links, tasks } = parts;
  const ofTools = toolAnswers(toolLists, frame);
  const creation = tasks === undefined ? undefined : createTaskCreation(tasks, frame);

  return async (input, request, peer, answers = ofTools) => {
    const { id, params } = request;
    const asked = callOptions(input, params);
    const meta = metaForServer(params);
    const fault = [asked, meta, logLevelFault(params)].find((each) => typeof each === 'string');
    if (typeof asked === 'string' || typeof meta === 'string' || fault !== undefined)
      return errorAnswer(id, RPC.invalidParams, String(fault));
    // Only calls of tools become tasks.
    const ofTask = answers === ofTools ? creation : undefined;
    const callingAs = (mine: Peer, latest: () => Params): Caller => ({
      ...callerOf(logs, mine, latest, meta),
      ...(ofTask === undefined ? {} : taskMembers(mine)),
    });
    try {
      const first = (): Caller => callingAs(peer, () => params);
      if (asked.dryRun) return answers.dryRun(id, await layer.ask('tools.dry-run', asked.input, first()));
      const wanted = (await ofTask?.isWanted(asked.input, request, peer)) ?? false;
      if (typeof wanted === 'string') return errorAnswer(id, RPC.invalidParams, wanted);
      if (wanted && ofTask !== undefined) return await ofTask.create(asked.input, request, peer, first());
      const call = { params, peer, digest: () => `${request.method} ${callDigest(asked.input)}` };
      const work: Work<Settled> = (mine, latest) =>
        settle({ input: asked.input, params, peer: mine }, callingAs(mine, latest));
      const settled = await (suspended.answered<Settled>(call) ?? suspended.run(call, work));
      return await answerOf(settled, request, { peer, toolId: asked.input.tool_id, answers, ofTask });
    } catch (thrown) {
      const failure = failureOf(thrown);
      // What the client itself sent wrong is no mistake of the model.
      if (failure.details?.['parameter'] !== undefined) return protocolError(id, errorBody(failure));
      return answers.failed(id, errorBody(failure), undefined);
    }
  };

  async function settle(call: AskedFor, caller: Caller): Promise<Settled> {
    clients.ofRequest(call.peer);
    return confirmCalls.answered(call) ?? confirmCalls.repeated(call) ?? firstAnswer(call, caller);
  }

  async function firstAnswer(call: AskedFor, caller: Caller): Promise<Settled> {
    const response = await layer.ask('tools.invoke', call.input, caller);
    return isWaiting(response) ? confirmCalls.settle(response, call) : { response };
  }

  async function answerOf(
    settled: Settled,
    { id }: RpcRequest,
    { peer, toolId, answers, ofTask }: Answering,
  ): Promise<RpcAnswer> {
    if (!('response' in settled)) return answers.asks(id, settled.inputRequests, settled.requestState);
    const { response, note } = settled;
    if (response.error === undefined && isOpen(response))
      return ofTask?.ofWaiting(id, response, peer) ?? answers.waits(id, response, note);
    const refused = ofTask?.refused(id, response, peer);
    if (refused !== undefined) return refused;
    if (response.error !== undefined) {
      links.refused(peer.watch, response.error.details?.['rpc_data']);
      return answers.failed(id, response.error, response);
    }
    return answers.done(id, response, { caller: peer.caller, toolId });
  }
}

interface Answering {
  readonly peer: Peer;
  readonly toolId: string;
  readonly answers: CallAnswers;
  readonly ofTask: ReturnType<typeof createTaskCreation> | undefined;
}

/** The answers of `tools/call`. */
function toolAnswers(toolLists: CachedToolLists, frame: ResultFrame): CallAnswers {
  return {
    dryRun: (id, dryRun) => dryRunAnswer(id, dryRun, frame),
    asks: (id, inputRequests, requestState) => inputRequiredAnswer(id, inputRequests, requestState, frame),
    waits: (id, response, note) => pendingAnswer(id, response, note, frame),
    failed: (id, error, response) => unhappyAnswer(id, error, response, frame),
    done: (id, response, of) => endedAnswer(id, response, { toolLists, ...of }, frame),
  };
}

/** The caller with the parts of this one call: its end, its progress, its log messages, its trace. */
function callerOf(logs: InvokeParts['logs'], peer: Peer, latest: () => Params, meta: Params | undefined): Caller {
  const { caller, signal, notify } = peer;
  const { traceparent } = metaOf(latest());
  const listener = logs.listenerFor(peer, latest);
  return {
    ...caller,
    signal,
    ...(meta === undefined ? {} : { meta }),
    ...(typeof traceparent === 'string' ? { traceparent } : {}),
    ...(tokenIn(latest()) === undefined ? {} : { onProgress: progressNotifier(() => tokenIn(latest()), notify) }),
    ...(listener === undefined ? {} : { logs: listener }),
  };
}

/** For a client that takes tasks, a call that comes to wait is one. */
function taskMembers(peer: Peer): Pick<Caller, 'takesTasks' | 'questions'> {
  return peer.era === 'modern' && declaresTasks(peer.can) ? { takesTasks: true, ...questionsMember(peer) } : {};
}

function tokenIn(params: Params): string | number | undefined {
  const { progressToken } = metaOf(params);
  return typeof progressToken === 'string' || typeof progressToken === 'number' ? progressToken : undefined;
}

/** MCP requires progress to increase with each notification; other updates are dropped, and what is no finite number. */
function progressNotifier(
  token: () => string | number | undefined,
  notify: (text: string) => void,
): (step: Progress) => void {
  let last = Number.NEGATIVE_INFINITY;
  return (step) => {
    const progressToken = token();
    if (!(step.progress > last && Number.isFinite(step.progress)) || progressToken === undefined) return;
    last = step.progress;
    notify(notificationText('notifications/progress', { progressToken, ...step }));
  };
}
