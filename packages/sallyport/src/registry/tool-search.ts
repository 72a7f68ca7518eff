import type { Clock } from '@sallyport/std/clock';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import { LRUCache } from 'lru-cache';
import type { Warning } from '../../api/schemas/invocation.ts';
import type { SearchMode } from '../../api/schemas/registry/search.ts';
import type { ToolVersion } from '../domain/tool/tool-version.ts';
import type { Log } from '../telemetry/log.ts';
import type { Embedder, EmbedderTraits } from './embedder.port.ts';
import type { RegistryChange } from './registry.ts';
import { bestHits } from './search/best-hits.ts';
import { type Allowed, createKeptFilters, type KeptFilters, type ToolFilters } from './search/filters.ts';
import type { KeywordScores } from './search/keywords/keyword-index.ts';
import { withoutPaths } from './search/keywords/without-paths.ts';
import { byScore, RANKED_MAX, type RankedTool, rankByBoth, rankByKeywords } from './search/rank.ts';
import { createTenantTools, type TenantTools } from './search/tenant-tools.ts';
import { type CheckedEmbedder, checkedEmbedder } from './search/vectors/checked-embedder.ts';
import { type QueryVectors, queryVectors } from './search/vectors/query-vectors.ts';
import { similarityOf } from './search/vectors/similarity.ts';
import { createVectorFeed, type SearchProgress, type VectorFeed } from './search/vectors/vector-feed.ts';
import type { VectorIndex, VectorStore } from './vectors.port.ts';

export { type CheckedEmbedder, checkedEmbedder } from './search/vectors/checked-embedder.ts';
export { type Similarity, similarityOf } from './search/vectors/similarity.ts';
export type { SearchProgress };

/** A search request. Filters apply before ranking. */
export interface ToolSearchQuery extends ToolFilters {
  /** The words of the requester. Without letters and digits nothing is found. */
  readonly text: string;
  /** Least similarity, 0 to 1, of a tool without a word of the query; default: the layer's setting. */
  readonly threshold?: number;
  /** Added to the similarity of tools for their order, 0 to 1, by tool id; whether a tool is found is decided before. */
  readonly boosts?: ReadonlyMap<string, number>;
  /** From 1. */
  readonly page: number;
  readonly pageSize: number;
}

/** The tools found, best first. */
export interface ToolSearchAnswer {
  readonly found: readonly RankedTool[];
  /** Number found in all, at most {@link RANKED_MAX} by keywords and as many by meaning. */
  readonly total: number;
  /** `keyword` when search by meaning failed (with a warning E3005), or when there is no embedder. */
  readonly mode: SearchMode;
  readonly warnings: readonly Warning[];
}

/** Finds tools by words and by meaning (REG-05). */
export interface ToolSearch {
  /**
   * Does not throw for a failing embedder: keywords are used then. Pages of one query are stable while the tools are
   * unchanged.
   * @param tenantIds tenants whose tools may be found, and no others
   */
  search(tenantIds: readonly string[], query: ToolSearchQuery): Promise<ToolSearchAnswer>;
  /** Progress of the vectors, of one tenant or of all. All zero without an embedder. */
  progress(tenantId?: string): SearchProgress;
  /** Ends the work in the background and closes the embedder. Idempotent. */
  close(): Promise<void>;
}

/** Dependencies of the search. */
export interface ToolSearchParts {
  /** The newest version of each tool of a tenant. */
  readonly tools: (tenantId: string) => readonly ToolVersion[];
  readonly onChanged: (listener: (change: RegistryChange) => void) => Disposable;
  /** Closed with the search. Absent: only keywords are used, without a warning. */
  readonly embedder?: Embedder;
  readonly index: VectorIndex;
  readonly vectors: VectorStore;
  /** The setting search.threshold. */
  readonly threshold: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Quiet time after a change before vectors are made, in ms; default 1000: a short command never starts a model. */
  readonly quietMs?: number;
}

