// Hot path: tools/call and tools/list.
import type { ToolInvokeRequest, ToolInvokeResponse } from '../../../../api/schemas/invocation.ts';
import { errorBody } from '../../../domain/error/failure.ts';
import { failureOf } from '../../../domain/error/tool-layer-error.ts';
import type { Caller, Progress } from '../../../domain/principal/principal.ts';
import type { ToolLayer } from '../../../operations/tool-layer.ts';
import {
  errorAnswer,
  isObject,
  notificationText,
  RPC,
  type RpcAnswer,
  type RpcRequest,
  resultAnswer,
} from '../../json-rpc.ts';
import { CACHE_HINTS, type Era, META_SERVER, metaOf } from '../../mcp-protocol.ts';
import type { Method, Peer, ServerIdentity } from '../../mcp-server.ts';
import { callOptions } from './call-options.ts';
import {
  dryRunAnswer,
  happyAnswer,
  looksLikeCallResult,
  type ResultFrame,
  resultFrame,
  unhappyAnswer,
} from './call-result.ts';
import type { ToolShelf } from './tool-shelf.ts';

/** What the methods about tools need. */
export interface ToolMethodParts {
  readonly layer: ToolLayer;
  readonly shelf: ToolShelf;
  readonly identity: ServerIdentity;
  readonly era: Era;
  /** The model names the tools in arguments, instead of its client by their own names. */
  readonly modelNames?: boolean;
}

/** The methods about tools, and what the meta-tools take of them. */
export interface ToolMethods {
  readonly methods: readonly (readonly [string, Method])[];
  readonly callTool: Method;
  readonly listTools: Method;
  /** Calls the tool that `input` names, for this request. */
  readonly invoke: (input: ToolInvokeRequest, request: RpcRequest, peer: Peer) => Promise<RpcAnswer>;
  readonly frame: ResultFrame;
  /** JSON text that ends the result of a list. */
  readonly afterTools: string;
}

/** Log levels are taken and nothing is logged to clients: they see warnings in results. */
export const LOG_LEVEL: readonly [string, Method] = ['logging/setLevel', async ({ id }) => resultAnswer(id, '{}')];

export function toolMethods({ layer, shelf, identity, era, modelNames = false }: ToolMethodParts): ToolMethods {
  const frame = resultFrame(era, identity, modelNames);
  const hints = { resultType: 'complete', ...CACHE_HINTS, _meta: { [META_SERVER]: identity } };
  const afterTools = era === 'modern' ? `,${JSON.stringify(hints).slice(1)}` : '}';

  const invoke: ToolMethods['invoke'] = async (input, request, peer) => {
    let response: ToolInvokeResponse;
    const asked = callOptions(input, request.params);
    if (typeof asked === 'string') return errorAnswer(request.id, RPC.invalidParams, asked);
    try {
      const caller = callingAs(request, peer);
      if (asked.dryRun) return dryRunAnswer(request.id, await layer.ask('tool.dry_run', asked.input, caller), frame);
      response = await layer.ask('tool.invoke', asked.input, caller);
    } catch (thrown) {
      return unhappyAnswer(request.id, errorBody(failureOf(thrown)), undefined, frame);
    }
    if (response.error !== undefined) return unhappyAnswer(request.id, response.error, response, frame);
    // What does not look like an MCP result is answered without asking what kind of tool it came from.
    const { result } = response;
    const fromMcp = looksLikeCallResult(result) && (await shelf.kindOf(peer.caller, input.tool_id)) === 'mcp';
    return happyAnswer(request.id, response, fromMcp, frame);
  };

  const callTool: Method = (request, peer) => {
    const input = inputOf(request);
    if (typeof input !== 'string') return invoke(input, request, peer);
    return Promise.resolve(errorAnswer(request.id, RPC.invalidParams, input));
  };

  const listTools: Method = async (request, peer) => {
    const { cursor } = request.params;
    if (cursor !== undefined && typeof cursor !== 'string') {
      return errorAnswer(request.id, RPC.invalidParams, 'The member cursor must be a string.');
    }
    const list = await shelf.list(peer.caller);
    return resultAnswer(request.id, `{${list.page(cursor)}${afterTools}`);
  };

  const methods = [['tools/call', callTool] as const, ['tools/list', listTools] as const];
  return { methods, callTool, listTools, invoke, frame, afterTools };
}

/** The call that tools/call asks for, or what is wrong with its params. */
function inputOf({ params }: RpcRequest): ToolInvokeRequest | string {
  const { name, arguments: parameters } = params;
  if (typeof name !== 'string') return 'The member name must be the name of a tool.';
  if (parameters !== undefined && !isObject(parameters)) return 'The member arguments must be an object.';
  return parameters === undefined ? { tool_id: name } : { tool_id: name, parameters };
}

/** The caller with what belongs to this one call: its end, its progress, its trace. */
function callingAs({ params }: RpcRequest, { caller, signal, notify }: Peer): Caller {
  const { progressToken, traceparent } = metaOf(params);
  return {
    ...caller,
    signal,
    ...(typeof traceparent === 'string' ? { traceparent } : {}),
    ...(typeof progressToken === 'string' || typeof progressToken === 'number'
      ? { onProgress: progressTeller(progressToken, notify) }
      : {}),
  };
}

/** MCP wants progress to grow with each notification; what does not grow is left out. */
function progressTeller(progressToken: string | number, notify: (text: string) => void): (step: Progress) => void {
  let last = Number.NEGATIVE_INFINITY;
  return (step) => {
    if (step.progress <= last) return;
    last = step.progress;
    notify(notificationText('notifications/progress', { progressToken, ...step }));
  };
}
