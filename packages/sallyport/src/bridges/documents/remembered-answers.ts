import type { Clock } from '@sallyport/std/clock';
import { LRUCache } from 'lru-cache';
import type { GivenDocument } from '../../domain/document/given-document.ts';
import { isObject } from '../../domain/shape/is-object.ts';
import type { Log } from '../../telemetry/log.ts';
import type { CachePlace, DocumentCache, DocumentStatus, RememberedAnswer } from '../document-stores.port.ts';
import type { DocumentUpdate } from '../document-updates.port.ts';
import { documentIn, statusIn } from './server-answer.ts';
import type { DocumentSettings } from './settings.ts';

/** Most tenants whose last change is known by itself. */
const TENANTS_MAX = 10_000;
/** What a remembered document weighs beside its content. */
const ENTRY_BYTES = 1024;

/** Where answers are looked for. */
export interface Place extends CachePlace {
  /** Called when the cache cannot be reached. */
  readonly onCacheDown: (cause: unknown) => void;
}

/** A remembered answer, and whether it may be given without asking the server. */
export interface Remembered<Answer> {
  readonly answer: Answer;
  readonly isFresh: boolean;
}

/** What is remembered, at once where the cache is in this process. */
export type Found<Answer> = Remembered<Answer> | undefined | Promise<Remembered<Answer> | undefined>;

/** Dependencies of what is remembered. */
export interface RememberedParts {
  readonly cache: DocumentCache;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Pick<DocumentSettings, 'contentMs' | 'metadataMs' | 'staleMs' | 'versionBytesMax'>;
}

/**
 * The two tiers (DOC-02): newest versions and statuses for some minutes in a cache that instances may share, and
 * versions, which never change, in this process. What comes from the cache is checked: an entry that is damaged or
 * forged is dropped.
 */
export class RememberedAnswers {
  readonly #parts: RememberedParts;
  readonly #versions: LRUCache<string, GivenDocument>;
  /** Entries that were checked: a cache in this process gives the same object each time. */
  readonly #checked = new WeakSet<RememberedAnswer>();
  /** Time of the last change of any document of a tenant, epoch ms. */
  readonly #changedAt = new Map<string, number>();
  #outdatedBefore = 0;
  /** What was stored before is not given at all: a cache did not drop it. */
  #forgottenBefore = 0;
  /** Number of changes so far: what was asked before one is not remembered after it. */
  #changes = 0;

