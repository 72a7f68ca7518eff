import type { ToolInvokeRequest } from '../../../../api/schemas/invocation.ts';
import { isObject } from '../../../domain/shape/is-object.ts';
import { errorAnswer, RPC, type RpcRequest, resultAnswer } from '../../json-rpc.ts';
import { CACHE_HINTS, type Era, META_SERVER } from '../../mcp-protocol.ts';
import type { Method, ServerIdentity } from '../../mcp-server.ts';
import { type ResultFrame, resultFrame } from './call-result.ts';
import { createInvoke, type Invoke, type InvokeParts } from './invoke-tool.ts';

/** Dependencies of the methods about tools. */
export interface ToolMethodParts extends InvokeParts {
  readonly identity: ServerIdentity;
  readonly era: Era;
  /** The model names the tools in arguments; otherwise the client calls them by name. */
  readonly modelNames?: boolean;
}

/** The methods about tools, and the parts that the meta-tools reuse. */
export interface ToolMethods {
  readonly methods: readonly (readonly [string, Method])[];
  readonly callTool: Method;
  readonly listTools: Method;
  readonly invoke: Invoke;
  readonly frame: ResultFrame;
  /** JSON text that ends the result of a list. */
  readonly afterTools: string;
}

export function toolMethods({ identity, era, modelNames = false, ...parts }: ToolMethodParts): ToolMethods {
  const frame = resultFrame(era, identity, modelNames);
  const hints = { resultType: 'complete', ...CACHE_HINTS, _meta: { [META_SERVER]: identity } };
  const afterTools = era === 'modern' ? `,${JSON.stringify(hints).slice(1)}` : '}';

  const invoke = createInvoke(parts, frame);

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
    const list = await parts.toolLists.list(peer.caller);
    return resultAnswer(request.id, `{${list.page(cursor, era)}${afterTools}`);
  };

  const methods = [['tools/call', callTool] as const, ['tools/list', listTools] as const];
  return { methods, callTool, listTools, invoke, frame, afterTools };
}

/** The call that tools/call asks for, or the fault in its params. */
function inputOf({ params }: RpcRequest): ToolInvokeRequest | string {
  const { name, arguments: parameters } = params;
  if (typeof name !== 'string') return 'The member name must be the name of a tool.';
  if (parameters !== undefined && !isObject(parameters)) return 'The member arguments must be an object.';
  return parameters === undefined ? { tool_id: name } : { tool_id: name, parameters };
}