/** Most tenants whose keyword index is kept; another tenant's is rebuilt when it searches. */
const TENANTS_MAX = 256;
const QUIET_MS = 1000;
/** Missing vectors are waited for when they are few, as after the first start, but not for long. */
const WAIT_FOR_VECTORS_MAX = 64;
const WAIT_FOR_VECTORS_MS = 1500;

/** Makes the search, idle until a tool changes or somebody searches. */
export function createToolSearch(parts: ToolSearchParts): ToolSearch {
  const { index, vectors: store, log, clock } = parts;
  const embedder = parts.embedder === undefined ? undefined : checkedEmbedder({ embedder: parts.embedder, clock, log });
  const state: State = {
    ...parts,
    meaning:
      embedder === undefined
        ? undefined
        : { embedder, queries: queryVectors(embedder), feed: createVectorFeed({ embedder, index, store, clock, log }) },
    tenants: new LRUCache({ max: TENANTS_MAX }),
    changed: new Map(),
    filters: createKeptFilters(),
    fed: new Set(),
    timer: undefined,
  };
  const listening = parts.onChanged((change) => noteChange(state, change));
  return {
    search: (tenantIds, query) => search(state, tenantIds, query),
    progress: (tenantId) => progressOf(state, tenantId),
    async close() {
      listening[Symbol.dispose]();
      clearTimeout(state.timer);
      // The feed is closed first: requests that the closing embedder aborts are then not logged as failures.
      const fed = state.meaning?.feed.close();
      await embedder?.close();
      await fed;
    },
  };
}

interface Meaning {
  readonly embedder: CheckedEmbedder;
  readonly queries: QueryVectors;
  readonly feed: VectorFeed;
}

interface State extends Omit<ToolSearchParts, 'embedder'> {
  readonly meaning: Meaning | undefined;
  readonly tenants: LRUCache<string, TenantTools>;
  readonly filters: KeptFilters;
  /** Tools whose vectors must be updated, by tenant. */
  readonly changed: Map<string, Set<string>>;
  /** Tenants whose tools were all given to the feed since the start. */
  readonly fed: Set<string>;
  timer: NodeJS.Timeout | undefined;
}

function noteChange(state: State, { tenantId, toolIds }: RegistryChange): void {
  state.tenants.peek(tenantId)?.changed(toolIds);
  state.filters.forget();
  if (state.meaning === undefined) return;
  const changed = state.changed.get(tenantId) ?? new Set();
  for (const toolId of toolIds) changed.add(toolId);
  state.changed.set(tenantId, changed);
  state.timer ??= setTimeout(() => {
    state.timer = undefined;
    for (const changedTenant of state.changed.keys()) feedVectors(state, changedTenant);
  }, state.quietMs ?? QUIET_MS).unref();
}

/** Gives changes to the feed; at a tenant's first search all of its tools. */
function feedVectors({ meaning, changed, fed, tools }: State, tenantId: string, everything = false): void {
  const ids = changed.get(tenantId);
  const isFirst = everything && !fed.has(tenantId);
  if (meaning === undefined || (ids === undefined && !isFirst)) return;
  changed.delete(tenantId);
  const listed = tools(tenantId);
  const wanted = isFirst ? listed : listed.filter(({ manifest }) => ids?.has(manifest.tool_id));
  meaning.feed.want(tenantId, wanted);
  if (isFirst) fed.add(tenantId);
  const there = new Set(wanted.map(({ manifest }) => manifest.tool_id));
  const gone = [...(ids ?? [])].filter((toolId) => !there.has(toolId));
  if (gone.length > 0) meaning.feed.drop(tenantId, gone);
}

function progressOf({ meaning, changed }: State, tenantId: string | undefined): SearchProgress {
  if (meaning === undefined) return { indexed: 0, pending: 0, failed: 0 };
  const progress = meaning.feed.progress(tenantId);
  let noticed = 0;
  for (const [tenant, ids] of changed) if (tenantId === undefined || tenantId === tenant) noticed += ids.size;
  return { ...progress, pending: progress.pending + noticed };
}

