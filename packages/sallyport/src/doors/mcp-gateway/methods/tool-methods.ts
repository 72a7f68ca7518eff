import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { ToolInvokeRequest } from '../../../../api/schemas/invocation.ts';
import { isObject } from '../../../domain/shape/is-object.ts';
import { errorAnswer, RPC, type RpcRequest, resultAnswer } from '../../json-rpc.ts';
import { CACHE_HINTS, type Era, META_SERVER } from '../../mcp-protocol.ts';
import type { Method, Peer, ServerIdentity } from '../../mcp-server.ts';
import { type ResultFrame, resultFrame } from './call-result.ts';
import { createInvoke, type Invoke, type InvokeParts } from './invoke-tool.ts';
import { callOwnTool, type RunOwnTool } from './meta/call-own-tool.ts';
import { READ_OVERFLOW, readOverflow } from './meta/read-overflow.ts';
import type { ServerTools, ToolList } from './tool-list.ts';
import { showsUi } from './tool-ui.ts';

/** Dependencies of the methods about tools. */
export interface ToolMethodParts extends InvokeParts {
  readonly identity: ServerIdentity;
  readonly era: Era;
  /** The model names the tools in arguments; otherwise the client calls them by name. */
  readonly modelNames?: boolean;
  /** The upstream whose tools alone are shown, under its own names; absent: all tools, by their ids. */
  readonly upstream?: string;
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

export function toolMethods({ identity, era, modelNames = false, upstream, ...parts }: ToolMethodParts): ToolMethods {
  const frame = resultFrame(era, identity, modelNames);
  const hints = { resultType: 'complete', ...CACHE_HINTS, _meta: { [META_SERVER]: identity } };
  const afterTools = era === 'modern' ? `,${JSON.stringify(hints).slice(1)}` : '}';

  const invoke = createInvoke(parts, frame);

  /** True when no tool of the layer, or of the upstream, has that name. */
  const isFree = async (name: string, { caller }: Peer): Promise<boolean> => {
    const list = await parts.toolLists.list(caller);
    return upstream === undefined ? !list.facts.has(name) : !toolsOfServer(list, upstream).toolIds.has(name);
  };
  const readRest: RunOwnTool = (given, { id }, peer) => readOverflow(parts.layer, given, id, peer, frame);

  const callTool: Method = async (request, peer) => {
    const input = inputOf(request);
    if (typeof input === 'string') return errorAnswer(request.id, RPC.invalidParams, input);
    if (input.tool_id === READ_OVERFLOW.name && (await isFree(READ_OVERFLOW.name, peer)))
      return callOwnTool(READ_OVERFLOW, readRest, request, peer, frame);
    if (upstream === undefined) return invoke(input, request, peer);
    const { toolIds } = toolsOfServer(await parts.toolLists.list(peer.caller), upstream);
    // A name that the list does not have leads to the refusal that unknown tools get.
    const tool_id = toolIds.get(input.tool_id) ?? `${upstream}__${input.tool_id}`;
    return invoke({ ...input, tool_id }, request, peer);
  };

  const listTools: Method = async (request, peer) => {
    const { cursor } = request.params;
    if (cursor !== undefined && typeof cursor !== 'string') {
      return errorAnswer(request.id, RPC.invalidParams, 'The member cursor must be a string.');
    }
    const all = await parts.toolLists.list(peer.caller);
    const list = upstream === undefined ? all : toolsOfServer(all, upstream);
    return resultAnswer(request.id, `{${list.pages(showsUi(peer)).page(cursor, era)}${afterTools}`);
  };

  const methods = [['tools/call', callTool] as const, ['tools/list', listTools] as const];
  return { methods, callTool, listTools, invoke, frame, afterTools };
}

/**
 * The tools of one upstream.
 * @throws ToolLayerError E3809 when the token sees none
 */
export function toolsOfServer(list: ToolList, upstream: string): ServerTools {
  const own = list.ofServer(upstream);
  if (own !== undefined) return own;
  const message = `This token sees nothing of a server named ${JSON.stringify(upstream.slice(0, 100))}. All that it sees is at /mcp.`;
  throw new ToolLayerError('E3809', message);
}

/** The call that tools/call asks for, or the fault in its params. */
function inputOf({ params }: RpcRequest): ToolInvokeRequest | string {
  const { name, arguments: parameters } = params;
  if (typeof name !== 'string') return 'The member name must be the name of a tool.';
  if (parameters !== undefined && !isObject(parameters)) return 'The member arguments must be an object.';
  return parameters === undefined ? { tool_id: name } : { tool_id: name, parameters };
}
