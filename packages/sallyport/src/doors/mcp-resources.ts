import { errorAnswer, RPC, type RpcAnswer, type RpcId, type RpcRequest, resultAnswer } from './json-rpc.ts';
import type { Era } from './mcp-protocol.ts';
import type { Method } from './mcp-server.ts';

/** Longest URI that an error repeats, in characters. */
const URI_CHARACTERS_SHOWN = 2_048;

/** The URI that a request about a resource names, or the refusal of the request. */
export function uriIn({ id, params }: RpcRequest): string | RpcAnswer {
  const { uri } = params;
  return typeof uri === 'string' ? uri : errorAnswer(id, RPC.invalidParams, 'The member uri must be a string.');
}

/** The same answer for missing resources and for those of others. 2026-07-28 has no separate code for it. */
export function noSuchResource(id: RpcId, uri: string, era: Era, data?: object): RpcAnswer {
  const code = era === 'modern' ? RPC.invalidParams : RPC.resourceNotFound;
  return errorAnswer(id, code, 'There is no such resource.', { ...data, uri: uri.slice(0, URI_CHARACTERS_SHOWN) });
}

/** The methods by which sessions subscribe to single resources; 2026-07-28 has `subscriptions/listen` for that. */
export function subscriptionMethods(): readonly (readonly [string, Method])[] {
  const subscribe: Method = async (request, { caller, watch }) => {
    const uri = uriIn(request);
    if (typeof uri !== 'string') return uri;
    if (watch?.subscribe === undefined) {
      return errorAnswer(request.id, RPC.invalidParams, 'Send initialize first.');
    }
    const isThere = await watch.subscribe(uri, caller);
    return isThere ? resultAnswer(request.id, '{}') : noSuchResource(request.id, uri, 'legacy');
  };
  const unsubscribe: Method = async (request, { watch }) => {
    const uri = uriIn(request);
    if (typeof uri !== 'string') return uri;
    watch?.unsubscribe?.(uri);
    return resultAnswer(request.id, '{}');
  };
  return [
    ['resources/subscribe', subscribe],
    ['resources/unsubscribe', unsubscribe],
  ];
}
