import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import { createKeywordIndex, type KeywordIndex, type KeywordScores } from './keywords/keyword-index.ts';
import { keywordFields } from './keywords/tool-fields.ts';

/** Longest work before yielding to other work of this process, in ms: building must not hold up calls. */
const SLICE_MS = 8;
/** The keyword index is rebuilt when a larger share of it belongs to changed or removed tools. */
const EMPTY_SHARE_MAX = 0.25;

/** The tools of one tenant with the index of their words. Tools are known by slots, 0 to `slots() - 1`. */
export interface TenantTools {
  /** Marks changed tools; undefined for all of them. `refresh` applies the changes. */
  changed(toolIds: readonly string[] | undefined): void;
  /**
   * Updates the index, in slices. Concurrent callers share one run.
   * @returns the tools added and removed since the last refresh
   */
  refresh(): Promise<void>;
  slots(): number;
  /** Undefined for the slot of a removed tool. */
  tool(slot: number): ToolVersion | undefined;
  slotOf(toolId: string): number | undefined;
  keywords(query: string, allowed?: Uint8Array): KeywordScores;
}

/** @param list the newest version of each tool of the tenant */
export function createTenantTools(list: () => readonly ToolVersion[]): TenantTools {
  const state: State = { list, ...empty(), changed: undefined, refreshing: undefined };
  return {
    changed(toolIds) {
      if (toolIds === undefined) state.changed = undefined;
      else for (const toolId of toolIds) state.changed?.add(toolId);
    },
    async refresh() {
      while (state.refreshing !== undefined) await state.refreshing;
      if (state.changed?.size === 0) return;
      state.refreshing = refresh(state).finally(() => {
        state.refreshing = undefined;
      });
      await state.refreshing;
    },
    slots: () => state.tools.length,
    tool: (slot) => state.tools[slot],
    slotOf: (toolId) => state.slots.get(toolId),
    keywords: (query, allowed) => state.keywords.search(query, state.tools.length, allowed),
  };
}

interface Indexed {
  tools: (ToolVersion | undefined)[];
  slots: Map<string, number>;
  keywords: KeywordIndex;
}

interface State extends Indexed {
  readonly list: () => readonly ToolVersion[];
  /** Ids of tools to read again; undefined for all. */
  changed: Set<string> | undefined;
  refreshing: Promise<void> | undefined;
}

const empty = (): Indexed => ({ tools: [], slots: new Map(), keywords: createKeywordIndex() });

async function refresh(state: State): Promise<void> {
  const { changed } = state;
  state.changed = new Set();
  const listed = state.list();
  const isRebuild = changed === undefined || changed.size * 2 > listed.length + 16;
  if (isRebuild || state.keywords.emptyShare() > EMPTY_SHARE_MAX) {
    // Built beside the index in use.
    const next = empty();
    await eachInSlices(listed, (tool) => put(next, tool));
    Object.assign(state, next);
    return;
  }
  const now = new Map<string, ToolVersion>();
  for (const tool of listed) if (changed.has(tool.manifest.tool_id)) now.set(tool.manifest.tool_id, tool);
  await eachInSlices([...changed], (toolId) => {
    const slot = state.slots.get(toolId);
    const tool = now.get(toolId);
    if (slot !== undefined && tool !== undefined && state.tools[slot]?.contentHash === tool.contentHash) {
      state.tools[slot] = tool;
      return;
    }
    if (slot !== undefined) take(state, toolId, slot);
    if (tool !== undefined) put(state, tool);
  });
}

function put(into: Indexed, tool: ToolVersion): void {
  const slot = into.tools.length;
  into.tools.push(tool);
  into.slots.set(tool.manifest.tool_id, slot);
  into.keywords.add(slot, keywordFields(tool.manifest));
}

function take(from: Indexed, toolId: string, slot: number): void {
  from.slots.delete(toolId);
  from.tools[slot] = undefined;
  from.keywords.remove(slot);
}

async function eachInSlices<T>(items: readonly T[], work: (item: T) => void): Promise<void> {
  let begin = performance.now();
  for (const item of items) {
    work(item);
    if (performance.now() - begin < SLICE_MS) continue;
    await new Promise((resolve) => setImmediate(resolve));
    begin = performance.now();
  }
}
