import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { UpstreamCallResult } from './link.ts';

/**
 * The result of `tools/call` in the form that the layer passes on: the upstream's own members, without the marker of
 * protocol 2026-07-28, and always with a `content` list.
 * @throws E3308 when it is no result but asks for something that the layer cannot give
 */
export function callResultOf(result: Record<string, unknown>, label: string): UpstreamCallResult {
  const { resultType } = result;
  if (resultType !== undefined && resultType !== 'complete') {
    const said = typeof resultType === 'string' ? JSON.stringify(resultType.slice(0, 40)) : 'something else';
    throw new ToolLayerError(
      'E3308',
      `The upstream '${label}' answered with ${said} instead of a result; the layer cannot give it what it asks for.`,
      { details: { reached: true } },
    );
  }
  const content = Array.isArray(result['content']) ? (result['content'] as readonly unknown[]) : [];
  if (resultType === undefined && content === result['content']) return result as unknown as UpstreamCallResult;
  const { resultType: _, ...members } = result;
  return { ...members, content };
}
