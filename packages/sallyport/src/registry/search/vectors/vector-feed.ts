import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '@sallyport/std/clock';
import type { ToolVersion } from '../../../domain/tool/tool-version.ts';
import type { Log } from '../../../telemetry/log.ts';
import type { KeptVector, VectorIndex, VectorStore } from '../../vectors.port.ts';
import { type CheckedEmbedder, isBadAnswer } from './checked-embedder.ts';
import {
  isWaiting,
  progressOf,
  type SearchProgress,
  type Tenant,
  tenantOf,
  type Wanted,
  want,
} from './feed-tenants.ts';
import { type ToolTexts, toolTexts } from './tool-texts.ts';
import { middleOf } from './unit-vector.ts';

/** Most tools looked up in the store at once. */
const LOOKED_UP_MAX = 256;
/** Tools embedded in one request: few, so that a query waits for at most these. */
const EMBEDDED_MAX = 8;
/** Longest wait for the vectors of one request. */
const EMBED_TIMEOUT_MS = 120_000;
/** Most requests for a tool without a valid vector; after that it is found by keywords only, until it changes. */
const ATTEMPTS_MAX = 3;

/** Vectors unused for this long are deleted, in ms. */
const UNUSED_MS = 90 * 24 * 3600 * 1000;

export type { SearchProgress };

/**
 * Brings the vectors of tools into the index, in the background: from the store when present, else from the embedder.
 */
export interface VectorFeed {
  /** Requests the vectors of these versions in place of others of the same tools. Never waits and never throws. */
  want(tenantId: string, tools: readonly ToolVersion[]): void;
  /** Drops removed tools. */
  drop(tenantId: string, toolIds: readonly string[]): void;
  progress(tenantId?: string): SearchProgress;
  /** Waits until nothing of the tenant is pending, or for a time in ms. */
  settled(tenantId: string, ms: number): Promise<void>;
  close(): Promise<void>;
}

/** Dependencies of the feed. */
export interface VectorFeedParts {
  readonly embedder: CheckedEmbedder;
  readonly index: VectorIndex;
  readonly store: VectorStore;
  readonly clock: Clock;
  readonly log: Log;
}

interface State extends VectorFeedParts {
  readonly tenants: Map<string, Tenant>;
  readonly closing: AbortController;
  readonly idle: Set<() => void>;
  running: Promise<void> | undefined;
  /** True once pruned; done once per process. */
  pruned: boolean;
}

/** Makes the feed; idle until something is wanted. */
export function createVectorFeed(parts: VectorFeedParts): VectorFeed {
  const state: State = {
    ...parts,
    tenants: new Map(),
    closing: new AbortController(),
    idle: new Set(),
    running: undefined,
    pruned: false,
  };
  return {
    want(tenantId, tools) {
      const tenant = tenantOf(state.tenants, tenantId);
      for (const tool of tools) want(tenant, tool);
      if (isWaiting(tenant)) start(state);
    },
    drop(tenantId, toolIds) {
      const tenant = state.tenants.get(tenantId);
      if (tenant === undefined) return;
      for (const toolId of toolIds) for (const held of Object.values(tenant)) held.delete(toolId);
      quietly(state, parts.index.remove(tenantId, toolIds));
    },
    progress: (tenantId) => progressOf(state.tenants, tenantId),
    settled: (tenantId, ms) => settled(state, tenantId, ms),
    async close() {
      state.closing.abort();
      await state.running;
    },
  };
}

function start(state: State): void {
  if (state.running !== undefined || state.closing.signal.aborted) return;
  state.running = work(state)
    .catch((cause: unknown) => state.log.error('vector-feed-failed', { reason: String(cause) }))
    .finally(() => {
      state.running = undefined;
      // Something may have been requested after the last check.
      if ([...state.tenants.values()].some(isWaiting)) start(state);
      notifyIdle(state);
    });
}

/**
 * Runs until nothing is pending. Failures are retried after the embedder's pause, so an absent embedder costs little.
 */
