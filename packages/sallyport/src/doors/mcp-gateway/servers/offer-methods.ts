import { failureOf } from '@sallyport/std/error/tool-layer-error';
import { isObject } from '../../../domain/shape/is-object.ts';
import type { ServerMethod } from '../../../domain/tool/server-methods.ts';
import { PROGRAM } from '../../../domain/tool/server-tool.ts';
import { errorAnswer, type Params, RPC, type RpcAnswer, type RpcId, resultAnswer } from '../../json-rpc.ts';
import type { Era } from '../../mcp-protocol.ts';
import type { Method } from '../../mcp-server.ts';
import { noSuchResource, subscriptionMethods, uriIn } from '../../mcp-server.ts';
import type { ToolMethods } from '../methods/tool-methods.ts';
import type { CachedOffers } from './cached-offers.ts';
import { type OfferPages, type ShowOffers, serverAt } from './offer-pages.ts';
import { type ServerUri, serverUriIn } from './qualified-uri.ts';
import { readAnswers, requestAnswers } from './request-answers.ts';
import type { SeenOffers } from './seen-offers.ts';

/** Dependencies of the methods about resources and prompts. */
export interface OfferMethodParts {
  readonly offers: CachedOffers;
  readonly show: ShowOffers;
  readonly era: Era;
  readonly tools: ToolMethods;
  /** The upstream whose offers alone are shown, under its own names; absent: those of all. */
  readonly upstream?: string;
}

/**
 * The methods about resources, prompts and completion. Reading, getting and completing are calls of the layer's own
 * tools for them, so that every one is judged and recorded like a call of any tool.
 */
export function offerMethods(parts: OfferMethodParts): readonly (readonly [string, Method])[] {
  const { offers, era, tools, upstream } = parts;
  const { frame, invoke } = tools;
  const plain = requestAnswers(frame);

  const read: Method = async (request, peer) => {
    const asked = uriIn(request);
    if (typeof asked !== 'string') return asked;
    const seen = await offers.of(peer.caller);
    const at = located(seen, asked, upstream);
    const toolId = at === undefined ? undefined : toolFor('resources/read', at.upstream, seen);
    if (at === undefined || toolId === undefined) return noSuchResource(request.id, asked, era);
    const input = { tool_id: toolId, parameters: { uri: at.uri } };
    return invoke(input, request, peer, readAnswers(frame, asked, at.uri));
  };

  const getPrompt: Method = async (request, peer) => {
    const { name, arguments: given } = request.params;
    if (typeof name !== 'string') return wrong(request.id, 'The member name must be the name of a prompt.');
    if (given !== undefined && !isObject(given)) return wrong(request.id, 'The member arguments must be an object.');
    const seen = await offers.of(peer.caller);
    const prompt = promptNamed(name, upstream);
    const toolId = toolFor('prompts/get', prompt.upstream, seen);
    if (toolId === undefined) return wrong(request.id, 'There is no such prompt.');
    const parameters = { name: prompt.name, ...(given === undefined ? {} : { arguments: given }) };
    return invoke({ tool_id: toolId, parameters }, request, peer, plain);
  };

  const complete: Method = async (request, peer) => {
    const { ref, argument, context } = request.params;
    if (!isObject(ref) || !isObject(argument)) return wrong(request.id, 'Name a reference, and an argument of it.');
    const seen = await offers.of(peer.caller);
    const meant = referenceIn(ref, seen, upstream);
    if (meant === undefined) return wrong(request.id, 'There is no such prompt, and no such template.');
    const toolId = toolFor('completion/complete', meant.upstream, seen);
    if (toolId === undefined)
      return resultAnswer(request.id, `{${frame.opening}"completion":{"values":[],"hasMore":false}}`);
    const parameters = { ref: meant.ref, argument, ...(context === undefined ? {} : { context }) };
    return invoke({ tool_id: toolId, parameters }, request, peer, plain);
  };

  return [
    ['resources/list', listMethod(parts, 'resources')],
    ['resources/templates/list', listMethod(parts, 'templates')],
    ['resources/read', read],
    ['prompts/list', listMethod(parts, 'prompts')],
    ['prompts/get', getPrompt],
    ['completion/complete', complete],
    ...(era === 'legacy' ? subscriptionMethods() : []),
  ];
}

function listMethod({ offers, show, era, tools, upstream }: OfferMethodParts, list: keyof OfferPages): Method {
  return async ({ id, params }, { caller }) => {
    const { cursor } = params;
    if (cursor !== undefined && typeof cursor !== 'string') return wrong(id, 'The member cursor must be a string.');
    const pages = show(await offers.of(caller), upstream)[list];
    return resultAnswer(id, `{${pages.page(cursor, era)}${tools.afterTools}`);
  };
}

/**
 * The upstream and its URI for a URI that a client names; undefined when there is none.
 * @throws E3801 when several may be meant
 */
export function located(seen: SeenOffers, uri: string, upstream: string | undefined): ServerUri | undefined {
  if (upstream !== undefined) {
    serverAt(seen, upstream);
    const qualified = serverUriIn(uri);
    return qualified?.upstream === upstream ? qualified : { upstream, uri };
  }
  try {
    return seen.resolve(uri);
  } catch (thrown) {
    if (failureOf(thrown).code !== 'E3809') throw thrown;
    return undefined;
  }
}

function promptNamed(name: string, upstream: string | undefined): { upstream: string; name: string } {
  if (upstream !== undefined) return { upstream, name };
  // Names of upstreams hold no underscore, and those of the program's prompts not two.
  const end = name.indexOf('__');
  return end < 0 ? { upstream: PROGRAM, name } : { upstream: name.slice(0, end), name: name.slice(end + 2) };
}

/** The prompt or template that a reference means, as its server knows it. */
function referenceIn(
  ref: Params,
  seen: SeenOffers,
  upstream: string | undefined,
): { readonly upstream: string; readonly ref: Params } | undefined {
  const { type, name, uri } = ref;
  if (type === 'ref/prompt' && typeof name === 'string') {
    const prompt = promptNamed(name, upstream);
    return { upstream: prompt.upstream, ref: { ...ref, name: prompt.name } };
  }
  if (type !== 'ref/resource' || typeof uri !== 'string') return undefined;
  const at = located(seen, uri, upstream);
  return at === undefined ? undefined : { upstream: at.upstream, ref: { ...ref, uri: at.uri } };
}

function toolFor(method: ServerMethod, upstream: string, seen: SeenOffers): string | undefined {
  return seen.server(upstream)?.tools[method];
}

function wrong(id: RpcId, message: string): RpcAnswer {
  return errorAnswer(id, RPC.invalidParams, message);
}
