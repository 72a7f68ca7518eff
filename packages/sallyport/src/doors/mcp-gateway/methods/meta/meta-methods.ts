import type { ToolInvokeRequest } from '../../../../../api/schemas/invocation.ts';
import type { ToolLayer } from '../../../../operations/tool-layer.ts';
import { resultAnswer } from '../../../json-rpc.ts';
import type { Method, Peer } from '../../../mcp-server.ts';
import type { McpSettings, ToolsMode } from '../../settings.ts';
import type { CachedToolLists } from '../cached-tool-lists.ts';
import { ownAnswer } from '../call-result.ts';
import type { ToolMethods } from '../tool-methods.ts';
import { callOwnTool, type RunOwnTool } from './call-own-tool.ts';
import { describeTool } from './describe-tool.ts';
import { findTools } from './find-tools.ts';
import { META_TOOLS, type MetaToolName } from './meta-tools.ts';
import { READ_OVERFLOW } from './read-overflow.ts';

/** Dependencies of the meta-tools beside the methods they replace. */
export interface MetaMethodParts extends Pick<McpSettings, 'autoToolsMax' | 'listsOverflow'> {
  readonly layer: ToolLayer;
  readonly toolLists: CachedToolLists;
  readonly mode: Exclude<ToolsMode, 'all'>;
  /** Methods for tools that the client names. */
  readonly tools: ToolMethods;
  /** Methods for tools that the model names in an argument. */
  readonly inner: ToolMethods;
}

/**
 * `tools/list` and `tools/call` when meta-tools replace the list of tools (MOD-11). Their names are reserved: a
 * registered tool with such a name is reached by `call_tool`. Other names are called directly, so that a client that
 * knows a tool needs no detour.
 */
export function metaMethods(parts: MetaMethodParts): readonly (readonly [string, Method])[] {
  const { layer, toolLists, mode, tools, inner, autoToolsMax } = parts;
  const standsForAll = async ({ caller }: Peer): Promise<boolean> =>
    mode === 'meta' || (await toolLists.list(caller)).facts.size > autoToolsMax;
  const own = [...META_TOOLS.values(), ...(parts.listsOverflow ? [READ_OVERFLOW] : [])];
  const listing = `{"tools":${JSON.stringify(own)}${tools.afterTools}`;
  const runs = metaRuns(layer, inner);

  const callTool: Method = async (request, peer) => {
    const tool = META_TOOLS.get(String(request.params['name']));
    if (tool === undefined || !(await standsForAll(peer))) return tools.callTool(request, peer);
    return callOwnTool(tool, runs[tool.name], request, peer, inner.frame);
  };
  const listTools: Method = async (request, peer) => {
    if (!(await standsForAll(peer))) return tools.listTools(request, peer);
    // An invalid token is refused here as everywhere.
    if (mode === 'meta') await layer.ask('tokens.inspect', {}, peer.caller);
    return resultAnswer(request.id, listing);
  };
  return [
    ['tools/call', callTool],
    ['tools/list', listTools],
  ];
}

function metaRuns(layer: ToolLayer, { invoke, frame }: ToolMethods): Readonly<Record<MetaToolName, RunOwnTool>> {
  return {
    find_tools: async (given, { id }, { caller, signal }) =>
      ownAnswer(id, await findTools(layer, given, { ...caller, signal }), frame),
    describe_tool: async (given, { id }, { caller, signal }) =>
      ownAnswer(id, await describeTool(layer, given, { ...caller, signal }), frame),
    call_tool: ({ name, arguments: parameters, version }, request, peer) => {
      const input = {
        tool_id: name,
        ...(parameters === undefined ? {} : { parameters }),
        ...(version === undefined ? {} : { tool_version: version }),
      };
      return invoke(input as ToolInvokeRequest, request, peer);
    },
  };
}
