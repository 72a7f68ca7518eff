import { errorBody } from '@sallyport/std/error/failure';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { ToolInvokeRequest } from '../../../../api/schemas/invocation.ts';
import type { Caller, Progress } from '../../../domain/principal/principal.ts';
import type { ToolLayer } from '../../../operations/tool-layer.ts';
import { errorAnswer, notificationText, type Params, RPC, type RpcAnswer, type RpcRequest } from '../../json-rpc.ts';
import { declaresTasks, metaOf } from '../../mcp-protocol.ts';
import { type Peer, protocolError } from '../../mcp-server.ts';
import type { ConfirmCalls } from '../confirmation/confirm-calls.ts';
import type { AskedFor, Settled } from '../confirmation/confirming.ts';
import { isOpen, isWaiting } from '../confirmation/decide.ts';
import { callDigest } from '../confirmation/waiting-calls.ts';
import { createTaskCreation, questionsMember } from '../tasks/create-task.ts';
import type { TaskParts } from '../tasks/task-parts.ts';
import type { AskableClients } from '../upstream-questions/askable-clients.ts';
import type { SuspendedRequests, Work } from '../upstream-questions/suspended-requests.ts';
import type { CachedToolLists } from './cached-tool-lists.ts';
import { endedAnswer } from './call-answer.ts';
import { callOptions } from './call-options.ts';
import { dryRunAnswer, type ResultFrame, unhappyAnswer } from './call-result.ts';
import { type ClientLogs, logLevelFault } from './log-messages.ts';
import { inputRequiredAnswer, pendingAnswer } from './pending-result.ts';

/** Dependencies of tool calls. */
export interface InvokeParts {
  readonly layer: ToolLayer;
  readonly toolLists: CachedToolLists;
  readonly confirmCalls: ConfirmCalls;
  readonly suspended: SuspendedRequests;
  readonly clients: Pick<AskableClients, 'ofRequest'>;
  readonly logs: Pick<ClientLogs, 'listenerFor'>;
  /** Absent: no call becomes a task. */
  readonly tasks?: TaskParts | undefined;
}

/** Calls the tool that `input` names, on behalf of this request. */
export type Invoke = (input: ToolInvokeRequest, request: RpcRequest, peer: Peer) => Promise<RpcAnswer>;

export function createInvoke(
  { layer, toolLists, confirmCalls, suspended, clients, logs, tasks }: InvokeParts,
  frame: ResultFrame,
): Invoke {
  const creation = tasks === undefined ? undefined : createTaskCreation(tasks, frame);
  const callingAs = (peer: Peer, latest: () => Params): Caller => ({
    ...callerOf(logs, peer, latest),
    ...(tasks === undefined ? {} : taskMembers(peer)),
  });
  return async (input, request, peer) => {
    const { id, params } = request;
    const asked = callOptions(input, params);
    const fault = typeof asked === 'string' ? asked : logLevelFault(params);
    if (typeof asked === 'string' || fault !== undefined) return errorAnswer(id, RPC.invalidParams, String(fault));
    try {
      const first = (): Caller => callingAs(peer, () => params);
      if (asked.dryRun) return dryRunAnswer(id, await layer.ask('tools.dry-run', asked.input, first()), frame);
      const wanted = (await creation?.isWanted(asked.input, request, peer)) ?? false;
      if (typeof wanted === 'string') return errorAnswer(id, RPC.invalidParams, wanted);
      if (wanted && creation !== undefined) return await creation.create(asked.input, request, peer, first());
      const call = { params, peer, digest: () => `${request.method} ${callDigest(asked.input)}` };
      const work: Work<Settled> = (mine, latest) =>
        settle({ input: asked.input, params, peer: mine }, callingAs(mine, latest));
      const settled = await (suspended.answered<Settled>(call) ?? suspended.run(call, work));
      return await answerOf(settled, asked.input, request, peer);
    } catch (thrown) {
      const failure = failureOf(thrown);
      // What the client itself sent wrong is no mistake of the model.
      if (failure.details?.['parameter'] !== undefined) return protocolError(id, errorBody(failure));
      return unhappyAnswer(id, errorBody(failure), undefined, frame);
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
    { tool_id }: ToolInvokeRequest,
    { id }: RpcRequest,
    peer: Peer,
  ): Promise<RpcAnswer> {
    if (!('response' in settled)) return inputRequiredAnswer(id, settled.inputRequests, settled.requestState, frame);
    const { response, note } = settled;
    if (response.error === undefined && isOpen(response))
      return creation?.ofWaiting(id, response, peer) ?? pendingAnswer(id, response, note, frame);
    const refused = creation?.refused(id, response, peer);
    return refused ?? endedAnswer(id, response, { toolLists, caller: peer.caller, toolId: tool_id }, frame);
  }
}

/** The caller with the parts of this one call: its end, its progress, its log messages, its trace. */
function callerOf(logs: InvokeParts['logs'], peer: Peer, latest: () => Params): Caller {
  const { caller, signal, notify } = peer;
  const { traceparent } = metaOf(latest());
  const listener = logs.listenerFor(peer, latest);
  return {
    ...caller,
    signal,
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

/** MCP requires progress to increase with each notification; other updates are dropped. */
function progressNotifier(
  token: () => string | number | undefined,
  notify: (text: string) => void,
): (step: Progress) => void {
  let last = Number.NEGATIVE_INFINITY;
  return (step) => {
    const progressToken = token();
    if (step.progress <= last || progressToken === undefined) return;
    last = step.progress;
    notify(notificationText('notifications/progress', { progressToken, ...step }));
  };
}
