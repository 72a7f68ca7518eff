import { LRUCache } from 'lru-cache';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import type { Caller } from '../../../domain/principal/principal.ts';
import { givesCallResult } from '../../../domain/tool/call-result.ts';
import type { ToolLayer } from '../../../operations/tool-layer.ts';
import type { CachedOffers } from '../servers/cached-offers.ts';
import type { McpSettings } from '../settings.ts';
import { type ToolList, toolListOf } from './tool-list.ts';

/** Cache of tool lists by token, cleared when the tools change. */
export interface CachedToolLists {
  /** @throws ToolLayerError E32xx for an invalid token, and the layer's errors */
  list(caller: Caller): Promise<ToolList>;
  /** True when the results of a tool are CallToolResults of MCP; false also for a tool that the caller does not see. */
  givesCallResult(caller: Caller, toolId: string): Promise<boolean>;
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
  const callResults = new LRUCache<string, Map<string, boolean>>({ max: settings.toolListsMax, ...bounds });

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

  const ofTool: CachedToolLists['givesCallResult'] = async (caller, toolId) => {
    const token = caller.token ?? '';
    const known = callResults.get(token)?.get(toolId);
    if (known !== undefined) return known;
    const gives = await find(caller, toolId);
    if (gives === undefined) return false;
    let ofToken = callResults.get(token);
    if (ofToken === undefined || ofToken.size >= settings.toolsMax) {
      ofToken = new Map();
      callResults.set(token, ofToken);
    }
    ofToken.set(toolId, gives);
    return gives;
  };

  const find = async (caller: Caller, toolId: string): Promise<boolean | undefined> => {
    const listed = await lists.peek(caller.token ?? '')?.catch(() => undefined);
    const gives = listed?.callResults.get(toolId);
    if (gives !== undefined) return gives;
    return layer.ask('tools.get', { tool_id: toolId }, caller).then(
      ({ manifest }) => givesCallResult(manifest),
      () => undefined,
    );
  };

  return {
    list,
    givesCallResult: ofTool,
    clear: () => {
      lists.clear();
      callResults.clear();
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
  const { signal: _signal, onProgress: _onProgress, logs: _logs, ...asking } = caller;
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
