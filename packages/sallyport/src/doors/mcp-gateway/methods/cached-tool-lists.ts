import { LRUCache } from 'lru-cache';
import type { TaskSupport, ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import type { Caller } from '../../../domain/principal/principal.ts';
import type { ToolLayer } from '../../../operations/tool-layer.ts';
import type { CachedOffers } from '../servers/cached-offers.ts';
import type { McpSettings } from '../settings.ts';
import { factsIn, type ToolFacts, type ToolList, toolListOf } from './tool-list.ts';

/** Cache of tool lists by token, cleared when the tools change. */
export interface CachedToolLists {
  /** @throws ToolLayerError E32xx for an invalid token, and the layer's errors */
  list(caller: Caller): Promise<ToolList>;
  /** True when the results of a tool are CallToolResults of MCP; false also for a tool that the caller does not see. */
  givesCallResult(caller: Caller, toolId: string): Promise<boolean>;
  /** Whether calls of a tool may, or must, be tasks; undefined when it does not say, or the caller does not see it. */
  taskSupportOf(caller: Caller, toolId: string): Promise<TaskSupport | undefined>;
  /** Forgets every list. */
  clear(): void;
}

/** Manifests on one page of a request. */
const MANIFESTS_PER_PAGE = 1_000;

/** @param hasTasks true when clients may ask for tasks */
export function createCachedToolLists(
  layer: ToolLayer,
  settings: McpSettings,
  offers: Pick<CachedOffers, 'of'>,
  hasTasks: boolean,
): CachedToolLists {
  const bounds = { ttl: settings.toolListTtlMs };
  const lists = new LRUCache<string, Promise<ToolList>>({ max: settings.toolListsMax, ...bounds });
  /** By token, then by tool: one lookup, and no key joined from two texts. */
  const facts = new LRUCache<string, Map<string, ToolFacts>>({ max: settings.toolListsMax, ...bounds });

  const list: CachedToolLists['list'] = async (caller) => {
    const key = caller.token ?? '';
    const known = lists.get(key);
    if (known !== undefined) {
      // The token may have been revoked, or have expired, since the list was made.
      await layer.ask('tokens.inspect', {}, caller);
      return known;
    }
    const loading = load(layer, caller, settings, offers, hasTasks);
    lists.set(key, loading);
    // A refusal is not cached: the next request asks again.
    loading.catch(() => {
      if (lists.peek(key) === loading) lists.delete(key);
    });
    return loading;
  };

  const factsOf = async (caller: Caller, toolId: string): Promise<ToolFacts | undefined> => {
    const token = caller.token ?? '';
    const known = facts.get(token)?.get(toolId);
    if (known !== undefined) return known;
    const found = await findFacts(caller, toolId);
    if (found === undefined) return undefined;
    let ofToken = facts.get(token);
    if (ofToken === undefined || ofToken.size >= settings.toolsMax) {
      ofToken = new Map();
      facts.set(token, ofToken);
    }
    ofToken.set(toolId, found);
    return found;
  };

  const findFacts = async (caller: Caller, toolId: string): Promise<ToolFacts | undefined> => {
    const listed = await lists.peek(caller.token ?? '')?.catch(() => undefined);
    const known = listed?.facts.get(toolId);
    if (known !== undefined) return known;
    return layer.ask('tools.get', { tool_id: toolId }, caller).then(
      ({ manifest }) => factsIn(manifest),
      () => undefined,
    );
  };

  return {
    list,
    givesCallResult: async (caller, toolId) => (await factsOf(caller, toolId))?.givesCallResult === true,
    taskSupportOf: async (caller, toolId) => (await factsOf(caller, toolId))?.taskSupport,
    clear: () => {
      lists.clear();
      facts.clear();
    },
  };
}

async function load(
  layer: ToolLayer,
  caller: Caller,
  settings: McpSettings,
  offers: Pick<CachedOffers, 'of'>,
  hasTasks: boolean,
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
  return toolListOf(manifests.slice(0, settings.toolsMax), {
    pageSize: settings.toolsPageSize,
    listsOverflow: settings.listsOverflow,
    shownUri,
    hasTasks,
  });
}
