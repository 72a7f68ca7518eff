import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Offer } from '../../../../api/schemas/offers.ts';
import { mayComeFrom } from '../../../domain/tool/uri-templates.ts';
import { qualifiedUri, type ServerUri, serverUriIn } from './qualified-uri.ts';

/** All that one token sees of what upstreams offer beside their tools. */
export interface OfferLists {
  readonly servers: readonly Offer[];
  readonly resources: readonly Offer[];
  readonly templates: readonly Offer[];
  readonly prompts: readonly Offer[];
}

/** The same, with the addresses under which things are shown and found. */
export interface SeenOffers extends OfferLists {
  /** Undefined for an upstream of which the token sees nothing. */
  server(upstream: string): Offer | undefined;
  /** How the URI, or template, of an upstream is shown beside those of others: qualified when it is not its own alone. */
  shownUri(of: ServerUri): string;
  /**
   * The upstream that a URI belongs to, and the URI there.
   * @throws E3809 when there is none; E3801, with the qualified URIs, when there are several
   */
  resolve(uri: string): ServerUri;
}

/** Most qualified URIs that an error names. */
const NAMED_MAX = 8;

export function seenOffers(lists: OfferLists): SeenOffers {
  const servers = new Map(lists.servers.map((offer) => [offer.upstream, offer]));
  const readable = lists.servers.filter(({ tools }) => tools['resources/read'] !== undefined);
  const listers = new Map<string, Set<string>>();
  const listedAt = (uri: unknown, upstream: string): unknown =>
    listers.set(String(uri), (listers.get(String(uri)) ?? new Set()).add(upstream));
  for (const { upstream, listed } of lists.resources) listedAt(listed['uri'], upstream);
  for (const { upstream, listed } of lists.templates) listedAt(listed['uriTemplate'], upstream);

  /** The upstreams of a URI that is not qualified: who lists it, else whose template it may come from, else all. */
  const candidates = (uri: string): readonly string[] => {
    const known = listers.get(uri);
    if (known !== undefined) return [...known];
    const matching = lists.templates.filter(({ listed }) => mayComeFrom(String(listed['uriTemplate']), uri));
    if (matching.length > 0) return [...new Set(matching.map(({ upstream }) => upstream))];
    return readable.map(({ upstream }) => upstream);
  };
  return {
    ...lists,
    server: (upstream) => servers.get(upstream),
    shownUri(of) {
      const isOwn = serverUriIn(of.uri) === undefined && candidates(of.uri).length <= 1;
      return isOwn ? of.uri : qualifiedUri(of);
    },
    resolve(uri) {
      const qualified = serverUriIn(uri);
      const isKnown = qualified !== undefined && servers.get(qualified.upstream)?.tools['resources/read'] !== undefined;
      if (isKnown) return qualified;
      const found = qualified === undefined ? candidates(uri) : [];
      const [upstream] = found;
      if (upstream === undefined) throw new ToolLayerError('E3809', 'There is no such resource.');
      if (found.length > 1) throw ambiguous(uri, found);
      return { upstream, uri };
    },
  };
}

function ambiguous(uri: string, upstreams: readonly string[]): ToolLayerError {
  const uris = upstreams.slice(0, NAMED_MAX).map((upstream) => qualifiedUri({ upstream, uri }));
  const message = `Several servers may have this resource. Say which one is meant, by one of: ${uris.join(' ')}`;
  return new ToolLayerError('E3801', message, { details: { uris } });
}
