import { errorBody } from '@sallyport/std/error/failure';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { ToolInvokeRequest } from '../../../../api/schemas/invocation.ts';
import type { Caller, Progress } from '../../../domain/principal/principal.ts';
import type { ToolLayer } from '../../../operations/tool-layer.ts';
import { errorAnswer, notificationText, type Params, RPC, type RpcAnswer, type RpcRequest } from '../../json-rpc.ts';
import { metaOf } from '../../mcp-protocol.ts';
import { type Peer, protocolError } from '../../mcp-server.ts';
import type { ConfirmCalls } from '../confirmation/confirm-calls.ts';
import type { AskedFor, Settled } from '../confirmation/confirming.ts';
import { isOpen } from '../confirmation/decide.ts';
import { callDigest } from '../confirmation/waiting-calls.ts';
import type { AskableClients } from '../upstream-questions/askable-clients.ts';
import type { SuspendedRequests, Work } from '../upstream-questions/suspended-requests.ts';
import type { CachedToolLists } from './cached-tool-lists.ts';
import { callOptions } from './call-options.ts';
import { dryRunAnswer, happyAnswer, looksLikeCallResult, type ResultFrame, unhappyAnswer } from './call-result.ts';
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
}

/** Calls the tool that `input` names, on behalf of this request. */
export type Invoke = (input: ToolInvokeRequest, request: RpcRequest, peer: Peer) => Promise<RpcAnswer>;

export function createInvoke(
  { layer, toolLists, confirmCalls, suspended, clients, logs }: InvokeParts,
  frame: ResultFrame,
): Invoke {
  const callingAs = (peer: Peer, latest: () => Params): Caller => callerOf(logs, peer, latest);
  return async (input, request, peer) => {
    const { id, params } = request;
    const asked = callOptions(input, params);
    const fault = typeof asked === 'string' ? asked : logLevelFault(params);
    if (typeof asked === 'string' || fault !== undefined) return errorAnswer(id, RPC.invalidParams, String(fault));
    try {
      if (asked.dryRun) {
        const dryRun = await layer.ask(
          'tools.dry-run',
          asked.input,
          callingAs(peer, () => params),
        );
        return dryRunAnswer(id, dryRun, frame);
      }
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
    return isOpen(response) ? confirmCalls.settle(response, call) : { response };
  }

  async function answerOf(
    settled: Settled,
    { tool_id }: ToolInvokeRequest,
    { id }: RpcRequest,
    { caller }: Peer,
  ): Promise<RpcAnswer> {
    if (!('response' in settled)) return inputRequiredAnswer(id, settled.inputRequests, settled.requestState, frame);
    const { response, note } = settled;
    if (response.error !== undefined) return unhappyAnswer(id, response.error, response, frame);
    if (isOpen(response)) return pendingAnswer(id, response, note, frame);
    // A result that does not look like MCP's is answered without looking up its tool.
    const fromMcp = looksLikeCallResult(response.result) && (await toolLists.givesCallResult(caller, tool_id));
    return happyAnswer(id, response, fromMcp, frame);
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
