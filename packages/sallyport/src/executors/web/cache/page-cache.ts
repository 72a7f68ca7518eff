import type { IncomingHttpHeaders } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { WebBounds } from '../settings.ts';
import { freshnessOf } from './freshness.ts';

/** A cached answer. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly truncated: boolean;
  /** Wall time in ms at which the site last confirmed it. */
  readonly checkedAt: number;
  /** Wall time in ms until which the site need not be asked. */
  readonly freshUntil: number;
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
}

/** Cache of answers in memory, separate per tenant. Limited; least recently used entries are evicted first. */
export interface PageCache {
  find(tenantId: string, url: string): KeptAnswer | undefined;
  /** Caches an answer when its headers allow it, otherwise drops the cached one of the URL. */
  keep(
    tenantId: string,
    url: string,
    answer: Pick<KeptAnswer, 'status' | 'headers' | 'body' | 'truncated'>,
    now: number,
  ): void;
  /** The cached answer, revalidated by a 304 with these headers (RFC 9111 §4.3.4). */
  confirm(tenantId: string, url: string, kept: KeptAnswer, headers: IncomingHttpHeaders, now: number): KeptAnswer;
}

export function createPageCache(bounds: WebBounds): PageCache {
  const kept = new LRUCache<string, KeptAnswer>({
    max: bounds.cacheEntriesMax,
    maxSize: bounds.cacheBytesMax,
    sizeCalculation: ({ body }, key) => body.length + key.length + 1024,
  });
  // A tenant's name contains no line end, so keys are unique.
  const keyOf = (tenantId: string, url: string): string => `${JSON.stringify(tenantId)}\n${url}`;

  const cache: PageCache = {
    find: (tenantId, url) => kept.get(keyOf(tenantId, url)),
    keep(tenantId, url, { status, headers, body, truncated }, now) {
      const key = keyOf(tenantId, url);
      const { mayKeep, freshMs, etag, lastModified } = freshnessOf(headers, now, bounds.cacheMs);
      if (!mayKeep || status !== 200 || body.length > bounds.cacheEntryBytesMax) {
        kept.delete(key);
        return;
      }
      const freshUntil = now + freshMs;
      kept.set(key, { status, headers, body, truncated, checkedAt: now, freshUntil, etag, lastModified });
    },
    confirm(tenantId, url, old, headers, now) {
      const { 'content-length': _, 'content-encoding': __, 'transfer-encoding': ___, ...newer } = headers;
      const merged = { ...old.headers, ...newer };
      cache.keep(tenantId, url, { ...old, headers: merged }, now);
      return { ...old, headers: merged, checkedAt: now };
    },
  };
  return cache;
}
