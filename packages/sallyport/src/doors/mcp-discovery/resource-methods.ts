import { isObject } from '../../domain/shape/is-object.ts';
import type { ToolLayer } from '../../operations/tool-layer.ts';
import { errorAnswer, RPC, type RpcAnswer, type RpcId, resultAnswer } from '../json-rpc.ts';
import { CACHE_HINTS, type Era, META_SERVER } from '../mcp-protocol.ts';
import type { Method, ServerIdentity } from '../mcp-server.ts';
import { noSuchResource, subscriptionMethods, uriIn } from '../mcp-server.ts';
import { completions } from './complete-argument.ts';
import { listResources } from './list-resources.ts';
import type { ReadResource } from './read-resource.ts';
import { TEMPLATES } from './resource-uri.ts';
import type { DiscoverySettings } from './settings.ts';

/** Every resource is a JSON document. */
export const MIME_TYPE = 'application/json';

/** Dependencies of the methods about resources. */
export interface ResourceMethodParts {
  readonly layer: ToolLayer;
  readonly settings: DiscoverySettings;
  readonly read: ReadResource;
  readonly identity: ServerIdentity;
  readonly era: Era;
}

/**
 * The methods about resources. Sessions also subscribe to single resources; 2026-07-28 has `subscriptions/listen` for
 * that.
 */
export function resourceMethods(parts: ResourceMethodParts): readonly (readonly [string, Method])[] {
  const { layer, settings, read, era } = parts;
  const { plain, cacheable } = endings(parts);

  const list: Method = async ({ id, params }, { caller }) => {
    const { cursor } = params;
    if (cursor !== undefined && typeof cursor !== 'string') return wrong(id, 'The member cursor must be a string.');
    const page = await listResources(layer, settings.resourcesPageSize, cursor, caller);
    return resultAnswer(id, JSON.stringify({ ...page, ...cacheable }));
  };

  const templates: Method = async ({ id }, { caller }) => {
    await layer.ask('tokens.inspect', {}, caller);
    const resourceTemplates = TEMPLATES.map((template) => ({ ...template, mimeType: MIME_TYPE }));
    return resultAnswer(id, JSON.stringify({ resourceTemplates, ...cacheable }));
  };

  const readOne: Method = async (request, { caller, signal }) => {
    const uri = uriIn(request);
    if (typeof uri !== 'string') return uri;
    const resource = await read(uri, { ...caller, signal });
    if (resource === undefined) return noSuchResource(request.id, uri, era);
    const contents = [{ uri, mimeType: MIME_TYPE, text: JSON.stringify(resource) }];
    return resultAnswer(request.id, JSON.stringify({ contents, ...cacheable }));
  };

  const complete: Method = async ({ id, params }, { caller }) => {
    const { ref, argument } = params;
    const isAsked = isObject(ref) && isObject(argument);
    const template = isAsked ? TEMPLATES.find(({ uriTemplate }) => uriTemplate === ref['uri']) : undefined;
    const { name, value } = isAsked ? argument : {};
    if (typeof name !== 'string' || typeof value !== 'string')
      return wrong(id, 'Name an argument and its value so far.');
    if (template === undefined) return wrong(id, 'The reference must be one of the resource templates.');
    const completion = await completions(layer, name, value, caller);
    return resultAnswer(id, JSON.stringify({ completion, ...plain }));
  };

  const everywhere = [
    ['resources/list', list] as const,
    ['resources/templates/list', templates] as const,
    ['resources/read', readOne] as const,
    ['completion/complete', complete] as const,
  ];
  return era === 'modern' ? everywhere : [...everywhere, ...subscriptionMethods()];
}

function wrong(id: RpcId, message: string): RpcAnswer {
  return errorAnswer(id, RPC.invalidParams, message);
}

/** Last members of a result in each era: those of every result, and those of a result that may be cached. */
function endings({ era, identity }: ResourceMethodParts): { readonly plain: object; readonly cacheable: object } {
  if (era === 'legacy') return { plain: {}, cacheable: {} };
  const plain = { resultType: 'complete', _meta: { [META_SERVER]: identity } };
  return { plain, cacheable: { ...plain, ...CACHE_HINTS } };
}
