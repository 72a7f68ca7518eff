import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { sha256 } from '@sallyport/std/sha256';
import { LRUCache } from 'lru-cache';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import type { Caller } from '../../../domain/principal/principal.ts';
import { givesCallResult } from '../../../domain/tool/call-result.ts';
import type { ToolLayer } from '../../../operations/tool-layer.ts';
import type { Era } from '../../mcp-protocol.ts';
import type { McpSettings } from '../settings.ts';
import { toolView } from './tool-view.ts';

/** The tools that one token may see. */
export interface ToolList {
  /** JSON text of one page, without the braces: `"tools":[…]` and, when there is another page, `,"nextCursor":…`. */
  page(cursor: string | undefined, era: Era): string;
  /** By id, whether the tool's results are CallToolResults of MCP. */
  readonly callResults: ReadonlyMap<string, boolean>;
  /** Equal for equal lists. */
  print(): string;
}

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

export function createCachedToolLists(layer: ToolLayer, settings: McpSettings): CachedToolLists {
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
    const loading = load(layer, caller, settings);
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

async function load(layer: ToolLayer, caller: Caller, settings: McpSettings): Promise<ToolList> {
  // Several requests may wait for one list, so the end of the first must not end it.
  const { signal: _signal, onProgress: _onProgress, logs: _logs, ...asking } = caller;
  const manifests: ToolManifest[] = [];
  for (let page = 1; manifests.length < settings.toolsMax; page += 1) {
    const input = { page, page_size: MANIFESTS_PER_PAGE };
    const answer = await layer.ask('tools.manifests', input, asking);
    manifests.push(...answer.manifests);
    if (answer.manifests.length === 0 || manifests.length >= answer.total_count) break;
  }
  return toolListOf(manifests.slice(0, settings.toolsMax), settings.toolsPageSize);
}

/** Sorted by id, so that a cursor (the last id of a page) stays valid while tools come and go. */
function toolListOf(manifests: readonly ToolManifest[], pageSize: number): ToolList {
  const sorted = manifests.toSorted((a, b) => (a.tool_id < b.tool_id ? -1 : 1));
  const texts = textsByEra(sorted);
  const pages = { legacy: new Map<number, string>(), modern: new Map<number, string>() };
  let print: string | undefined;
  return {
    print: () => {
      print ??= sha256([...texts('legacy'), ...texts('modern')].join());
      return print;
    },
    callResults: new Map(sorted.map((manifest) => [manifest.tool_id, givesCallResult(manifest)])),
    page: (cursor, era) => {
      const start = cursor === undefined ? 0 : startAfter(sorted, cursor);
      const known = pages[era].get(start);
      if (known !== undefined) return known;
      const end = start + pageSize;
      const last = sorted[end - 1];
      const more = last !== undefined && end < sorted.length ? `,"nextCursor":"${cursorOf(last.tool_id)}"` : '';
      const page = `"tools":[${texts(era).slice(start, end).join(',')}]${more}`;
      // Only cursors that were issued are cached; others must not fill the memory.
      if (start % pageSize === 0) pages[era].set(start, page);
      return page;
    },
  };
}

/** Each tool as JSON text, made per era on first use. */
function textsByEra(manifests: readonly ToolManifest[]): (era: Era) => readonly string[] {
  const made: Partial<Record<Era, readonly string[]>> = {};
  return (era) => {
    made[era] ??= manifests.map((manifest) => JSON.stringify(toolView(manifest, era)));
    return made[era];
  };
}

function cursorOf(toolId: string): string {
  return Buffer.from(toolId).toString('base64url');
}

function startAfter(sorted: readonly ToolManifest[], cursor: string): number {
  const toolId = Buffer.from(cursor, 'base64url').toString();
  if (cursorOf(toolId) !== cursor || cursor === '') {
    throw new ToolLayerError('E3801', 'The cursor is not one of this server. List again without a cursor.');
  }
  const index = sorted.findIndex((manifest) => manifest.tool_id > toolId);
  return index < 0 ? sorted.length : index;
}
