import type { ToolListRequest } from '../../../api/schemas/registry.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import { removeById, upsertById } from './sorted-by-id.ts';
import { newestOf, type VersionSet } from './version-set.ts';

/** One tool as listed. */
export interface Listed {
  readonly newest: ToolVersion;
  readonly versions: VersionSet;
}

/** Filter of a list of tools. */
export interface ListFilter extends Pick<ToolListRequest, 'category' | 'tags' | 'executor' | 'capability_query'> {
  /** True when the caller may see the tool; default: all. Called for every tool that passes the rest of the filter. */
  readonly visible?: (newest: ToolVersion) => boolean;
  /** Cache key for the answers of `visible` until tools change: the answers must depend on nothing but this object. */
  readonly visibleKey?: object;
}

/** One page of the tools that pass a filter, and their number. */
export interface ListedPage {
  readonly tools: readonly Listed[];
  readonly total: number;
}

/** The tools of a tenant in the order of their ids, indexed by the filter's conditions. */
export interface ToolIndex {
  /** Marks a tool whose versions changed. The index is updated at the next use. */
  mark(toolId: string): void;
  /** The newest version of each tool, ordered by id in code units. */
  newest(): readonly ToolVersion[];
  page(filter: ListFilter, from: number, count: number): ListedPage;
}

/** Most words of a query that are searched; the rest is ignored. */
const QUERY_WORDS_MAX = 32;
/** Most cached answers per `visibleKey`, and for lists without `visible`. */
const ANSWERS_MAX = 32;
/** Everything is reindexed when more than this share of tools changed. */
const REBUILD_SHARE = 0.02;

interface State {
  readonly byId: ReadonlyMap<string, VersionSet>;
  readonly dirty: Set<string>;
  all: Listed[];
  /** By `category mail` and the like, each in the order of ids. */
  postings: Map<string, Listed[]>;
  newest: readonly ToolVersion[] | undefined;
  answers: WeakMap<object, Map<string, readonly Listed[]>>;
}

/** An index over the versions of a tenant's tools, which the caller changes. */
export function createToolIndex(byId: ReadonlyMap<string, VersionSet>): ToolIndex {
  const state: State = {
    byId,
    dirty: new Set(),
    all: [],
    postings: new Map(),
    newest: undefined,
    answers: new WeakMap(),
  };
  return {
    mark: (toolId) => void state.dirty.add(toolId),
    newest() {
      follow(state);
      state.newest ??= state.all.map(({ newest }) => newest);
      return state.newest;
    },
    page(filter, from, count) {
      follow(state);
      return page(state, filter, from, count);
    },
  };
}

function follow(state: State): void {
  if (state.dirty.size === 0) return;
  if (state.dirty.size > state.all.length * REBUILD_SHARE) rebuild(state);
  else for (const toolId of state.dirty) replace(state, toolId);
  state.dirty.clear();
  state.newest = undefined;
  state.answers = new WeakMap();
}

function rebuild(state: State): void {
  state.all = [...state.byId.values()]
    .flatMap((versions) => listed(versions) ?? [])
    .sort((a, b) => (a.versions.toolId < b.versions.toolId ? -1 : 1));
  state.postings = new Map();
  for (const tool of state.all) {
    for (const key of keysOf(tool.newest.manifest)) {
      const posting = state.postings.get(key);
      if (posting === undefined) state.postings.set(key, [tool]);
      else posting.push(tool);
    }
  }
}

function replace({ byId, all, postings }: State, toolId: string): void {
  const before = removeById(all, toolId);
  if (before !== undefined) {
    for (const key of keysOf(before.newest.manifest)) {
      const posting = postings.get(key);
      if (posting !== undefined) removeById(posting, toolId);
      if (posting?.length === 0) postings.delete(key);
    }
  }
  const versions = byId.get(toolId);
  const after = versions === undefined ? undefined : listed(versions);
  if (after === undefined) return;
  upsertById(all, after);
  for (const key of keysOf(after.newest.manifest)) {
    const posting = postings.get(key);
    if (posting === undefined) postings.set(key, [after]);
    else upsertById(posting, after);
  }
}

