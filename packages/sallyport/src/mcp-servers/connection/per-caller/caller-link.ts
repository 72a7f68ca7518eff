import type { Log } from '../../../telemetry/log.ts';
import { createRelist } from '../../pacing/relist.ts';
import { createStaleWatch } from '../../pacing/stale-watch.ts';
import { definitionHash } from '../../trust/definition-hash.ts';
import type { Link, OpenOptions, ToolListing } from '../link.ts';
import { listFirst } from '../listing/first-listing.ts';
import { createFreshListing, type ListingWait } from '../listing/fresh-listing.ts';
import type { UpstreamSettings } from '../settings.ts';

/** A connection of one caller, with what its server shows this caller. It never heals: the next call makes a new one. */
export interface CallerLink {
  readonly link: Link;
  /** Of the definition that the server lists to this caller now; undefined when it lists none of that name. */
  hashOf(tool: string): string | undefined;
  /** Has the tools listed anew, for a call that came now. @throws what the listing throws */
  listFresh(wait: ListingWait): Promise<void>;
  /** A call ran out of time: asks for a sign of life, and closes what gives none. */
  suspect(): void;
}

/** What a connection of a caller is opened with. */
export interface CallerLinkParts {
  readonly name: string;
  readonly settings: UpstreamSettings;
  readonly log: Log;
  /** 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
  open(options: OpenOptions & { readonly timeoutMs: number }): Promise<Link>;
}

/**
 * Connects and lists the tools, as this caller sees them. A listing that cannot be brought up to date closes the
 * connection.
 * @throws what `open` and `listFirst` throw; nothing is left open then
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
      // What was thrown may quote the server; the next call tells it to the one whom it concerns.
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

/** Reversed, so that the first of two tools of one name is the one that stays. The definitions themselves are let go. */
function hashesOf({ tools }: ToolListing): ReadonlyMap<string, string> {
  return new Map(tools.toReversed().map((tool) => [tool.name, definitionHash(tool)]));
}
