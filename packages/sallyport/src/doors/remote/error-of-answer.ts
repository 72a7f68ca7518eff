import { ERRORS, type ErrorCode } from '@sallyport/std/error/catalogue';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { isObject } from '../../domain/shape/is-object.ts';
import type { OperationName } from '../../operations/catalogue.ts';

/** An answer received from a layer. */
export interface Answer {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly text: string;
}

/** An accepted tool call is answered in its own shape, whatever its outcome. */
export function isInvocation(name: OperationName, answer: Answer, body: unknown): boolean {
  return name === 'tools.invoke' && !isProblem(answer) && isObject(body) && typeof body['invocation_id'] === 'string';
}

/** The error that a layer sent as problem details, as it was thrown there; undefined for any other body. */
export function errorOfAnswer(body: unknown, answer: Answer): ToolLayerError | undefined {
  if (!isProblem(answer) || !isObject(body)) return undefined;
  const { e_code, detail, details, retry_after_ms } = body;
  if (!isErrorCode(e_code) || typeof detail !== 'string') return undefined;
  return new ToolLayerError(e_code, detail, {
    ...(isObject(details) ? { details } : {}),
    ...(typeof retry_after_ms === 'number' ? { retryAfterMs: retry_after_ms } : {}),
  });
}

function isProblem(answer: Answer): boolean {
  return answer.contentType?.startsWith('application/problem+json') === true;
}

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERRORS, code);
}
