import { SdkHttpError } from '@modelcontextprotocol/client';
import type { ErrorCode } from '@sallyport/std/error/catalogue';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { codeOf } from '@sallyport/std/error-code';
import { retryAfter } from '../../external/http-refusals.ts';
import { TOO_LONG } from './bounded-fetch.ts';

const TEXT_CHARS_MAX = 300;
/** Node's codes for a request that was never sent. */
const NOT_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** True when the server no longer knows our session, so that nothing was done. */
export function isSessionGone(error: unknown): boolean {
  if (!(error instanceof SdkHttpError)) return false;
  return error.status === 404 || (error.status === 400 && /session/i.test(error.message));
}

/** True when the request cannot have reached the server. */
export function wasNotSent(error: unknown): boolean {
  return NOT_SENT.has(networkCode(error));
}

/** An HTTP or network failure as an error of the layer; undefined for any other error. @param now wall time, ms */
export function httpFailure(
  name: string,
  error: unknown,
  hide: (text: string) => string,
  now: number,
): ToolLayerError | undefined {
  if (error instanceof SdkHttpError) return statusFailure(name, error, hide, now);
  const code = networkCode(error);
  if (code === '') return undefined;
  if (error instanceof TypeError && /redirect/i.test(String((error.cause as Error | undefined)?.message))) {
    return new ToolLayerError(
      'E3309',
      `The upstream '${name}' redirects elsewhere, and redirects are not followed. Give the address that it redirects to.`,
      { cause: error, details: { reached: false } },
    );
  }
  if (code === TOO_LONG) {
    return new ToolLayerError('E3308', `The answer of the upstream '${name}' cannot be read: ${TOO_LONG}.`, {
      cause: error,
      details: { reached: true },
    });
  }
  const reached = !wasNotSent(error);
  return reached
    ? new ToolLayerError(
        'E3107',
        `The connection to the upstream '${name}' broke while the call was running (${code}).`,
        {
          cause: error,
          details: { reached },
        },
      )
    : new ToolLayerError('E3310', `The upstream '${name}' cannot be reached (${code}). Is it running at its URL?`, {
        cause: error,
        details: { reached },
      });
}

function statusFailure(name: string, error: SdkHttpError, hide: (text: string) => string, now: number): ToolLayerError {
  const { status, data } = error;
  const stated = data['retryAfter'];
  const retryAfterMs = typeof stated === 'string' ? retryAfter(stated, now) : undefined;
  const code: ErrorCode =
    status === 401 || status === 403 ? 'E3307' : status === 429 ? 'E3303' : status >= 500 ? 'E3304' : 'E3309';
  const advice = code === 'E3307' ? ' Check the headers of its definition.' : '';
  const text = hide(error.message).slice(0, TEXT_CHARS_MAX);
  return new ToolLayerError(code, `The upstream '${name}' answered with HTTP ${status}: ${text}.${advice}`, {
    cause: error,
    details: { reached: true, status },
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** Code of a failed `fetch`, from the innermost cause; empty when it was no network failure. */
function networkCode(error: unknown): string {
  if (!(error instanceof TypeError)) return '';
  const cause: unknown = error.cause;
  if (cause instanceof AggregateError && cause.errors.length > 0) return codeOf(cause.errors[0]) || codeOf(cause);
  return codeOf(cause) || error.message;
}