function listed(versions: VersionSet): Listed | undefined {
  const newest = newestOf(versions);
  return newest === undefined ? undefined : { newest, versions };
}

function keysOf({ category, executor, tags = [] }: ToolManifest): ReadonlySet<string> {
  const keys = new Set(tags.map((tag) => `tag ${tag}`)).add(`executor ${executor.kind}`);
  return category === undefined ? keys : keys.add(`category ${category}`);
}

/** A filter's conditions on manifests. */
interface Wanted {
  readonly category: ListFilter['category'] | undefined;
  readonly executor: ListFilter['executor'] | undefined;
  readonly tags: readonly string[];
  readonly words: readonly string[];
}

function wantedBy({ category, executor, tags = [], capability_query }: ListFilter): Wanted {
  const words = capability_query?.toLowerCase().split(/\s+/).filter(Boolean).slice(0, QUERY_WORDS_MAX) ?? [];
  return { category, executor, tags: [...new Set(tags)].sort(), words: [...new Set(words)].sort() };
}

function page(state: State, filter: ListFilter, from: number, count: number): ListedPage {
  const wanted = wantedBy(filter);
  const { visible, visibleKey } = filter;
  if (visible !== undefined && visibleKey === undefined) {
    return seen(matching(state, state, wanted), visible, from, count);
  }
  const found = matching(state, visibleKey ?? state, wanted, visible);
  return { tools: found.slice(from, from + count), total: found.length };
}

/** The tools that a caller may see; only the page is kept. */
function seen(
  tools: readonly Listed[],
  visible: (newest: ToolVersion) => boolean,
  from: number,
  count: number,
): ListedPage {
  const shown: Listed[] = [];
  let total = 0;
  for (const tool of tools) {
    if (!visible(tool.newest)) continue;
    if (total >= from && shown.length < count) shown.push(tool);
    total += 1;
  }
  return { tools: shown, total };
}

/** All matches, cached under an object: the shortest posting is walked, the others are conditions. */
function matching(
  state: State,
  key: object,
  wanted: Wanted,
  visible?: (newest: ToolVersion) => boolean,
): readonly Listed[] {
  const postings = postingsOf(state, wanted);
  const [shortest = state.all] = postings;
  if (postings.length <= 1 && wanted.words.length === 0 && visible === undefined) return shortest;
  const answers = state.answers.get(key) ?? new Map<string, readonly Listed[]>();
  state.answers.set(key, answers);
  const name = JSON.stringify(wanted);
  const known = answers.get(name);
  if (known !== undefined) return known;
  const found = shortest.filter(
    ({ newest }) =>
      (postings.length < 2 || fits(newest.manifest, wanted)) &&
      holdsAll(newest, wanted.words) &&
      visible?.(newest) !== false,
  );
  for (const oldest of answers.keys()) {
    if (answers.size < ANSWERS_MAX) break;
    answers.delete(oldest);
  }
  answers.set(name, found);
  return found;
}

/** The tools per condition, fewest first. */
function postingsOf({ postings }: State, { category, executor, tags }: Wanted): (readonly Listed[])[] {
  const keys = tags.map((tag) => `tag ${tag}`);
  if (executor !== undefined) keys.push(`executor ${executor}`);
  if (category !== undefined) keys.push(`category ${category}`);
  return keys.map((key) => postings.get(key) ?? []).sort((a, b) => a.length - b.length);
}

function fits(manifest: ToolManifest, { category, executor, tags }: Wanted): boolean {
  if (category !== undefined && manifest.category !== category) return false;
  if (executor !== undefined && manifest.executor.kind !== executor) return false;
  return tags.every((tag) => manifest.tags?.includes(tag));
}

/** Text that queries are matched with, made at the first query and garbage-collected with its tool version. */
const searchable = new WeakMap<ToolVersion, string>();

function holdsAll(tool: ToolVersion, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  let text = searchable.get(tool);
  if (text === undefined) {
    const { tool_id, tool_name, description, tags = [] } = tool.manifest;
    text = [tool_id, tool_name, description, ...tags].join('\n').toLowerCase();
    searchable.set(tool, text);
  }
  return words.every((word) => text.includes(word));
}
