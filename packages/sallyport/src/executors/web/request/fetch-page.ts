import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { NetworkPermission } from '../../../../api/schemas/tool-manifest.ts';
import { REFUSAL_BYTES_MAX, refusalOf } from '../../../external/http-refusals.ts';
import type { AcceptHead, AnswerHead, OutboundAnswer, OutboundHttp } from '../../../external/outbound-http.ts';
import type { KeptAnswer, PageCache } from '../cache/page-cache.ts';
import type { WebBounds, WebSettings } from '../settings.ts';
import { kindOfType, mediaTypeOf } from './content-kind.ts';
import type { Robots } from './robots.ts';

/** Dependencies of fetching. */
export interface FetchParts {
  readonly outbound: OutboundHttp;
  readonly robots: Robots;
  readonly cache: PageCache;
  readonly settings: WebSettings;
  readonly bounds: WebBounds;
  readonly clock: Clock;
}

/** One page to fetch. */
export interface PageQuestion {
  readonly url: URL;
  readonly tenantId: string;
  readonly allowed: readonly NetworkPermission[];
  /** True when a cached answer must be revalidated with the site. */
  readonly fresh: boolean;
  readonly signal: AbortSignal;
}

/** A fetched page. */
export interface FetchedPage {
  readonly status: number;
  readonly headers: AnswerHead['headers'];
  readonly body: Buffer;
  readonly truncated: boolean;
  readonly finalUrl: URL;
  readonly fromCache: boolean;
  /** Wall time in ms at which the site last confirmed the page. */
  readonly fetchedAt: number;
  readonly bytesSent: number;
  readonly bytesReceived: number;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const ACCEPT_LANGUAGE = 'en,*;q=0.5';
const ACCEPT =
  'text/html,application/xhtml+xml,text/markdown,text/plain;q=0.9,application/json;q=0.9,application/xml;q=0.8,' +
  'application/rss+xml;q=0.8,application/atom+xml;q=0.8,text/*;q=0.7,*/*;q=0.1';

/**
 * Fetches a page. Each address on the way is checked against the grant and the site's robots.txt, also before a cached
 * answer is used; redirects are followed only by this code.
 * @throws ToolLayerError E3104, E3303, E3304, E3306, E3307, E3308, E3309, E3310, E3803, the signal's reason
 */
export async function fetchPage(parts: FetchParts, question: PageQuestion): Promise<FetchedPage> {
  const traffic = { sent: 0, received: 0 };
  const counted: Counted = (answer) => {
    traffic.sent += answer.bytesSent;
    traffic.received += answer.bytesReceived;
    return answer;
  };
  const seen = new Set<string>();
  let url = withoutFragment(question.url);
  for (let steps = 0; steps <= parts.bounds.redirectsMax; steps += 1) {
    if (seen.has(url.href)) throw notFollowed(`${url.host} redirects in a circle.`);
    seen.add(url.href);
    parts.outbound.admit(url, question.allowed);
    const ask = (at: URL, bytesMax: number): Promise<OutboundAnswer> => askSite(parts, question, at, bytesMax, counted);
    await parts.robots.check(question.tenantId, url, ask, question.signal);
    const step = await stepTo(parts, question, url, counted);
    if (step instanceof URL) url = withoutFragment(step);
    else return { ...step, finalUrl: url, bytesSent: traffic.sent, bytesReceived: traffic.received };
  }
  throw notFollowed(`${question.url.host} redirected more than ${parts.bounds.redirectsMax} times.`);
}

type Counted = (answer: OutboundAnswer) => OutboundAnswer;
type Step = Omit<FetchedPage, 'finalUrl' | 'bytesSent' | 'bytesReceived'>;

/** The page at a URL, or its redirect target. */
async function stepTo(parts: FetchParts, question: PageQuestion, url: URL, counted: Counted): Promise<Step | URL> {
  const { cache, settings, clock } = parts;
  const { tenantId } = question;
  const kept = settings.cache ? cache.find(tenantId, url.href) : undefined;
  if (kept !== undefined && !question.fresh && kept.freshUntil > clock.now()) return fromCache(kept);
  const answer = counted(await send(parts, question, url, validators(kept), accepted(parts.bounds)));
  if (answer.status === 304 && kept !== undefined) {
    return fromCache(cache.confirm(tenantId, url.href, kept, answer.headers, clock.now()));
  }
  if (answer.status === 304)
    throw new ToolLayerError('E3308', `${url.host} answered 304 to a request without a condition.`);
  const next = redirectOf(answer, url);
  if (next !== undefined) return next;
  const refusal = refusalOf(answer, { host: url.host, secretNames: [], hide: (text) => text, now: clock.now() });
  if (refusal !== undefined) throw refusal;
  if (settings.cache) cache.keep(tenantId, url.href, answer, clock.now());
  const { status, headers, body, truncated } = answer;
  return { status, headers, body, truncated, fromCache: false, fetchedAt: clock.now() };
}

/** Fetches robots.txt: its redirects stay within the grant like all others, and robots.txt does not apply to itself. */
async function askSite(
  parts: FetchParts,
  question: PageQuestion,
  first: URL,
  bytesMax: number,
  counted: Counted,
): Promise<OutboundAnswer> {
  const bounds = { wireBytesMax: bytesMax, bodyBytesMax: bytesMax };
  let url = first;
  for (let steps = 0; steps <= parts.bounds.redirectsMax; steps += 1) {
    const answer = counted(await send(parts, question, url, {}, () => bounds));
    const next = redirectOf(answer, url);
    if (next === undefined) return answer;
    url = next;
  }
  throw notFollowed(`${first.href} redirected more than ${parts.bounds.redirectsMax} times.`);
}

function send(
  { outbound, settings, bounds }: FetchParts,
  { allowed, signal }: PageQuestion,
  url: URL,
  conditions: Record<string, string>,
  accept: AcceptHead,
): Promise<OutboundAnswer> {
  const headers = {
    accept: ACCEPT,
    'accept-language': ACCEPT_LANGUAGE,
    'accept-encoding': 'gzip, br',
    'user-agent': settings.userAgent,
    ...conditions,
  };
  const { connectMs, answerMs, silenceMs } = bounds;
  return outbound.send({ url, method: 'GET', headers }, accept, {
    allowed,
    times: { connectMs, answerMs, silenceMs },
    signal,
  });
}

/** An unsupported type ends the request before its body arrives. */
function accepted(bounds: WebBounds): AcceptHead {
  return ({ status, headers }) => {
    if (status !== 200) return { wireBytesMax: REFUSAL_BYTES_MAX, bodyBytesMax: REFUSAL_BYTES_MAX };
    kindOfType(mediaTypeOf(headers['content-type']));
    return bounds;
  };
}

function validators(kept: KeptAnswer | undefined): Record<string, string> {
  return {
    ...(kept?.etag === undefined ? {} : { 'if-none-match': kept.etag }),
    ...(kept?.lastModified === undefined ? {} : { 'if-modified-since': kept.lastModified }),
  };
}

const fromCache = ({ status, headers, body, truncated, checkedAt }: KeptAnswer): Step => ({
  status,
  headers,
  body,
  truncated,
  fromCache: true,
  fetchedAt: checkedAt,
});

/** The target of a redirect; undefined when the answer is none. */
function redirectOf({ status, headers }: AnswerHead, from: URL): URL | undefined {
  if (!REDIRECTS.has(status)) return undefined;
  const { location } = headers;
  const next = location === undefined ? null : URL.parse(location, from.href);
  if (next === null) throw notFollowed(`${from.host} answered ${status} without an address to go to.`);
  if (next.protocol !== 'http:' && next.protocol !== 'https:') {
    throw notFollowed(`${from.host} redirects to the scheme ${next.protocol.slice(0, 32)} which is not followed.`);
  }
  if (next.username !== '' || next.password !== '') {
    throw notFollowed(`${from.host} redirects to an address with a user name, which is not followed.`);
  }
  return next;
}

function withoutFragment(url: URL): URL {
  const plain = new URL(url);
  plain.hash = '';
  return plain;
}

const notFollowed = (message: string): ToolLayerError => new ToolLayerError('E3309', message);
