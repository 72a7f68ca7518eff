import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { sha256 } from '@sallyport/std/sha256';
import { LRUCache } from 'lru-cache';
import type { TaskSupport, ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import type { Caller } from '../../../domain/principal/principal.ts';
import { givesCallResult } from '../../../domain/tool/call-result.ts';
import { taskSupportOf } from '../../../domain/tool/task-support.ts';
import type { ToolLayer } from '../../../operations/tool-layer.ts';
import type { Era } from '../../mcp-protocol.ts';
import type { McpSettings } from '../settings.ts';
import { toolView } from './tool-view.ts';

/** The tools that one token may see. */
export interface ToolList {
  /** JSON text of one page, without the braces: `"tools":[…]` and, when there is another page, `,"nextCursor":…`. */
  page(cursor: string | undefined, era: Era): string;
  readonly facts: ReadonlyMap<string, ToolFacts>;
  /** Equal for equal lists. */
  print(): string;
}

/** What a call has to know of its tool. */
export interface ToolFacts {
  /** Whether its results are CallToolResults of MCP. */
  readonly givesCallResult: boolean;
  /** Whether calls may, or must, be tasks; undefined when the tool does not say. */
  readonly taskSupport: TaskSupport | undefined;
}

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
export function createCachedToolLists(layer: ToolLayer, settings: McpSettings, hasTasks = false): CachedToolLists {
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
    const loading = load(layer, caller, settings, hasTasks);
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

const factsIn = (manifest: ToolManifest): ToolFacts => ({
  givesCallResult: givesCallResult(manifest),
  taskSupport: taskSupportOf(manifest),
});

async function load(layer: ToolLayer, caller: Caller, settings: McpSettings, hasTasks: boolean): Promise<ToolList> {
  // Several requests may wait for one list, so the end of the first must not end it.
  const { signal: _signal, onProgress: _onProgress, logs: _logs, ...asking } = caller;
  const manifests: ToolManifest[] = [];
  for (let page = 1; manifests.length < settings.toolsMax; page += 1) {
    const input = { page, page_size: MANIFESTS_PER_PAGE };
    const answer = await layer.ask('tools.manifests', input, asking);
    manifests.push(...answer.manifests);
    if (answer.manifests.length === 0 || manifests.length >= answer.total_count) break;
  }
  return toolListOf(manifests.slice(0, settings.toolsMax), settings.toolsPageSize, hasTasks);
}

/** Sorted by id, so that a cursor (the last id of a page) stays valid while tools come and go. */
function toolListOf(manifests: readonly ToolManifest[], pageSize: number, hasTasks: boolean): ToolList {
  const sorted = manifests.toSorted((a, b) => (a.tool_id < b.tool_id ? -1 : 1));
  const texts = textsByEra(sorted, hasTasks);
  const pages = { legacy: new Map<number, string>(), modern: new Map<number, string>() };
  let print: string | undefined;
  return {
    print: () => {
      print ??= sha256([...texts('legacy'), ...texts('modern')].join());
      return print;
    },
    facts: new Map(sorted.map((manifest) => [manifest.tool_id, factsIn(manifest)])),
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
function textsByEra(manifests: readonly ToolManifest[], hasTasks: boolean): (era: Era) => readonly string[] {
  const made: Partial<Record<Era, readonly string[]>> = {};
  return (era) => {
    made[era] ??= manifests.map((manifest) => JSON.stringify(toolView(manifest, era, hasTasks)));
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
