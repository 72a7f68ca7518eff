import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { UpstreamCallResult } from './link.ts';

/**
 * The result of `tools/call` in the form that the layer passes on: the upstream's own members, without the marker of
 * protocol 2026-07-28, and always with a `content` list.
 * @throws E3308 when it is no result but asks for something that the layer cannot give
 */
export function callResultOf(result: Record<string, unknown>, label: string): UpstreamCallResult {
  const members = completeResult(result, label);
  return Array.isArray(members.content) ? members : { ...members, content: [] };
}

/** The same for the result of another request, whose members are its own. */
export function completeResult(result: Record<string, unknown>, label: string): UpstreamCallResult {
  const { resultType, ...members } = result;
  if (resultType === undefined) return result;
  if (resultType === 'complete') return members;
  const said = typeof resultType === 'string' ? JSON.stringify(resultType.slice(0, 40)) : 'something else';
  throw new ToolLayerError(
    'E3308',
    `The upstream '${label}' answered with ${said} instead of a result; the layer cannot give it what it asks for.`,
    { details: { reached: true } },
  );
}
