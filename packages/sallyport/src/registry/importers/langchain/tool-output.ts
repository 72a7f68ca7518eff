import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { membersIn } from '../../foreign/schemas/standard-schema.ts';
import type { ForeignTool } from './foreign-tool.ts';

/** Characters of an error answer that reach the caller. */
const ERROR_CHARS_MAX = 2000;

/**
 * A LangChain tool's answer as JSON: a plain value, the content of a message, or content and artifact.
 * @throws ToolLayerError E3109 when the message is an error, E3501 when the answer is no JSON
 */
export function resultOf(output: unknown, { name, withArtifact }: Pick<ForeignTool, 'name' | 'withArtifact'>): unknown {
  const message = messageOf(output);
  if (message === undefined) return withArtifact ? { content: asJson(output, name) } : asJson(output, name);
  const content = asJson(message['content'], name);
  if (message['status'] === 'error') {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    throw new ToolLayerError('E3109', `The tool ${name} answered with an error: ${text.slice(0, ERROR_CHARS_MAX)}`);
  }
  if (!withArtifact) return content;
  return message['artifact'] === undefined ? { content } : { content, artifact: asJson(message['artifact'], name) };
}

/** A ToolMessage; other objects with a `content` are plain answers. */
function messageOf(output: unknown): Record<string, unknown> | undefined {
  const members = membersIn(output);
  if (members === undefined || Array.isArray(output) || !('content' in members)) return undefined;
  return typeof members['tool_call_id'] === 'string' || members['type'] === 'tool' ? members : undefined;
}

function asJson(value: unknown, name: string): unknown {
  if (value === undefined) return null;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  try {
    const text = JSON.stringify(value);
    if (text !== undefined) return JSON.parse(text);
  } catch (cause) {
    throw noJson(name, cause);
  }
  throw noJson(name, undefined);
}

const noJson = (name: string, cause: unknown): ToolLayerError =>
  new ToolLayerError('E3501', `The tool ${name} answered with something that JSON cannot hold.`, { cause });
