import type { ErrorCode } from '@sallyport/std/error/catalogue';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { isObject } from '../../domain/shape/is-object.ts';
import type { ContextAnswer } from './context-server.port.ts';

/** Codes of a context server that mean the same here. Its texts are not passed on: they are not trusted. */
const MEANINGS: Readonly<Partial<Record<ErrorCode, string>>> = {
  E3702: 'The context server knows no such task or checkpoint.',
  E3704: 'Another writer has changed the same context. Read it again.',
  E3707: 'The context server does not keep that version any more.',
  E3102: 'The context is larger than the context server keeps, or there are too many of them.',
};

/**
 * The object that a tool of a context server answered with: its structured content, else its text as JSON.
 * @throws ToolLayerError E3702, E3704, E3707, E3102 as the server says, E3701 for another refusal, E3308 for no object
 */
export function objectOf({
  content = [],
  structuredContent,
  isError,
}: ContextAnswer): Readonly<Record<string, unknown>> {
  const found = isObject(structuredContent) ? structuredContent : textAsJson(content);
  if (isError === true) throw refusalOf(found);
  if (!isObject(found))
    throw new ToolLayerError('E3308', 'The context server answered with something that is no object.');
  return found;
}

function refusalOf(found: unknown): ToolLayerError {
  const error = isObject(found) ? found['error'] : undefined;
  const code = isObject(error) ? error['e_code'] : undefined;
  const known = (Object.keys(MEANINGS) as ErrorCode[]).find((each) => each === code);
  if (known === undefined) return new ToolLayerError('E3701', 'The context server refused the request.');
  return new ToolLayerError(known, MEANINGS[known] ?? '');
}

function textAsJson([first]: readonly unknown[]): unknown {
  if (!isObject(first) || typeof first['text'] !== 'string') return undefined;
  try {
    return JSON.parse(first['text']) as unknown;
  } catch {
    return undefined;
  }
}
