import { errorBody } from '@sallyport/std/error/failure';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { ToolInvokeRequest } from '../../../../api/schemas/invocation.ts';
import type { Caller, Progress } from '../../../domain/principal/principal.ts';
import type { ToolLayer } from '../../../operations/tool-layer.ts';
import { errorAnswer, notificationText, RPC, type RpcAnswer, type RpcRequest } from '../../json-rpc.ts';
import { declaresTasks, metaOf } from '../../mcp-protocol.ts';
import type { Peer } from '../../mcp-server.ts';
import type { ConfirmCalls } from '../confirmation/confirm-calls.ts';
import type { AskedFor, Settled } from '../confirmation/confirming.ts';
import { isOpen, isWaiting } from '../confirmation/decide.ts';
import { createTaskCreation, questionsMember } from '../tasks/create-task.ts';
import type { TaskParts } from '../tasks/task-parts.ts';
import type { SuspendedCalls } from '../upstream-questions/suspended-calls.ts';
import type { CachedToolLists } from './cached-tool-lists.ts';
import { endedAnswer } from './call-answer.ts';
import { callOptions } from './call-options.ts';
import { dryRunAnswer, type ResultFrame, unhappyAnswer } from './call-result.ts';
import { inputRequiredAnswer, pendingAnswer } from './pending-result.ts';

/** Dependencies of tool calls. */
export interface InvokeParts {
  readonly layer: ToolLayer;
  readonly toolLists: CachedToolLists;
  readonly confirmCalls: ConfirmCalls;
  readonly suspendedCalls: SuspendedCalls;
  /** Clients that can be asked while their request runs, by the request's signal. */
  readonly peers: WeakMap<AbortSignal, Peer>;
  /** Absent: no call becomes a task. */
  readonly tasks?: TaskParts | undefined;
}

/** Calls the tool that `input` names, on behalf of this request. */
export type Invoke = (input: ToolInvokeRequest, request: RpcRequest, peer: Peer) => Promise<RpcAnswer>;

export function createInvoke(
  { layer, toolLists, confirmCalls, suspendedCalls, peers, tasks }: InvokeParts,
  frame: ResultFrame,
): Invoke {
  const creation = tasks === undefined ? undefined : createTaskCreation(tasks, frame);
  return async (input, request, peer) => {
    const asked = callOptions(input, request.params);
    if (typeof asked === 'string') return errorAnswer(request.id, RPC.invalidParams, asked);
    try {
      if (asked.dryRun) {
        const dryRun = await layer.ask('tools.dry-run', asked.input, callingAs(request, peer, tasks !== undefined));
        return dryRunAnswer(request.id, dryRun, frame);
      }
      const wanted = (await creation?.isWanted(asked.input, request, peer)) ?? false;
      if (typeof wanted === 'string') return errorAnswer(request.id, RPC.invalidParams, wanted);
      if (wanted && creation !== undefined)
        return await creation.create(asked.input, request, peer, callingAs(request, peer, tasks !== undefined));
      const call = { input: asked.input, params: request.params, peer };
      const goesOn = suspendedCalls.answered(call);
      const settled = await (goesOn ??
        suspendedCalls.run(call, (mine) => settle(mine, callingAs(request, mine.peer, tasks !== undefined))));
      return await answerOf(settled, asked.input, request, peer);
    } catch (thrown) {
      return unhappyAnswer(request.id, errorBody(failureOf(thrown)), undefined, frame);
    }
  };

  async function settle(call: AskedFor, caller: Caller): Promise<Settled> {
    const { peer } = call;
    if (peer.ask !== undefined && peer.can?.['elicitation'] !== undefined) peers.set(peer.signal, peer);
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

/** The caller with the parts of this one call: its end, its progress, its trace. */
function callingAs({ params }: RpcRequest, peer: Peer, hasTasks: boolean): Caller {
  const takesTasks = hasTasks && peer.era === 'modern' && declaresTasks(peer.can);
  const { caller, signal, notify } = peer;
  const { progressToken, traceparent } = metaOf(params);
  return {
    ...caller,
    signal,
    ...(typeof traceparent === 'string' ? { traceparent } : {}),
    ...(typeof progressToken === 'string' || typeof progressToken === 'number'
      ? { onProgress: progressNotifier(progressToken, notify) }
      : {}),
    // A call that comes to wait is a task for such a client.
    ...(takesTasks ? { takesTasks, ...questionsMember(peer) } : {}),
  };
}

/** MCP requires progress to increase with each notification; other updates are dropped. */
function progressNotifier(progressToken: string | number, notify: (text: string) => void): (step: Progress) => void {
  let last = Number.NEGATIVE_INFINITY;
  return (step) => {
    if (step.progress <= last) return;
    last = step.progress;
    notify(notificationText('notifications/progress', { progressToken, ...step }));
  };
}
