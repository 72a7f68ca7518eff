import { LRUCache } from 'lru-cache';
import type { ExecutorKind, ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import type { Caller } from '../../../domain/principal/principal.ts';
import type { ToolLayer } from '../../../operations/tool-layer.ts';
import type { CachedOffers } from '../servers/cached-offers.ts';
import type { McpSettings } from '../settings.ts';
import { type ToolList, toolListOf } from './tool-list.ts';

/** Cache of tool lists by token, cleared when the tools change. */
export interface CachedToolLists {
  /** @throws ToolLayerError E32xx for an invalid token, and the layer's errors */
  list(caller: Caller): Promise<ToolList>;
  /** Kind of the executor that runs a tool; undefined for a tool that the caller does not see. */
  kindOf(caller: Caller, toolId: string): Promise<ExecutorKind | undefined>;
  /** Forgets every list. */
  clear(): void;
}

/** Manifests on one page of a request. */
const MANIFESTS_PER_PAGE = 1_000;

export function createCachedToolLists(
  layer: ToolLayer,
  settings: McpSettings,
  offers: Pick<CachedOffers, 'of'>,
): CachedToolLists {
  const bounds = { ttl: settings.toolListTtlMs };
  const lists = new LRUCache<string, Promise<ToolList>>({ max: settings.toolListsMax, ...bounds });
  /** By token, then by tool: one lookup, and no key joined from two texts. */
  const kinds = new LRUCache<string, Map<string, ExecutorKind>>({ max: settings.toolListsMax, ...bounds });

  const list: CachedToolLists['list'] = async (caller) => {
    const key = caller.token ?? '';
    const known = lists.get(key);
    if (known !== undefined) {
      // The token may have been revoked, or have expired, since the list was made.
      await layer.ask('tokens.inspect', {}, caller);
      return known;
    }
    const loading = load(layer, caller, settings, offers);
    lists.set(key, loading);
    // A refusal is not cached: the next request asks again.
    loading.catch(() => {
      if (lists.peek(key) === loading) lists.delete(key);
    });
    return loading;
  };

  const kindOf: CachedToolLists['kindOf'] = async (caller, toolId) => {
    const token = caller.token ?? '';
    const known = kinds.get(token)?.get(toolId);
    if (known !== undefined) return known;
    const kind = await findKind(caller, toolId);
    if (kind === undefined) return undefined;
    let ofToken = kinds.get(token);
    if (ofToken === undefined || ofToken.size >= settings.toolsMax) {
      ofToken = new Map();
      kinds.set(token, ofToken);
    }
    ofToken.set(toolId, kind);
    return kind;
  };

  const findKind: CachedToolLists['kindOf'] = async (caller, toolId) => {
    const listed = await lists.peek(caller.token ?? '')?.catch(() => undefined);
    const kind = listed?.kinds.get(toolId);
    if (kind !== undefined) return kind;
    return layer.ask('tools.get', { tool_id: toolId }, caller).then(
      ({ manifest }) => manifest.executor.kind,
      () => undefined,
    );
  };

  return {
    list,
    kindOf,
    clear: () => {
      lists.clear();
      kinds.clear();
    },
  };
}

async function load(
  layer: ToolLayer,
  caller: Caller,
  settings: McpSettings,
  offers: Pick<CachedOffers, 'of'>,
): Promise<ToolList> {
  // Several requests may wait for one list, so the end of the first must not end it.
  const { signal: _signal, onProgress: _onProgress, ...asking } = caller;
  const manifests: ToolManifest[] = [];
  for (let page = 1; manifests.length < settings.toolsMax; page += 1) {
    const input = { page, page_size: MANIFESTS_PER_PAGE };
    const answer = await layer.ask('tools.manifests', input, asking);
    manifests.push(...answer.manifests);
    if (answer.manifests.length === 0 || manifests.length >= answer.total_count) break;
  }
  const { shownUri } = await offers.of(asking);
  return toolListOf(manifests.slice(0, settings.toolsMax), settings.toolsPageSize, shownUri);
}
