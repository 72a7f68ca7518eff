import type { AnswerHead } from '../../external/outbound-http.ts';
import type { BuiltRequest } from './request/plan.ts';

const METHOD_STAYS: ReadonlySet<number> = new Set([307, 308]);
const METHOD_MAY_CHANGE: ReadonlySet<number> = new Set([301, 302]);
const SEE_OTHER = 303;

/**
 * The request that an answer redirects to; undefined when there is no redirect to follow. Followed are only the same
 * origin, and the step from http to https on the default ports of one host: credentials go nowhere else. A 301 or 302
 * is followed only for GET and HEAD, since clients disagree on the method otherwise (RFC 9110 §15.4).
 */
export function redirectOf(answer: AnswerHead, request: BuiltRequest): BuiltRequest | undefined {
  const location = answer.headers.location;
  if (location === undefined || !URL.canParse(location, request.url.href)) return undefined;
  const url = new URL(location, request.url);
  if (url.username !== '' || url.password !== '' || !isSameService(request.url, url)) return undefined;
  url.hash = '';
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (METHOD_STAYS.has(answer.status) || (METHOD_MAY_CHANGE.has(answer.status) && isRead)) return { ...request, url };
  if (answer.status !== SEE_OTHER) return undefined;
  const { 'content-type': _, ...headers } = request.headers;
  return { url, headers, method: request.method === 'HEAD' ? 'HEAD' : 'GET', body: undefined };
}

function isSameService(from: URL, to: URL): boolean {
  if (from.origin === to.origin) return true;
  const isUpgrade = from.protocol === 'http:' && to.protocol === 'https:' && from.port === '' && to.port === '';
  return isUpgrade && from.hostname === to.hostname;
}
