import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Offer } from '../../../../api/schemas/offers.ts';
import { PROGRAM } from '../../../domain/tool/server-tool.ts';
import { type PageEntry, type Pages, pagesOf } from '../methods/pages.ts';
import type { SeenOffers } from './seen-offers.ts';

/** The lists of one address. */
export interface OfferPages {
  readonly resources: Pages;
  readonly templates: Pages;
  readonly prompts: Pages;
}

/** Makes the lists that a token sees at an address, once for each state of the offers. */
export type ShowOffers = (seen: SeenOffers, upstream: string | undefined) => OfferPages;

/** @param pageSize entries on one page */
export function offerPages(pageSize: number): ShowOffers {
  const made = new WeakMap<SeenOffers, Map<string | undefined, OfferPages>>();
  return (seen, upstream) => {
    const known = made.get(seen) ?? new Map<string | undefined, OfferPages>();
    made.set(seen, known);
    const pages =
      known.get(upstream) ?? (upstream === undefined ? ofAll(seen, pageSize) : ofOne(seen, upstream, pageSize));
    known.set(upstream, pages);
    return pages;
  };
}

/** The upstream of an address; throws when the token sees nothing of it. */
export function serverAt(seen: SeenOffers, upstream: string): Offer {
  const server = seen.server(upstream);
  if (server !== undefined) return server;
  const message = `This token sees nothing of a server named ${JSON.stringify(upstream.slice(0, 100))}. All that it sees is at /mcp.`;
  throw new ToolLayerError('E3809', message);
}

/** Name of a prompt beside those of other upstreams; those of the embedding program have no prefix. */
export function qualifiedName(upstream: string, name: string): string {
  return upstream === PROGRAM ? name : `${upstream}__${name}`;
}

function ofAll({ resources, templates, prompts, shownUri }: SeenOffers, pageSize: number): OfferPages {
  const uri = (upstream: string, member: string) => (given: unknown) => ({
    [member]: shownUri({ upstream, uri: String(given) }),
  });
  return {
    resources: pages('resources', resources, pageSize, 'uri', ({ upstream, listed }) =>
      uri(upstream, 'uri')(listed['uri']),
    ),
    templates: pages('resourceTemplates', templates, pageSize, 'uriTemplate', ({ upstream, listed }) =>
      uri(upstream, 'uriTemplate')(listed['uriTemplate']),
    ),
    prompts: pages('prompts', prompts, pageSize, 'name', ({ upstream, listed }) => ({
      name: qualifiedName(upstream, String(listed['name'])),
    })),
  };
}

function ofOne(seen: SeenOffers, upstream: string, pageSize: number): OfferPages {
  serverAt(seen, upstream);
  const own = (offers: readonly Offer[]): readonly Offer[] => offers.filter((offer) => offer.upstream === upstream);
  const asListed = () => ({});
  return {
    resources: pages('resources', own(seen.resources), pageSize, 'uri', asListed),
    templates: pages('resourceTemplates', own(seen.templates), pageSize, 'uriTemplate', asListed),
    prompts: pages('prompts', own(seen.prompts), pageSize, 'name', asListed),
  };
}

/** @param changed members that differ from what the server lists */
function pages(
  member: string,
  offers: readonly Offer[],
  pageSize: number,
  keyMember: string,
  changed: (offer: Offer) => Readonly<Record<string, unknown>>,
): Pages {
  const entries = offers.map((offer): PageEntry => {
    const shown: Record<string, unknown> = { ...offer.listed, ...changed(offer) };
    return { key: String(shown[keyMember]), view: () => shown };
  });
  return pagesOf(member, entries, pageSize);
}
