import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { isObject } from '../shape/is-object.ts';

/**
 * The structured content of a result; of a server that gives none, its text as JSON.
 * @throws ToolLayerError E3606 when it is neither, E3602 when the server reports an error
 */
export function structuredOf(result: unknown): Readonly<Record<string, unknown>> {
  if (!isObject(result)) throw broken('its answer is no result of a tool');
  if (result['isError'] === true)
    throw new ToolLayerError('E3602', 'The document server refused the request.', {
      cause: result['content'],
      details: { refused: true },
    });
  const { structuredContent } = result;
  if (isObject(structuredContent)) return structuredContent;
  const parsed = jsonIn(result['content']);
  if (!isObject(parsed)) throw broken('its answer has no structured content');
  return parsed;
}

function jsonIn(content: unknown): unknown {
  const [block] = Array.isArray(content) ? (content as readonly unknown[]) : [];
  const text = isObject(block) ? block['text'] : undefined;
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** The error for a server that does not keep to the protocol. */
export const broken = (how: string, cause?: unknown): ToolLayerError =>
  new ToolLayerError('E3606', `The document server broke the protocol: ${how}.`, cause === undefined ? {} : { cause });
