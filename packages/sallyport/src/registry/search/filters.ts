// Runs for each search; only new tools are checked one by one.
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import type { TenantTools } from './tenant-tools.ts';

/** Tools that pass the filters. */
export interface Allowed {
  /** 1 for each slot that passes. */
  readonly slots: Uint8Array;
  readonly toolIds: readonly string[];
}

/** Conditions for tools in a search. */
export interface ToolFilters {
  readonly category?: ToolManifest['category'];
  /** Tools that carry every one of these. */
  readonly tags?: readonly string[];
  readonly executor?: ToolManifest['executor']['kind'];
  /** True when the caller may see the tool; default: all. */
  readonly visible?: (tool: ToolVersion) => boolean;
  /** Cache key for the answers of `visible`, kept until a tool changes. Without it each search asks for each tool. */
  readonly visibleKey?: object;
}

/** Filters with cached results, until a tool changes. */
export interface KeptFilters {
  /** Undefined when everything passes. */
  apply(tools: TenantTools, filters: ToolFilters): Allowed | undefined;
  /**
   * Clears the cache after a tool of any tenant changed: what a tenant sees of the catalogue depends on its own tools.
   */
  forget(): void;
}

/** Most cached combinations of category, tags and executor for one caller and tenant. */
const KEPT_MAX = 8;

/** Makes the cache, empty. */
export function createKeptFilters(): KeptFilters {
  let kept = new WeakMap<object, WeakMap<TenantTools, Map<string, Allowed | undefined>>>();
  return {
    forget() {
      kept = new WeakMap();
    },
    apply(tools, filters) {
      const { category, tags = [], executor, visible, visibleKey } = filters;
      if (category === undefined && tags.length === 0 && executor === undefined && visible === undefined)
        return undefined;
      if (visibleKey === undefined) return allowedOf(tools, filters);
      const ofAsker = kept.get(visibleKey) ?? new WeakMap<TenantTools, Map<string, Allowed | undefined>>();
      kept.set(visibleKey, ofAsker);
      const answers = ofAsker.get(tools) ?? new Map<string, Allowed | undefined>();
      ofAsker.set(tools, answers);
      const name = JSON.stringify([category, tags, executor]);
      if (answers.has(name)) return answers.get(name);
      if (answers.size >= KEPT_MAX) answers.clear();
      const allowed = allowedOf(tools, filters);
      answers.set(name, allowed);
      return allowed;
    },
  };
}

function allowedOf(tools: TenantTools, { category, tags = [], executor, visible }: ToolFilters): Allowed | undefined {
  const slots = new Uint8Array(tools.slots());
  const toolIds: string[] = [];
  let refused = 0;
  for (let slot = 0; slot < slots.length; slot += 1) {
    const tool = tools.tool(slot);
    if (tool === undefined) continue;
    const { manifest } = tool;
    const isAllowed =
      (category === undefined || manifest.category === category) &&
      (executor === undefined || manifest.executor.kind === executor) &&
      tags.every((tag) => manifest.tags?.includes(tag)) &&
      (visible === undefined || visible(tool));
    if (isAllowed) {
      slots[slot] = 1;
      toolIds.push(manifest.tool_id);
    } else refused += 1;
  }
  return refused === 0 ? undefined : { slots, toolIds };
}
