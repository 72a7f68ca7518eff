import type { Log } from '../../../telemetry/log.ts';
import { definitionHash } from '../../trust/definition-hash.ts';
import type { Link, OpenOptions, ToolListing } from '../link.ts';
import { listFirst } from '../listing/first-listing.ts';
import { createFreshListing, type ListingWait } from '../listing/fresh-listing.ts';
import { createRelist } from '../pacing/relist.ts';
import { createStaleWatch } from '../pacing/stale-watch.ts';
import type { UpstreamSettings } from '../settings.ts';

/**
 * A connection of one caller, with the tools its server lists to this caller. A link is never repaired: the next call
 * makes a new one.
 */
export interface CallerLink {
  readonly link: Link;
  /** Hash of the definition that the server now lists to this caller; undefined when it lists no such tool. */
  hashOf(tool: string): string | undefined;
  /** Lists the tools again for a call that arrived now. @throws what the listing throws */
  listFresh(wait: ListingWait): Promise<void>;
  /** Called when a call timed out: pings the server, and closes a connection that does not answer. */
  suspect(): void;
}

/** Inputs for opening a caller's connection. */
export interface CallerLinkParts {
  readonly name: string;
  readonly settings: UpstreamSettings;
  readonly log: Log;
  /** 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
  open(options: OpenOptions & { readonly timeoutMs: number }): Promise<Link>;
}

/**
 * Connects and lists the tools as this caller sees them. When a listing cannot be refreshed, the connection is closed.
 * @throws what `open` and `listFirst` throw; nothing stays open then
 */
export async function openCallerLink(
  parts: CallerLinkParts,
  options: { readonly signal: AbortSignal; readonly olderProtocolOnly: boolean },
): Promise<CallerLink> {
  const { name, settings, log } = parts;
  const ending = new AbortController();
  let link: Link | undefined;
  let isOutdated = false;
  let hashes: ReadonlyMap<string, string> = new Map();
  const listNow = async (): Promise<void> => {
    const late = AbortSignal.timeout(settings.connectTimeoutMs);
    const listing = await link?.listTools(AbortSignal.any([ending.signal, late]));
    if (listing === undefined || ending.signal.aborted) return;
    hashes = hashesOf(listing);
    stale.fresh();
  };
  const listAgain = async (): Promise<void> => {
    try {
      await listNow();
    } catch {
      // The error may quote the server, so it stays out of the log; the next call reports it to the caller it concerns.
      if (!ending.signal.aborted) log.warn('upstream-caller-listing-failed', { upstream: name });
      await link?.close();
    }
  };
  const relist = createRelist(settings.relistIntervalMs, ending.signal, listAgain);
  const stale = createStaleWatch(settings.staleListingMs, parts.random, relist);
  const onToolsChanged = (): void => {
    if (link === undefined) isOutdated = true;
    else relist();
  };
  const opened = await parts.open({ ...options, timeoutMs: settings.connectTimeoutMs, onToolsChanged });
  hashes = hashesOf(await listFirst(name, opened, options.signal));
  link = opened;
  stale.fresh();
  if (isOutdated) relist();
  void opened.ended.then(() => {
    ending.abort();
    stale.stop();
  });
  return {
    link: opened,
    hashOf: (tool) => hashes.get(tool),
    listFresh: createFreshListing(listNow),
    suspect: suspicion(opened, settings.pingTimeoutMs),
  };
}

function suspicion(link: Link, pingTimeoutMs: number): () => void {
  let isAsked = false;
  return () => {
    if (isAsked) return;
    isAsked = true;
    void link
      .ping(pingTimeoutMs)
      .catch(() => link.close())
      .finally(() => {
        isAsked = false;
      });
  };
}

/** Reversed, so that the first of two tools with one name wins. The definitions themselves are not kept. */
function hashesOf({ tools }: ToolListing): ReadonlyMap<string, string> {
  return new Map(tools.toReversed().map((tool) => [tool.name, definitionHash(tool)]));
}
