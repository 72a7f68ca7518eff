import type { ToolInvokeResponse } from '../../../../api/schemas/invocation.ts';
import type { Caller } from '../../../domain/principal/principal.ts';
import type { RpcAnswer, RpcId } from '../../json-rpc.ts';
import type { CachedToolLists } from './cached-tool-lists.ts';
import { happyAnswer, looksLikeCallResult, type ResultFrame, unhappyAnswer } from './call-result.ts';

/** The answer of a call that is over. */
export async function endedAnswer(
  id: RpcId,
  response: ToolInvokeResponse,
  {
    toolLists,
    caller,
    toolId,
  }: { readonly toolLists: CachedToolLists; readonly caller: Caller; readonly toolId: string },
  frame: ResultFrame,
): Promise<RpcAnswer> {
  if (response.error !== undefined) return unhappyAnswer(id, response.error, response, frame);
  // A result that does not look like MCP's is answered without looking up its tool.
  const fromMcp = looksLikeCallResult(response.result) && (await toolLists.givesCallResult(caller, toolId));
  return happyAnswer(id, response, fromMcp, frame);
}
