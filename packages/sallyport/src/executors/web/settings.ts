import { KiB, MiB } from '@sallyport/std/bytes';
import { boolean, text } from '../../domain/settings/rows.ts';
import type { ValuesOf } from '../../domain/settings/setting.ts';
import type { ConverterBounds } from './page/page-converter.ts';

/** Settings of the web executor. */
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
    sentence: 'User-Agent that is sent to sites; name a way to reach you in it.',
  }),
  cache: boolean('web.cache', {
    default: true,
    sentence: 'Whether answers are kept in memory and asked for again as their headers say.',
  }),
};

/** Values of the settings of the web executor. */
export type WebSettings = ValuesOf<typeof WEB_SETTINGS>;

/** Limits of one call. Only tests change them. */
export interface WebBounds {
  /** Most bytes of an answer, both received and decompressed; a longer one is cut. */
  readonly wireBytesMax: number;
  readonly bodyBytesMax: number;
  readonly redirectsMax: number;
  /** Longest time of a call with all its redirects, in ms, without the wait for a converter thread. */
  readonly fetchMs: number;
  readonly connectMs: number;
  readonly answerMs: number;
  readonly silenceMs: number;
  /** Most bytes read of a robots.txt: RFC 9309 §2.5 asks for 500 KiB at least. */
  readonly robotsBytesMax: number;
  readonly robotsSitesMax: number;
  /** Lifetime of a cached robots.txt, and of the fact that it could not be fetched, in ms. */
  readonly robotsMs: number;
  readonly robotsFailureMs: number;
  /** Limits of the cache: number of answers, bytes of all together, bytes of one, and longest lifetime in ms. */
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