async function search(state: State, tenantIds: readonly string[], query: ToolSearchQuery): Promise<ToolSearchAnswer> {
  const asked = state.meaning === undefined ? undefined : await askMeaning(state, state.meaning, tenantIds, query);
  const near = asked !== undefined && 'queries' in asked ? asked : undefined;
  const warnings = asked !== undefined && 'warnings' in asked ? [...asked.warnings] : [];
  const answers: (readonly RankedTool[])[] = [];
  let isHybrid = near !== undefined;
  for (const tenantId of new Set(tenantIds)) {
    const found = await findWords(state, tenantId, query);
    const both =
      near === undefined ? undefined : await rankNear(state, tenantId, query, near, found).catch(downWarning);
    if (both !== undefined && 'message' in both) {
      isHybrid = false;
      warnings.push(both);
    }
    answers.push(both === undefined || 'message' in both ? rankByKeywords({ ...found, ...rankedBy(query) }) : both);
  }
  const ranked = answers.length === 1 ? (answers[0] ?? []) : answers.flat().sort(byScore);
  const start = (query.page - 1) * query.pageSize;
  return {
    found: ranked.slice(start, start + query.pageSize),
    total: ranked.length,
    mode: isHybrid ? 'hybrid' : 'keyword',
    warnings,
  };
}

interface Words {
  readonly tools: TenantTools;
  readonly keywords: KeywordScores;
  readonly allowed: Allowed | undefined;
}

async function findWords(state: State, tenantId: string, query: ToolSearchQuery): Promise<Words> {
  const tools = await currentTools(state, tenantId);
  const allowed = state.filters.apply(tools, query);
  return { tools, keywords: tools.keywords(withoutPaths(query.text), allowed?.slots), allowed };
}

async function rankNear(
  state: State,
  tenantId: string,
  query: ToolSearchQuery,
  { queries, traits }: Near,
  { tools, keywords, allowed }: Words,
): Promise<readonly RankedTool[]> {
  const threshold = query.threshold ?? state.threshold;
  const nearness = {
    queries,
    cosineMin: similarityOf(traits).cosineOf(threshold),
    toolsMax: RANKED_MAX,
    also: Array.from(bestHits(keywords, RANKED_MAX), (slot) => tools.tool(slot)?.manifest.tool_id ?? ''),
    ...(allowed === undefined ? {} : { only: allowed.toolIds }),
  };
  const cosines = queries.length === 0 ? NOTHING_NEAR : await state.index.search(tenantId, nearness);
  return rankByBoth({ tools, keywords, cosines, traits, threshold, allowed: allowed?.slots, ...rankedBy(query) });
}

const downWarning = (cause: unknown): Warning => ({
  code: 'E3005',
  message: `Found by keywords only: search by meaning is down. ${failureOf(cause).message}`,
});

const rankedBy = ({ text, boosts }: ToolSearchQuery) => ({ query: text, ...(boosts === undefined ? {} : { boosts }) });

const NOTHING_NEAR: ReadonlyMap<string, number> = new Map();

async function currentTools(state: State, tenantId: string): Promise<TenantTools> {
  let tools = state.tenants.get(tenantId);
  if (tools === undefined) {
    tools = createTenantTools(() => state.tools(tenantId));
    state.tenants.set(tenantId, tools);
  }
  await tools.refresh();
  return tools;
}

interface Near {
  readonly queries: readonly Float32Array[];
  readonly traits: EmbedderTraits;
}

/** The vectors of the query, or a warning with the reason why there are none. */
async function askMeaning(
  state: State,
  { embedder, queries, feed }: Meaning,
  tenantIds: readonly string[],
  { text }: ToolSearchQuery,
): Promise<Near | { readonly warnings: readonly Warning[] }> {
  try {
    for (const tenantId of tenantIds) feedVectors(state, tenantId, true);
    const traits = await embedder.traits();
    const vectors = await queries.of(withoutPaths(text));
    for (const tenantId of tenantIds) {
      const { pending } = feed.progress(tenantId);
      if (pending > 0 && pending <= WAIT_FOR_VECTORS_MAX) await feed.settled(tenantId, WAIT_FOR_VECTORS_MS);
    }
    return { queries: vectors, traits };
  } catch (cause) {
    return { warnings: [downWarning(cause)] };
  }
}