  constructor(parts: RememberedParts) {
    this.#parts = parts;
    this.#versions = new LRUCache({
      maxSize: Math.max(1, parts.settings.versionBytesMax),
      sizeCalculation: ({ content }) => Buffer.byteLength(content) + ENTRY_BYTES,
    });
  }

  /** Number of changes so far, for `keepNewest`. */
  get changes(): number {
    return this.#changes;
  }

  /** What a reference was answered with, fresh or not. */
  newest(place: Place, ref: string): Found<GivenDocument> {
    const { contentMs: freshMs } = this.#parts.settings;
    return this.#read({ place, key: newestKey(ref), ref, freshMs, check: rememberedDocument });
  }

  /** The status of a document, fresh or not. */
  status(place: Place, documentId: string): Found<DocumentStatus> {
    const { metadataMs: freshMs } = this.#parts.settings;
    return this.#read({ place, key: statusKey(documentId), ref: documentId, freshMs, check: statusIn });
  }

  /** A version that this process has had already. */
  version(place: Place, documentId: string, version: string): GivenDocument | undefined {
    return this.#versions.get(versionKey(place, documentId, version));
  }

  /** @param since the number of changes when it was asked for */
  keepVersion(place: Place, document: GivenDocument, since: number): void {
    if (this.#changes !== since) return;
    const key = versionKey(place, document.document_id, document.version);
    if (!this.#versions.has(key)) this.#versions.set(key, document);
  }

  /** @param since the number of changes when it was asked for */
  async keepNewest(place: Place, ref: string, document: GivenDocument, since: number): Promise<void> {
    this.keepVersion(place, document, since);
    await this.#keep(place, newestKey(ref), { answer: document, freshMs: this.#parts.settings.contentMs }, since);
  }

  async keepStatus(place: Place, status: DocumentStatus, since: number): Promise<void> {
    const { metadataMs: freshMs } = this.#parts.settings;
    await this.#keep(place, statusKey(status.document_id), { answer: status, freshMs }, since);
  }

  /** A document has changed; undefined when nobody knows which, and it may have been deleted. */
  changed(update: DocumentUpdate | undefined): void {
    this.#changes += 1;
    const now = this.#parts.clock.now();
    if (update === undefined || update.deleted === true) this.#forget(now, update?.tenantId);
    if (update === undefined) return;
    if (this.#changedAt.size >= TENANTS_MAX) {
      this.#changedAt.clear();
      this.#outdatedBefore = now;
    }
    this.#changedAt.set(update.tenantId, now);
    this.#parts.cache
      .drop(update.tenantId, [newestKey(update.documentId), statusKey(update.documentId)])
      .catch((cause: unknown) => {
        this.#outdatedBefore = now;
        this.#parts.log.warn('document-cache-unreachable', { cause });
      });
  }

  /** Forgets all of a tenant, or of everybody: which patterns and predecessors a deleted document answered is not known. */
  #forget(now: number, tenantId: string | undefined): void {
    for (const key of [...this.#versions.keys()])
      if (tenantId === undefined || key.startsWith(`${tenantId}\n`)) this.#versions.delete(key);
    this.#parts.cache.clear(tenantId).catch((cause: unknown) => {
      this.#forgottenBefore = now;
      this.#parts.log.warn('document-cache-unreachable', { cause });
    });
  }

  async #keep(
    place: Place,
    key: string,
    { answer, freshMs }: Pick<RememberedAnswer, 'answer'> & Pick<Lookup<unknown>, 'freshMs'>,
    since: number,
  ): Promise<void> {
    if (this.#changes !== since) return;
    const remembered = { answer, storedAt: this.#parts.clock.now() };
    this.#checked.add(remembered);
    await this.#parts.cache
      .put(place, key, remembered, Math.max(freshMs, this.#parts.settings.staleMs))
      .catch((cause: unknown) => place.onCacheDown(cause));
  }

  /** Without a turn of the event loop where the cache is in this process and the entry was checked before. */
  #read<Answer extends RememberedAnswer['answer']>(lookup: Lookup<Answer>): Found<Answer> {
    const { place, key } = lookup;
    const found = this.#parts.cache.get(place, key);
    if (!(found instanceof Promise)) return this.#known(lookup, found);
    return found.then(
      (each) => this.#known(lookup, each),
      (cause: unknown) => {
        place.onCacheDown(cause);
        return undefined;
      },
    );
  }

  #known<Answer extends RememberedAnswer['answer']>(
    lookup: Lookup<Answer>,
    found: RememberedAnswer | undefined,
  ): Found<Answer> {
    if (found === undefined || found.storedAt < this.#forgottenBefore) return undefined;
    if (this.#checked.has(found)) return this.#judged(lookup, found.answer as Answer, found.storedAt);
    return this.#sound(lookup, found).then((answer) =>
      answer === undefined ? undefined : this.#judged(lookup, answer, found.storedAt),
    );
  }

  /** Where another document is the answer, it may not be so any more since any of the tenant's changed. */
  #judged<Answer extends RememberedAnswer['answer']>(
    { place: { tenantId }, ref, freshMs }: Lookup<Answer>,
    answer: Answer,
    storedAt: number,
  ): Remembered<Answer> | undefined {
    // A clock that is ahead, or a forged time, makes nothing fresh for ever.
    const age = Math.abs(this.#parts.clock.now() - storedAt);
    const isCurrent = age < freshMs && storedAt >= this.#outdatedBefore;
    const isFresh = isCurrent && (answer.document_id === ref || storedAt > (this.#changedAt.get(tenantId) ?? 0));
    return isFresh || age < this.#parts.settings.staleMs ? { answer, isFresh } : undefined;
  }

  /** The answer of an entry that was not checked yet; undefined for a damaged one, which is dropped. */
  async #sound<Answer>(
    { place: { tenantId }, key, check }: Lookup<Answer>,
    found: RememberedAnswer,
  ): Promise<Answer | undefined> {
    const { cache, log } = this.#parts;
    try {
      const answer = check(found.answer);
      this.#checked.add(found);
      return answer;
    } catch (cause) {
      log.warn('document-cache-entry-damaged', { key, cause });
      await cache.drop(tenantId, [key]).catch(() => undefined);
      return undefined;
    }
  }
}

/** One look into the cache. */
interface Lookup<Answer> {
  readonly place: Place;
  readonly key: string;
  /** What the answer is about, as it was asked for. */
  readonly ref: string;
  readonly freshMs: number;
  /** Throws for an entry that is damaged. */
  readonly check: (answer: unknown) => Answer;
}

const newestKey = (ref: string): string => `doc:cache:get_source_of_truth:${ref}:latest`;
const statusKey = (documentId: string): string => `doc:cache:get_document_metadata:${documentId}:latest`;
const versionKey = ({ tenantId, scope }: Place, documentId: string, version: string): string =>
  `${tenantId}\n${scope}\ndoc:cache:get_document_version:${documentId}:${version}`;

function rememberedDocument(answer: unknown): GivenDocument {
  if (!isObject(answer) || typeof answer['content_sha256'] !== 'string') throw new Error('an entry has no hash');
  return documentIn(answer);
}
