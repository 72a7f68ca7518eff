import type { Clock } from '@sallyport/std/clock';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { Embedder } from '../../registry/embedder.port.ts';
import { type CheckedEmbedder, checkedEmbedder, type Similarity, similarityOf } from '../../registry/tool-search.ts';
import type { VectorIndex, VectorStore } from '../../registry/vectors.port.ts';
import type { Log } from '../../telemetry/log.ts';
import type { DocumentStore, Passages } from '../document-store.port.ts';
import { meaningText, passagesOf } from './passages.ts';

/** Bounds of the search by meaning. */
const MEANING_BOUNDS = {
  /** Documents whose passages are read from the store at once. */
  page: 200,
  /** Passages that are embedded at once. */
  batch: 16,
  /** Passages of one tenant; those beyond are found by their words alone. */
  passagesMax: 100_000,
  /** Tenants whose passages are kept in this process; those of the one that came first give way. */
  tenantsMax: 32,
  /** Longest time for a query, in ms; a search waits less. Covers the start of a local model on a busy machine. */
  queryMs: 30_000,
  /** How long a search waits for its query, in ms; after that only words count. */
  queryPatienceMs: 5_000,
  /** Longest time for a batch, in ms. */
  batchMs: 60_000,
  /** How long a search waits for passages that are being read, in ms. */
  patienceMs: 1_500,
} as const;

/** The passage of a document that is nearest to a text. */
export interface NearPassage {
  readonly documentId: string;
  /** Index among the passages of the newest version. */
  readonly passage: number;
  /** By meaning, 0 to 1; 0.7 parts what is related from what is not. */
  readonly similarity: number;
}

/** Finds documents by what they mean. */
export interface Meaning extends AsyncDisposable {
  /**
   * The nearest passage of each document, best first. Documents that were not embedded yet are not found.
   * @returns undefined when the embedder cannot be asked
   */
  near(tenantId: string, texts: readonly string[], similarityMin: number): Promise<readonly NearPassage[] | undefined>;
  /** A document changed; undefined: any may have. */
  changed(tenantId: string | undefined, documentId?: string): void;
}

/** Dependencies of the search by meaning. */
export interface MeaningParts {
  readonly store: Pick<DocumentStore, 'passages' | 'passagesOf' | 'read'>;
  /** Closed by who opened it. */
  readonly embedder: Embedder;
  readonly index: VectorIndex;
  readonly vectors: VectorStore;
  readonly clock: Clock;
  readonly log: Log;
}

/** The passages of one tenant that are in the index. */
interface Tenant {
  /** Number of passages by document. */
  readonly counts: Map<string, number>;
  passages: number;
  /** Documents to be read again. */
  readonly changed: Set<string>;
  /** Whether all documents were read once. */
  isLoaded: boolean;
  working: Promise<void> | undefined;
}

/** Nothing is read or embedded until a tenant searches. */
export function createMeaning(parts: MeaningParts): Meaning {
  const { embedder: adapter, clock, log, index } = parts;
  const embedder = checkedEmbedder({ embedder: kept(adapter), clock, log });
  const tenants = new Map<string, Tenant>();
  const closing = new AbortController();
  const state: State = { ...parts, checked: embedder, closing: closing.signal };
  return {
    async near(tenantId, texts, similarityMin) {
      try {
        const traits = await embedder.traits();
        await index.open(embedder.model, traits.dimensions);
        // First the query: the embedder takes texts in turn, and there may be many passages.
        const queries = await within(MEANING_BOUNDS.queryPatienceMs, embedder.embed(texts, MEANING_BOUNDS.queryMs));
        if (queries === undefined) return undefined;
        await within(MEANING_BOUNDS.patienceMs, work(state, tenantId, tenantOf(state, tenants, tenantId)));
        return await nearest(state, tenantId, queries, similarityOf(traits), similarityMin);
      } catch (thrown) {
        log.debug('documents-not-searched-by-meaning', { reason: failureOf(thrown).message });
        return undefined;
      }
    },
    changed(tenantId, documentId) {
      if (tenantId === undefined) {
        for (const tenant of tenants.values()) tenant.isLoaded = false;
      } else if (documentId !== undefined) {
        tenants.get(tenantId)?.changed.add(documentId);
      }
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      await embedder.close();
      await Promise.all([...tenants.values()].map(({ working }) => working));
    },
  };
}

/** The same embedder, which is not closed with the search. */
const kept = (adapter: Embedder): Embedder => ({
  model: adapter.model,
  textsMax: adapter.textsMax,
  textCharactersMax: adapter.textCharactersMax,
  ...(adapter.traits === undefined ? {} : { traits: adapter.traits }),
  embed: (texts, signal) => adapter.embed(texts, signal),
  close: async () => {},
});

interface State extends MeaningParts {
  readonly checked: CheckedEmbedder;
  readonly closing: AbortSignal;
}

function tenantOf({ index }: State, tenants: Map<string, Tenant>, tenantId: string): Tenant {
  const known = tenants.get(tenantId);
  if (known !== undefined) return known;
  const [first] = tenants;
  if (first !== undefined && tenants.size >= MEANING_BOUNDS.tenantsMax) {
    tenants.delete(first[0]);
    const ids = [...first[1].counts].flatMap(([documentId, count]) => idsOf(documentId, count));
    void index.remove(first[0], ids);
  }
  const fresh: Tenant = { counts: new Map(), passages: 0, changed: new Set(), isLoaded: false, working: undefined };
  tenants.set(tenantId, fresh);
  return fresh;
}

