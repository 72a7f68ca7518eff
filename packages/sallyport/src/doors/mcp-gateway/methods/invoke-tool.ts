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
import { metaOf } from '../../mcp-protocol.ts';
import type { Peer } from '../../mcp-server.ts';
import type { ConfirmCalls } from '../confirmation/confirm-calls.ts';
import type { AskedFor, Settled } from '../confirmation/confirming.ts';
import { isOpen } from '../confirmation/decide.ts';
import type { SuspendedCalls } from '../upstream-questions/suspended-calls.ts';
import type { CachedToolLists } from './cached-tool-lists.ts';
import { callOptions } from './call-options.ts';
import { dryRunAnswer, happyAnswer, looksLikeCallResult, type ResultFrame, unhappyAnswer } from './call-result.ts';
import { metaForServer } from './meta-for-server.ts';
import { inputRequiredAnswer, pendingAnswer } from './pending-result.ts';

/** Dependencies of tool calls. */
export interface InvokeParts {
  readonly layer: ToolLayer;
  readonly toolLists: CachedToolLists;
  readonly confirmCalls: ConfirmCalls;
  readonly suspendedCalls: SuspendedCalls;
  /** Clients that can be asked while their request runs, by the request's signal. */
  readonly peers: WeakMap<AbortSignal, Peer>;
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

export function createInvoke(
  { layer, toolLists, confirmCalls, suspendedCalls, peers }: InvokeParts,
  frame: ResultFrame,
): Invoke {
  const ofTools: CallAnswers = {
    dryRun: (id, dryRun) => dryRunAnswer(id, dryRun, frame),
    asks: (id, inputRequests, requestState) => inputRequiredAnswer(id, inputRequests, requestState, frame),
    waits: (id, response, note) => pendingAnswer(id, response, note, frame),
    failed: (id, error, response) => unhappyAnswer(id, error, response, frame),
    async done(id, response, { caller, toolId }) {
      // A result that does not look like MCP's is answered without looking up the kind of its tool.
      const isMcp = looksLikeCallResult(response.result) && (await toolLists.kindOf(caller, toolId)) === 'mcp';
      return happyAnswer(id, response, isMcp, frame);
    },
  };
  return async (input, request, peer, answers = ofTools) => {
    const asked = callOptions(input, request.params);
    if (typeof asked === 'string') return errorAnswer(request.id, RPC.invalidParams, asked);
    const meta = metaForServer(request.params);
    if (typeof meta === 'string') return errorAnswer(request.id, RPC.invalidParams, meta);
    try {
      if (asked.dryRun) {
        const dryRun = await layer.ask('tools.dry-run', asked.input, callingAs(request, peer, meta));
        return answers.dryRun(request.id, dryRun);
      }
      const call = { input: asked.input, params: request.params, peer };
      const goesOn = suspendedCalls.answered(call);
      const settled = await (goesOn ??
        suspendedCalls.run(call, (mine) => settle(mine, callingAs(request, mine.peer, meta))));
      return await answerOf(settled, request, { caller: peer.caller, toolId: asked.input.tool_id }, answers);
    } catch (thrown) {
      return answers.failed(request.id, errorBody(failureOf(thrown)), undefined);
    }
  };

  async function settle(call: AskedFor, caller: Caller): Promise<Settled> {
    const { peer } = call;
    if (peer.ask !== undefined && peer.can?.['elicitation'] !== undefined) peers.set(peer.signal, peer);
    return confirmCalls.answered(call) ?? confirmCalls.repeated(call) ?? firstAnswer(call, caller);
  }

  async function firstAnswer(call: AskedFor, caller: Caller): Promise<Settled> {
    const response = await layer.ask('tools.invoke', call.input, caller);
    return isOpen(response) ? confirmCalls.settle(response, call) : { response };
  }

  async function answerOf(
    settled: Settled,
    { id }: RpcRequest,
    of: CalledAs,
    answers: CallAnswers,
  ): Promise<RpcAnswer> {
    if (!('response' in settled)) return answers.asks(id, settled.inputRequests, settled.requestState);
    const { response, note } = settled;
    if (response.error !== undefined) return answers.failed(id, response.error, response);
    return isOpen(response) ? answers.waits(id, response, note) : answers.done(id, response, of);
  }
}

/** The caller with the parts of this one call: its end, its progress, its trace. */
function callingAs({ params }: RpcRequest, { caller, signal, notify }: Peer, meta: Params | undefined): Caller {
  const { progressToken, traceparent } = metaOf(params);
  return {
    ...caller,
    signal,
    ...(meta === undefined ? {} : { meta }),
    ...(typeof traceparent === 'string' ? { traceparent } : {}),
    ...(typeof progressToken === 'string' || typeof progressToken === 'number'
      ? { onProgress: progressNotifier(progressToken, notify) }
      : {}),
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
