import type { ErrorCode } from '@sallyport/std/error/catalogue';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { OutboundAnswer } from './outbound-http.ts';

/** Part of a refusing answer that is worth reading, in bytes. */
export const REFUSAL_BYTES_MAX = 8192;
/** Part of a refusing answer's body that is shown, in characters. */
const BODY_CHARS_MAX = 2000;
/** Longest wait that a service can ask for, in ms. */
const RETRY_AFTER_MS_MAX = 86_400_000;

/** Context for the text of a refusal. */
export interface RefusalContext {
  readonly host: string;
  readonly secretNames: readonly string[];
  /** Takes the secrets of the call out of a text. */
  readonly hide: (text: string) => string;
  /** Wall time in ms, for dates in Retry-After. */
  readonly now: number;
}

/**
 * The error for an answer (EXT-03): E3303 429, E3304 5xx, E3306 408, E3307 401 and 403, E3309 any other. Its details
 * hold the status and the beginning of the body; `Retry-After` becomes its `retryAfterMs`.
 * @returns undefined for 2xx and 304, which are results
 */
export function refusalOf(
  answer: Pick<OutboundAnswer, 'status' | 'headers' | 'body'>,
  context: RefusalContext,
): ToolLayerError | undefined {
  const { status } = answer;
  if ((status >= 200 && status < 300) || status === 304) return undefined;
  const { code, message } = meaningOf(answer, context);
  const retryAfterMs = retryAfter(answer.headers['retry-after'], context.now);
  const body = context.hide(answer.body.toString('utf8')).slice(0, BODY_CHARS_MAX);
  return new ToolLayerError(code, message, {
    details: { status, ...(body === '' ? {} : { body }) },
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

function meaningOf(
  { status, headers }: Pick<OutboundAnswer, 'status' | 'headers'>,
  { host, secretNames, hide }: RefusalContext,
): { code: ErrorCode; message: string } {
  if (status === 401 || status === 403) {
    const which =
      secretNames.length === 0 ? 'The call sends no credential' : `Check the secret ${secretNames.join(', ')}`;
    return { code: 'E3307', message: `${host} answered ${status}. ${which}.` };
  }
  if (status === 429) return { code: 'E3303', message: `${host} answered 429: it allows no more calls at the moment.` };
  if (status === 408) return { code: 'E3306', message: `${host} answered 408: it waited too long for the request.` };
  if (status >= 500) return { code: 'E3304', message: `${host} answered ${status}. Try again later.` };
  if (status >= 300 && status < 400) {
    const place = hide(headers.location ?? 'nowhere').slice(0, 200);
    return { code: 'E3309', message: `${host} answered ${status} and points to ${place}, which is not followed.` };
  }
  return { code: 'E3309', message: `${host} answered ${status}. Its explanation is in details.body.` };
}

/** Waiting time that a service asks for, ms (RFC 9110 §10.2.3): seconds or a date. @param now wall time, ms */
export function retryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  const ms = /^\d{1,10}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), RETRY_AFTER_MS_MAX);
}
