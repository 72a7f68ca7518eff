import { setTimeout as sleep } from 'node:timers/promises';
import { MiB } from '@sallyport/std/bytes';
import type { Clock } from '@sallyport/std/clock';
import { LRUCache } from 'lru-cache';
import type { Log } from '../../../telemetry/log.ts';
import { NO_OFFERS, type OfferListing, type ServerOffers } from '../../known-upstream.ts';
import { harmlessOffers, type JudgeOffers } from '../offers/harmless-offers.ts';
import { createRelist } from '../pacing/relist.ts';
import type { UpstreamSettings } from '../settings.ts';
import type { KnownCaller } from './caller-credentials.ts';

/** Least time between two listings for one caller where the first one failed, ms. */
const FAILED_MS = 5_000;
/** Most characters of the lists that are remembered of one upstream, as JSON. */
const CHARS_MAX = 64 * MiB;
/** Most callers whose failed listing is remembered. */
const FAILED_MAX = 1_000;

/** What an upstream offers to each of its callers, listed over the caller's own connection. */
export interface CallerOffers {
  /** Nothing while the caller cannot be connected, or its list takes long. Never rejects. */
  of(caller: KnownCaller): Promise<ServerOffers>;
  /** The server announced to this caller that its resources or prompts changed. */
  changed(caller: KnownCaller): void;
  /** The caller is connected: a listing that failed may succeed now. */
  connected(caller: KnownCaller): void;
  close(): void;
}

/** Dependencies of the offers to callers. */
export interface CallerOffersParts {
  readonly upstream: string;
  readonly settings: Pick<UpstreamSettings, 'relistIntervalMs' | 'staleListingMs' | 'offersPatienceMs'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly judge: JudgeOffers;
  /** Lists over the caller's own connection. @throws whatever opening it throws */
  list(caller: KnownCaller): Promise<OfferListing>;
  /** Called when a caller may be offered something else than it was shown. */
  onChanged(): void;
}

interface Listing {
  readonly offers: Promise<ServerOffers>;
  /** Its asker was shown nothing, since it took too long. */
  isLate: boolean;
}

/** Makes offers that are listed when a caller first asks for them. */
export function createCallerOffers(parts: CallerOffersParts): CallerOffers {
  const { settings, clock } = parts;
  const closing = new AbortController();
  // By the key of the caller: what one is offered is never shown to another (PRM-11).
  const known = new LRUCache<string, ServerOffers>({
    maxSize: CHARS_MAX,
    sizeCalculation: (offers) => JSON.stringify(offers).length,
    ttl: settings.staleListingMs,
  });
  const failedAt = new LRUCache<string, number>({ max: FAILED_MAX });
  const listings = new Map<string, Listing>();
  const report = createRelist(settings.relistIntervalMs, closing.signal, async () => parts.onChanged());

  const read = async (caller: KnownCaller): Promise<ServerOffers> => {
    const { key } = caller;
    const mine = listings.get(key);
    try {
      const { offers, isWhole } = await harmlessOnes(parts, caller);
      // A change that was announced meanwhile makes it outdated.
      if (listings.get(key) === mine) known.set(key, offers, isWhole ? {} : { ttl: FAILED_MS });
      return offers;
    } catch {
      // The error may quote the server or a credential; the next call reports it to the caller it concerns.
      parts.log.debug('upstream-caller-offers-failed', { upstream: parts.upstream });
      failedAt.set(key, clock.monotonic());
      return NO_OFFERS;
    } finally {
      if (listings.get(key) === mine) listings.delete(key);
      if (mine?.isLate === true) report();
    }
  };
  const begin = (caller: KnownCaller): Listing => {
    const { promise, resolve } = Promise.withResolvers<ServerOffers>();
    const listing: Listing = { offers: promise, isLate: false };
    listings.set(caller.key, listing);
    void read(caller).then(resolve);
    return listing;
  };
  const failedLately = (key: string): boolean => clock.monotonic() - (failedAt.get(key) ?? -FAILED_MS) < FAILED_MS;

  return {
    async of(caller) {
      const remembered = known.get(caller.key);
      if (remembered !== undefined) return remembered;
      if (closing.signal.aborted || failedLately(caller.key)) return NO_OFFERS;
      const listing = listings.get(caller.key) ?? begin(caller);
      const inTime = await Promise.race([listing.offers, sleep(settings.offersPatienceMs, undefined, { ref: false })]);
      if (inTime !== undefined) return inTime;
      listing.isLate = true;
      return NO_OFFERS;
    },
    changed({ key }) {
      const wasListing = listings.delete(key);
      if (known.delete(key) || wasListing) report();
    },
    connected({ key }) {
      if (failedAt.delete(key)) report();
    },
    close() {
      closing.abort();
      if (known.size > 0) parts.onChanged();
      known.clear();
    },
  };
}

/** Names and reasons are the caller's own, so they stay out of the log. */
async function harmlessOnes({ upstream, judge, log, list }: CallerOffersParts, caller: KnownCaller) {
  const { offers, incomplete } = await list(caller);
  for (const { method } of incomplete) log.warn('upstream-offers-incomplete', { upstream, method });
  const warn: Log['warn'] = (event, fields) => log.warn(event, { ...fields, name: undefined });
  const harmless = await harmlessOffers(offers, judge, { warn }, upstream);
  return { offers: harmless, isWhole: incomplete.length === 0 };
}
