import type { ToolListRequest, ToolSummary } from '../../../api/schemas/registry.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import { newestOf, putVersion, type VersionSet, versionSet } from './version-set.ts';

/** The tools of one tenant. */
export interface TenantCatalogue {
  readonly byId: Map<string, VersionSet>;
  /** Newest version of each tool by id; undefined after a change, until somebody lists. */
  listed: readonly Listed[] | undefined;
}

/** One tool as lists see it. */
export interface Listed {
  readonly newest: ToolVersion;
  readonly versions: VersionSet;
}

/** Which tools of a list are wanted. */
export interface ListFilter extends Pick<ToolListRequest, 'category' | 'tags' | 'executor' | 'capability_query'> {
  /** Whether the caller may see the tool; all of them when absent. */
  readonly visible?: (newest: ToolVersion) => boolean;
}

/** Words of a query that are looked for; the rest is ignored. */
const QUERY_WORDS_MAX = 32;

/** A tenant without tools. */
export function tenantCatalogue(): TenantCatalogue {
  return { byId: new Map(), listed: undefined };
}

/** Adds or replaces one version. */
export function putTool(catalogue: TenantCatalogue, version: ToolVersion): void {
  const id = version.manifest.tool_id;
  let set = catalogue.byId.get(id);
  if (set === undefined) {
    set = versionSet(id);
    catalogue.byId.set(id, set);
  }
  putVersion(set, version);
  catalogue.listed = undefined;
}

/** Tools that have a version which was not removed, ordered by id in code units, so that pages are stable. */
export function listedTools(catalogue: TenantCatalogue): readonly Listed[] {
  catalogue.listed ??= [...catalogue.byId.values()]
    .flatMap((versions) => {
      const newest = newestOf(versions);
      return newest === undefined ? [] : [{ newest, versions }];
    })
    .sort((a, b) => (a.versions.toolId < b.versions.toolId ? -1 : 1));
  return catalogue.listed;
}

/** The test of a filter. A query matches when each of its words stands in id, name, description or tags. */
export function matcherOf({
  category,
  tags,
  executor,
  capability_query,
  visible,
}: ListFilter): (tool: Listed) => boolean {
  const words = capability_query?.toLowerCase().split(/\s+/).filter(Boolean).slice(0, QUERY_WORDS_MAX) ?? [];
  return ({ newest }) => {
    const { manifest } = newest;
    if (category !== undefined && manifest.category !== category) return false;
    if (executor !== undefined && manifest.executor.kind !== executor) return false;
    if (tags?.every((tag) => manifest.tags?.includes(tag)) === false) return false;
    if (words.length > 0 && !holdsAll(newest, words)) return false;
    return visible === undefined || visible(newest);
  };
}

/** Text that queries are matched with, made at the first query and dropped with its tool version. */
const searchable = new WeakMap<ToolVersion, string>();

function holdsAll(tool: ToolVersion, words: readonly string[]): boolean {
  let text = searchable.get(tool);
  if (text === undefined) {
    const { tool_id, tool_name, description, tags = [] } = tool.manifest;
    text = [tool_id, tool_name, description, ...tags].join('\n').toLowerCase();
    searchable.set(tool, text);
  }
  return words.every((word) => text.includes(word));
}

/** A tool as it stands in the answer of tool.list(). */
export function summaryOf({ newest: { manifest }, versions }: Listed): ToolSummary {
  return {
    tool_id: manifest.tool_id,
    tool_name: manifest.tool_name,
    description: manifest.description,
    category: manifest.category ?? '',
    versions: versions.live.map(({ manifest: { version } }) => version),
    latest_version: manifest.version,
    tags: manifest.tags ?? [],
    requires_approval: manifest.execution_config?.requires_approval ?? false,
    executor: manifest.executor.kind,
  };
}
