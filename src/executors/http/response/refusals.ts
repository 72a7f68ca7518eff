import type { ErrorCode } from '../../../domain/error/catalogue.ts';
import { ToolLayerError } from '../../../domain/error/tool-layer-error.ts';
import type { HideSecrets } from '../../hide-secrets.ts';
import type { Exchange } from '../exchange.ts';

/** Part of a refusing answer's body that is shown, in characters. */
const BODY_CHARS_MAX = 2000;
/** Longest wait that a service can ask for, in ms. */
const RETRY_AFTER_MS_MAX = 86_400_000;

/** What a refusal may name. */
export interface RefusalContext {
  readonly host: string;
  readonly secretNames: readonly string[];
  readonly hide: HideSecrets;
  /** Wall time in ms, for dates in Retry-After. */
  readonly now: number;
}

/** The error that an answer means; undefined for 2xx and 304, which are results. */
export function refusalOf(answer: Exchange, context: RefusalContext): ToolLayerError | undefined {
  const { status } = answer;
  if ((status >= 200 && status < 300) || status === 304) return undefined;
  const { code, message } = meaningOf(answer, context);
  const retryAfterMs = retryAfter(answer, context.now);
  const body = context.hide(answer.body.toString('utf8')).slice(0, BODY_CHARS_MAX);
  return new ToolLayerError(code, message, {
    details: { status, ...(body === '' ? {} : { body }) },
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

function meaningOf({ status, headers }: Exchange, context: RefusalContext): { code: ErrorCode; message: string } {
  const { host, secretNames } = context;
  if (status === 401 || status === 403) {
    const which =
      secretNames.length === 0 ? 'The call sends no credential' : `Check the secret ${secretNames.join(', ')}`;
    return { code: 'E3307', message: `${host} answered ${status}. ${which}.` };
  }
  if (status === 429) return { code: 'E3303', message: `${host} answered 429: it allows no more calls at the moment.` };
  if (status >= 500) return { code: 'E3304', message: `${host} answered ${status}. Try again later.` };
  if (status >= 300 && status < 400) {
    const place = context.hide(headers.location ?? 'nowhere').slice(0, 200);
    return { code: 'E3309', message: `${host} answered ${status} and points to ${place}, which is not followed.` };
  }
  return { code: 'E3309', message: `${host} answered ${status}. Its explanation is in details.body.` };
}

/** RFC 9110 §10.2.3: seconds or a date. */
function retryAfter({ headers }: Exchange, now: number): number | undefined {
  const value = headers['retry-after'];
  if (value === undefined) return undefined;
  const ms = /^\d{1,10}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), RETRY_AFTER_MS_MAX);
}
