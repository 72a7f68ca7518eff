import { LRUCache } from 'lru-cache';
import type { Offer } from '../../../../api/schemas/offers.ts';
import type { Caller } from '../../../domain/principal/principal.ts';
import type { ToolLayer } from '../../../operations/tool-layer.ts';
import type { McpSettings } from '../settings.ts';
import { type OfferLists, type SeenOffers, seenOffers } from './seen-offers.ts';

/** What each token sees of the offers of upstreams, cached until something changes. */
export interface CachedOffers {
  /** @throws ToolLayerError E32xx for an invalid token, and the layer's errors */
  of(caller: Caller): Promise<SeenOffers>;
  /** Forgets everything. */
  clear(): void;
}

const PAGE_SIZE = 1_000;
/** Most entries of one list; further ones can be used, but are not listed. */
const ENTRIES_MAX = 20_000;

export function createCachedOffers(
  layer: ToolLayer,
  { toolListTtlMs: ttl, toolListsMax: max }: Pick<McpSettings, 'toolListTtlMs' | 'toolListsMax'>,
): CachedOffers {
  const known = new LRUCache<string, Promise<SeenOffers>>({ max, ttl });
  return {
    async of(caller) {
      const key = caller.token ?? '';
      const cached = known.get(key);
      if (cached !== undefined) {
        // The token may have been revoked, or have expired, since.
        await layer.ask('tokens.inspect', {}, caller);
        return cached;
      }
      const loading = load(layer, caller);
      known.set(key, loading);
      // A refusal is not cached: the next request asks again.
      loading.catch(() => {
        if (known.peek(key) === loading) known.delete(key);
      });
      return loading;
    },
    clear: () => known.clear(),
  };
}

async function load(layer: ToolLayer, caller: Caller): Promise<SeenOffers> {
  // Several requests may wait for one list, so the end of the first must not end it.
  const { signal: _signal, onProgress: _onProgress, ...asking } = caller;
  const read = async (list: keyof OfferLists): Promise<readonly Offer[]> => {
    const all: Offer[] = [];
    for (let page = 1; all.length < ENTRIES_MAX; page += 1) {
      const { offers, total_count } = await layer.ask('offers.list', { list, page, page_size: PAGE_SIZE }, asking);
      all.push(...offers);
      if (offers.length === 0 || all.length >= total_count) break;
    }
    return all;
  };
  const [servers, resources, templates, prompts] = await Promise.all([
    read('servers'),
    read('resources'),
    read('templates'),
    read('prompts'),
  ]);
  return seenOffers({ servers, resources, templates, prompts });
}
