import type { VisibilityListRequest, VisibleTool } from '../../../api/schemas/visibility.ts';
import type { Caller } from '../../domain/principal/principal.ts';
import type { ToolLayer } from '../../operations/tool-layer.ts';

/**
 * Longest life of a cached list without news, in ms: a layer in another process only reports changes it sees itself.
 */
const LIST_TTL_MS = 2_000;
/** Tools on one page of a request. */
const PAGE_SIZE = 1_000;
/** Longest list that is held, in tools. */
const TOOLS_MAX = 100_000;

type ListName = VisibilityListRequest['list'];

interface Held {
  readonly tools: Promise<readonly VisibleTool[]>;
  /** Monotonic ms. */
  readonly until: number;
}

/** The cached lists of one agent by tier, until something changes. */
export interface ToolLists {
  get(list: ListName): Promise<readonly VisibleTool[]>;
  close(): void;
}

export function toolLists(layer: ToolLayer, caller: Caller): ToolLists {
  const held = new Map<ListName, Held>();
  const listening = layer.onToolsChanged(() => held.clear());
  return {
    get(list) {
      const known = held.get(list);
      if (known !== undefined && performance.now() < known.until) return known.tools;
      const tools = load(layer, caller, list);
      held.set(list, { tools, until: performance.now() + LIST_TTL_MS });
      // A refusal is not cached: the next request asks again.
      tools.catch(() => {
        if (held.get(list)?.tools === tools) held.delete(list);
      });
      return tools;
    },
    close: () => listening[Symbol.dispose](),
  };
}

async function load(layer: ToolLayer, caller: Caller, list: ListName): Promise<readonly VisibleTool[]> {
  const tools: VisibleTool[] = [];
  for (let page = 1; tools.length < TOOLS_MAX; page += 1) {
    const answer = await layer.ask('visibility.list', { list, page, page_size: PAGE_SIZE }, caller);
    tools.push(...answer.tools);
    if (answer.tools.length === 0 || tools.length >= answer.total_count) break;
  }
  return tools;
}
