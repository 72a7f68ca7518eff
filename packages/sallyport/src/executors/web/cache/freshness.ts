import type { IncomingHttpHeaders } from 'node:http';

/** Caching rules from the headers of an answer, for a cache that several agents of a tenant share (RFC 9111). */
export interface Freshness {
  /** True when it may be cached at all. */
  readonly mayKeep: boolean;
  /** How long it may be served without revalidation, in ms from now. */
  readonly freshMs: number;
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
}

const NEVER: Freshness = { mayKeep: false, freshMs: 0, etag: undefined, lastModified: undefined };

/**
 * Reads `Cache-Control`, `Expires`, `Age`, `Date`, `Vary` and the validators. No heuristics: an answer without a stated
 * lifetime is revalidated each time.
 * @param now wall time in ms
 */
export function freshnessOf(headers: IncomingHttpHeaders, now: number, mostMs: number): Freshness {
  const directives = directivesOf(headers['cache-control']);
  const isClosed = directives.has('no-store') || directives.has('private') || headers['vary']?.trim() === '*';
  if (isClosed || headers['set-cookie'] !== undefined) return NEVER;
  const etag = headers['etag'];
  const lastModified = headers['last-modified'];
  const age = secondsOf(headers['age']) ?? 0;
  const life = directives.has('no-cache') ? 0 : lifetime(directives, headers, now);
  const freshMs = Math.max(0, Math.min((life - age) * 1000, mostMs));
  const mayKeep = freshMs > 0 || etag !== undefined || lastModified !== undefined;
  return { mayKeep, freshMs, etag, lastModified };
}

/** Lifetime in seconds, from the most specific header. */
function lifetime(directives: ReadonlyMap<string, string>, headers: IncomingHttpHeaders, now: number): number {
  const said = secondsOf(directives.get('s-maxage')) ?? secondsOf(directives.get('max-age'));
  if (said !== undefined) return said;
  const { expires } = headers;
  if (expires === undefined) return 0;
  const date = Date.parse(headers['date'] ?? '');
  const until = Date.parse(expires);
  return Number.isNaN(until) ? 0 : (until - (Number.isNaN(date) ? now : date)) / 1000;
}

function directivesOf(header: string | undefined): Map<string, string> {
  const directives = new Map<string, string>();
  for (const part of (header ?? '').toLowerCase().split(',')) {
    const [name = '', value = ''] = part.split('=', 2);
    if (name.trim() !== '') directives.set(name.trim(), value.trim().replaceAll('"', ''));
  }
  return directives;
}

function secondsOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}