const idsOf = (documentId: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${documentId}\n${at}`);

/** The result of the work; undefined after that time, and then the work continues without anybody who waits for it. */
async function within<Result>(ms: number, working: Promise<Result>): Promise<Result | undefined> {
  const { promise: over, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ms);
  working.catch(() => undefined);
  try {
    return await Promise.race([working, over]);
  } finally {
    clearTimeout(timer);
  }
}

/** Reads what is not read yet; one worker for a tenant. */
function work(state: State, tenantId: string, tenant: Tenant): Promise<void> {
  tenant.working ??= readAll(state, tenantId, tenant)
    .catch((thrown: unknown) => state.log.warn('documents-not-embedded', { reason: failureOf(thrown).message }))
    .finally(() => {
      tenant.working = undefined;
    });
  return tenant.working;
}

async function readAll(state: State, tenantId: string, tenant: Tenant): Promise<void> {
  const { store, closing } = state;
  if (!tenant.isLoaded) {
    const gone = new Set(tenant.counts.keys());
    let after = '';
    for (;;) {
      const page = await store.passages(tenantId, after, MEANING_BOUNDS.page);
      if (page.length === 0 || closing.aborted) break;
      await take(state, tenantId, tenant, page);
      for (const { documentId } of page) gone.delete(documentId);
      after = page.at(-1)?.documentId ?? '';
    }
    for (const documentId of gone) tenant.changed.add(documentId);
    tenant.isLoaded = true;
  }
  while (tenant.changed.size > 0 && !closing.aborted) {
    const some = [...tenant.changed].slice(0, MEANING_BOUNDS.page);
    for (const documentId of some) tenant.changed.delete(documentId);
    const found = new Map((await store.passagesOf(tenantId, some)).map((each) => [each.documentId, each]));
    // One that is gone has no passages.
    const page = some.map((documentId) => found.get(documentId) ?? { documentId, version: 0, hashes: [] });
    await take(state, tenantId, tenant, page);
  }
}

/** A passage without a vector. */
interface Missing {
  readonly documentId: string;
  readonly version: number;
  readonly at: number;
  readonly hash: string;
}

async function take(state: State, tenantId: string, tenant: Tenant, page: readonly Passages[]): Promise<void> {
  const { vectors, checked, index } = state;
  const { dimensions } = await checked.traits();
  const hashes = [...new Set(page.flatMap((each) => each.hashes))];
  const kept = new Map(
    (await vectors.get(checked.model, dimensions, hashes)).map((each) => [each.contentHash, each.vector]),
  );
  const missing: Missing[] = [];
  for (const { documentId, version, hashes: own } of page) {
    await index.remove(tenantId, idsOf(documentId, tenant.counts.get(documentId) ?? 0));
    tenant.passages += own.length - (tenant.counts.get(documentId) ?? 0);
    tenant.counts.set(documentId, own.length);
    if (tenant.passages > MEANING_BOUNDS.passagesMax) continue;
    const known = own.flatMap((hash, at) => {
      const vector = kept.get(hash);
      if (vector === undefined) missing.push({ documentId, version, at, hash });
      return vector === undefined ? [] : [{ toolId: `${documentId}\n${at}`, vector }];
    });
    await index.put(tenantId, known);
  }
  for (let at = 0; at < missing.length && !state.closing.aborted; at += MEANING_BOUNDS.batch)
    await embedMissing(state, tenantId, missing.slice(at, at + MEANING_BOUNDS.batch));
}

async function embedMissing(state: State, tenantId: string, missing: readonly Missing[]): Promise<void> {
  const { store, checked, vectors, index } = state;
  const versions = new Map(missing.map((each) => [each.documentId, each]));
  const read = await store.read(tenantId, [...versions.values()]);
  const texts = new Map(
    read.map(({ documentId, title, content }) => [
      documentId,
      passagesOf(content).map((passage) => meaningText(title, passage)),
    ]),
  );
  const wanted = missing.flatMap((each) => {
    const text = texts.get(each.documentId)?.[each.at];
    return text === undefined ? [] : [{ ...each, text }];
  });
  const made = await checked.embed(
    wanted.map(({ text }) => text),
    MEANING_BOUNDS.batchMs,
  );
  const both = wanted.map((each, at) => ({ ...each, vector: made[at] as Float32Array }));
  await vectors.put(
    checked.model,
    both.map(({ hash, vector }) => ({ contentHash: hash, vector })),
  );
  await index.put(
    tenantId,
    both.map(({ documentId, at, vector }) => ({ toolId: `${documentId}\n${at}`, vector })),
  );
}

/** Passages that are looked at for the documents nearest to a text. */
const NEAREST_MAX = 400;

async function nearest(
  { index }: State,
  tenantId: string,
  queries: readonly Float32Array[],
  similarity: Similarity,
  similarityMin: number,
): Promise<readonly NearPassage[]> {
  const cosineMin = similarity.cosineOf(similarityMin);
  const found = await index.search(tenantId, { queries, cosineMin, toolsMax: NEAREST_MAX, also: [] });
  const best = new Map<string, NearPassage>();
  for (const [id, cosine] of [...found].sort(([, one], [, other]) => other - one)) {
    const [documentId = '', at = '0'] = id.split('\n');
    if (!best.has(documentId))
      best.set(documentId, { documentId, passage: Number(at), similarity: similarity.of(cosine) });
  }
  return [...best.values()];
}