async function work(state: State): Promise<void> {
  const { embedder, closing } = state;
  while (!closing.signal.aborted) {
    try {
      const next = nextBatch(state);
      if (next === undefined) return await prune(state);
      const pause = embedder.pauseMs();
      if (pause > 0) await sleep(pause, undefined, { ref: false, signal: closing.signal });
      await state.index.open(embedder.model, (await embedder.traits()).dimensions);
      await (next.step === 'look' ? lookUp(state, next) : makeAll(state, next));
    } catch (cause) {
      if (closing.signal.aborted) return;
      // The embedder pauses by itself; for other failures, such as the store's, this loop pauses.
      if (embedder.pauseMs() === 0) {
        state.log.warn('vector-feed-waits', { reason: String(cause) });
        await sleep(STORE_PAUSE_MS, undefined, { ref: false, signal: closing.signal }).catch(() => undefined);
      }
    }
    notifyIdle(state);
    // A store in memory and an embedder that answers at once would never yield.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function prune(state: State): Promise<void> {
  if (state.pruned) return;
  state.pruned = true;
  await state.store.prune(state.clock.now() - UNUSED_MS);
}

/** Pause when the store or the index failed. */
const STORE_PAUSE_MS = 1000;

interface Batch {
  readonly step: Step;
  readonly tenantId: string;
  readonly tenant: Tenant;
  readonly items: readonly Item[];
}

interface Item extends ToolTexts {
  readonly wanted: Wanted;
}

/** Look up in the store, or make with the embedder. */
type Step = 'look' | 'make';

/** After a restart, all existing vectors are found within seconds, however much new work there is. */
const nextBatch = (state: State): Batch | undefined => batchOf(state, 'look') ?? batchOf(state, 'make');

/** One tenant after the other, so that a large one delays the rest by one batch only. */
function batchOf(state: State, step: Step): Batch | undefined {
  for (const [tenantId, tenant] of state.tenants) {
    const waiting = step === 'look' ? tenant.pending : tenant.missing;
    if (waiting.size === 0) continue;
    state.tenants.delete(tenantId);
    state.tenants.set(tenantId, tenant);
    const wanted = waiting.values().take(LOOKED_UP_MAX).toArray();
    return { step, tenantId, tenant, items: wanted.map((one) => ({ wanted: one, ...toolTexts(one.tool.manifest) })) };
  }
  return undefined;
}

async function lookUp(state: State, { tenantId, tenant, items }: Batch): Promise<void> {
  const { embedder, store } = state;
  const { dimensions } = await embedder.traits();
  const hashes = [...new Set(items.map(({ contentHash }) => contentHash))];
  const kept = new Map<string, Float32Array>();
  for (const { contentHash, vector } of await store.get(embedder.model, dimensions, hashes))
    kept.set(contentHash, vector);
  await put(
    state,
    tenantId,
    tenant,
    items.filter(({ contentHash }) => kept.has(contentHash)),
    kept,
  );
  for (const item of items) {
    const { tool_id } = item.wanted.tool.manifest;
    if (kept.has(item.contentHash) || tenant.pending.get(tool_id) !== item.wanted) continue;
    tenant.pending.delete(tool_id);
    tenant.missing.set(tool_id, item.wanted);
  }
}

/** Until something new is wanted, which may be in the store. */
async function makeAll(state: State, { tenantId, tenant, items }: Batch): Promise<void> {
  // Texts of similar length together: a model takes as long for each as for the longest.
  const sorted = items.toSorted((one, other) => lengthOf(one) - lengthOf(other));
  for (let at = 0; at < sorted.length; at += EMBEDDED_MAX) {
    if (state.closing.signal.aborted) return;
    await make(state, tenantId, tenant, sorted.slice(at, at + EMBEDDED_MAX));
    notifyIdle(state);
    if ([...state.tenants.values()].some(({ pending }) => pending.size > 0)) return;
  }
}

const lengthOf = ({ texts }: ToolTexts): number => texts.reduce((sum, text) => sum + text.length, 0);

async function make(state: State, tenantId: string, tenant: Tenant, items: readonly Item[]): Promise<void> {
  const standing = items.filter((item) => stands(tenant, item));
  if (standing.length === 0) return;
  let made: readonly KeptVector[];
  try {
    made = await embedItems(state.embedder, standing);
  } catch (cause) {
    if (!isBadAnswer(cause)) throw cause;
    await oneByOne(state, tenantId, tenant, standing, cause);
    return;
  }
  await state.store.put(state.embedder.model, made);
  await put(state, tenantId, tenant, standing, new Map(made.map(({ contentHash, vector }) => [contentHash, vector])));
}

/** Finds the tools without a vector, so that the others get theirs. */
async function oneByOne(
  state: State,
  tenantId: string,
  tenant: Tenant,
  items: readonly Item[],
  cause: unknown,
): Promise<void> {
  const [only] = items;
  if (items.length > 1) {
    for (const item of items) {
      const pause = state.embedder.pauseMs();
      if (pause > 0) await sleep(pause, undefined, { ref: false, signal: state.closing.signal });
      await make(state, tenantId, tenant, [item]);
    }
  } else if (only !== undefined) {
    const { wanted } = only;
    const toolId = wanted.tool.manifest.tool_id;
    wanted.attempts += 1;
    tenant.missing.delete(toolId);
    // At the end of the queue, so that others come first.
    if (wanted.attempts < ATTEMPTS_MAX) tenant.missing.set(toolId, wanted);
    else tenant.failed.set(toolId, wanted.tool.contentHash);
    state.log.warn('tool-not-embedded', { tenantId, toolId, attempt: wanted.attempts, reason: String(cause) });
  }
}

async function embedItems(embedder: CheckedEmbedder, items: readonly Item[]): Promise<readonly KeptVector[]> {
  const vectors = await embedder.embed(
    items.flatMap(({ texts }) => texts),
    EMBED_TIMEOUT_MS,
  );
  let next = 0;
  return items.map(({ texts, contentHash }) => {
    const own = vectors.slice(next, next + texts.length);
    next += texts.length;
    return { contentHash, vector: middleOf(own) };
  });
}

/** Vectors of tools changed or removed meanwhile are dropped. */
async function put(
  state: State,
  tenantId: string,
  tenant: Tenant,
  items: readonly Item[],
  vectors: ReadonlyMap<string, Float32Array>,
): Promise<void> {
  const standing = items.filter((item) => stands(tenant, item));
  const found = standing.flatMap(({ wanted, contentHash }) => {
    const vector = vectors.get(contentHash);
    return vector === undefined ? [] : [{ toolId: wanted.tool.manifest.tool_id, vector }];
  });
  if (found.length === 0) return;
  await state.index.put(tenantId, found);
  for (const item of standing) {
    const { tool_id } = item.wanted.tool.manifest;
    if (stands(tenant, item)) {
      tenant.pending.delete(tool_id);
      tenant.missing.delete(tool_id);
      tenant.indexed.set(tool_id, item.wanted.tool.contentHash);
    } else if (!tenant.pending.has(tool_id) && !tenant.missing.has(tool_id))
      quietly(state, state.index.remove(tenantId, [tool_id]));
  }
}

const stands = (tenant: Tenant, { wanted }: Item): boolean =>
  (tenant.pending.get(wanted.tool.manifest.tool_id) ?? tenant.missing.get(wanted.tool.manifest.tool_id)) === wanted;

async function settled(state: State, tenantId: string, ms: number): Promise<void> {
  const isPending = (): boolean => {
    const tenant = state.tenants.get(tenantId);
    return tenant !== undefined && isWaiting(tenant);
  };
  if (!isPending() || state.running === undefined) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = (): void => {
    if (!isPending() || state.running === undefined) resolve();
  };
  state.idle.add(look);
  const timer = setTimeout(resolve, ms);
  await promise;
  clearTimeout(timer);
  state.idle.delete(look);
}

function notifyIdle({ idle }: State): void {
  for (const look of idle) look();
}

function quietly({ log }: State, work: Promise<void>): void {
  work.catch((cause: unknown) => log.warn('vectors-not-removed', { reason: String(cause) }));
}
