import { KiB, MiB } from '@sallyport/std/bytes';
import { boolean, text } from '../../domain/settings/rows.ts';
import { defaultsOf, type ValuesOf } from '../../domain/settings/setting.ts';
import type { ConverterBounds } from './page/page-converter.ts';

/** What can be set of the web executor. */
export const WEB_SETTINGS = {
  respectRobots: boolean('web.respect_robots', {
    default: true,
    sentence: "Whether pages that a site's robots.txt closes to web.robots_name are refused (RFC 9309).",
  }),
  robotsName: text('web.robots_name', {
    default: 'sallyport',
    sentence: 'Name by which robots.txt speaks of this layer.',
  }),
  userAgent: text('web.user_agent', {
    default: 'sallyport',
    sentence: 'User-Agent that sites are told; name a way to reach you in it.',
  }),
  cache: boolean('web.cache', {
    default: true,
    sentence: 'Whether answers are kept in memory and asked for again as their headers say.',
  }),
};

/** What the web executor may be told. */
export interface WebSettings extends ValuesOf<typeof WEB_SETTINGS> {
  readonly acceptLanguage: string;
}

export const WEB_DEFAULTS: WebSettings = { ...defaultsOf(WEB_SETTINGS), acceptLanguage: 'en,*;q=0.5' };

/** What one call may take up. Tests narrow them; nobody else does. */
export interface WebBounds {
  /** Most bytes of an answer as they come, and decompressed; a longer one is cut. */
  readonly wireBytesMax: number;
  readonly bodyBytesMax: number;
  readonly redirectsMax: number;
  /** Time of a call with all its redirects, in ms, waiting for a reader left out. */
  readonly fetchMs: number;
  readonly connectMs: number;
  readonly answerMs: number;
  readonly silenceMs: number;
  /** Bytes of a robots.txt that are read: RFC 9309 §2.5 asks for 500 KiB at least. */
  readonly robotsBytesMax: number;
  readonly robotsSitesMax: number;
  /** How long a robots.txt is believed, and how long it is that it could not be had, in ms. */
  readonly robotsMs: number;
  readonly robotsFailureMs: number;
  /** Answers that are kept, how many bytes of them in all, how many of one, and how long at most, in ms. */
  readonly cacheEntriesMax: number;
  readonly cacheBytesMax: number;
  readonly cacheEntryBytesMax: number;
  readonly cacheMs: number;
  readonly converter: Partial<ConverterBounds>;
}

export const WEB_BOUNDS: WebBounds = {
  wireBytesMax: 5 * MiB,
  bodyBytesMax: 5 * MiB,
  redirectsMax: 5,
  fetchMs: 30_000,
  connectMs: 10_000,
  answerMs: 20_000,
  silenceMs: 10_000,
  robotsBytesMax: 512 * KiB,
  robotsSitesMax: 500,
  robotsMs: 3_600_000,
  robotsFailureMs: 60_000,
  cacheEntriesMax: 500,
  cacheBytesMax: 64 * MiB,
  cacheEntryBytesMax: 2 * MiB,
  cacheMs: 86_400_000,
  converter: {},
};
