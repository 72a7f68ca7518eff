// Asked for each search; only what is new is looked at tool by tool.
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import type { TenantTools } from './tenant-tools.ts';

/** Tools that filters let through. */
export interface Allowed {
  /** 1 for each slot that is let through. */
  readonly slots: Uint8Array;
  readonly toolIds: readonly string[];
}

/** Which tools take part in a search. */
export interface ToolFilters {
  readonly category?: ToolManifest['category'];
  /** Tools that carry every one of these. */
  readonly tags?: readonly string[];
  readonly executor?: ToolManifest['executor']['kind'];
  /** Whether the asker may see the tool; all of them when absent. */
  readonly visible?: (tool: ToolVersion) => boolean;
  /**
   * Stands for what `visible` lets through: what it answered is kept under this object until a tool changes. Without one
   * each search asks for each tool.
   */
  readonly visibleKey?: object;
}

/** Filters with what they let through, as long as no tool changes. */
export interface KeptFilters {
  /** Undefined when everything is let through. */
  apply(tools: TenantTools, filters: ToolFilters): Allowed | undefined;
  /** A tool changed, of whichever tenant: what one sees of the catalogue depends on the tools of one's own. */
  forget(): void;
}

/** Combinations of category, tags and executor that are kept for one asker and tenant. */
const KEPT_MAX = 8;

/** Nothing is kept yet. */
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
