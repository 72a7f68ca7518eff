import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { isObject } from '../../../domain/shape/is-object.ts';
import type { UpstreamCallResult } from '../link.ts';

/**
 * The result of `tools/call` in the form that the layer passes on: the upstream's own members, without the marker of
 * protocol 2026-07-28 and reserved keys of `_meta`, and always with a `content` list.
 * @throws E3308 when it is no result but asks for something that the layer cannot give
 */
export function callResultOf(result: Record<string, unknown>, label: string): UpstreamCallResult {
  const members = completeResult(result, label);
  return Array.isArray(members.content) ? members : { ...members, content: [] };
}

/** The same for the result of another request, whose members are its own. Reserved keys of `_meta` are taken out. */
export function completeResult(result: Record<string, unknown>, label: string): UpstreamCallResult {
  const { resultType, _meta: meta } = result;
  if (resultType !== undefined && resultType !== 'complete') {
    const said = typeof resultType === 'string' ? JSON.stringify(resultType.slice(0, 40)) : 'something else';
    throw new ToolLayerError(
      'E3308',
      `The upstream '${label}' answered with ${said} instead of a result; the layer cannot give it what it asks for.`,
      { details: { reached: true } },
    );
  }
  const isClean = meta === undefined || (isObject(meta) && !Object.keys(meta).some(isReserved));
  // Fast path: nothing is to be taken out.
  if (isClean && resultType === undefined) return result as unknown as UpstreamCallResult;
  const { resultType: _, _meta, ...members } = result;
  const own = isObject(meta) ? withoutReserved(meta) : {};
  return { ...members, ...(Object.keys(own).length === 0 ? {} : { _meta: own }) } as unknown as UpstreamCallResult;
}

/**
 * True for keys of `_meta` that only the layer may set towards its clients: those of the protocol, which say something
 * about the server that answers, and its own.
 */
function isReserved(key: string): boolean {
  return RESERVED.test(key);
}

const RESERVED = /^(?:io\.modelcontextprotocol|sallyport)\//;

function withoutReserved(meta: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(meta).filter(([key]) => !isReserved(key)));
}
