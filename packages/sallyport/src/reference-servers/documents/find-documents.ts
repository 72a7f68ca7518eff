import type {
  SearchDocumentsArguments,
  SearchDocumentsResult,
} from '../../../api/schemas/reference-servers/documents.ts';
import type { DocumentFilter, StoredVersion } from '../document-store.port.ts';
import { metadataOf } from './describe.ts';
import type { DocumentParts } from './document-parts.ts';
import { passagesOf } from './passages.ts';
import { comparedWords } from './shingles.ts';

/** Documents that each way of searching may bring. */
const FOUND_MAX = 100;
/** Least similarity of what is found by meaning alone: that of related texts. */
const SIMILARITY_MIN = 0.7;
/** Weakens the first ranks of each way, so that both count (reciprocal rank fusion, Cormack et al. 2009). */
const RANK_OFFSET = 60;
const SNIPPET_CHARS = 500;

/** A document that was found. */
export interface FoundDocument {
  readonly stored: StoredVersion;
  /** By the ranks of both ways. */
  readonly score: number;
  /** 0 to 1, of the words beside those of the best document, or by meaning, whichever is more. */
  readonly relevance: number;
  /** Index of the passage that is nearest by meaning; undefined for one that was found by words. */
  readonly passage?: number;
}

/** What was found, best first, and whether meaning counted. */
export interface FoundDocuments {
  readonly found: readonly FoundDocument[];
  readonly mode: SearchDocumentsResult['mode'];
}

/** Finds documents by words and by meaning. */
export async function findDocuments(
  { store, meaning }: DocumentParts,
  tenantId: string,
  query: string,
  filter: DocumentFilter,
): Promise<FoundDocuments> {
  const [byWords, byMeaning] = await Promise.all([
    store.withWords(tenantId, query, filter, FOUND_MAX),
    meaning?.near(tenantId, [query], SIMILARITY_MIN),
  ]);
  const near = (byMeaning ?? []).slice(0, FOUND_MAX);
  const words = new Map(byWords.map((hit, rank) => [hit.documentId, { ...hit, rank }]));
  const meanings = new Map(near.map((hit, rank) => [hit.documentId, { ...hit, rank }]));
  const best = byWords[0]?.score ?? 1;
  const stored = await store.find(tenantId, [...new Set([...words.keys(), ...meanings.keys()])]);
  const found = stored
    .filter((each) => passes(each, filter))
    .map((each): FoundDocument => {
      const [word, mean] = [words.get(each.documentId), meanings.get(each.documentId)];
      const shareOf = (hit: { readonly rank: number } | undefined): number =>
        hit === undefined ? 0 : 1 / (RANK_OFFSET + hit.rank);
      return {
        stored: each,
        score: shareOf(word) + shareOf(mean),
        relevance: Math.max((word?.score ?? 0) / best, mean?.similarity ?? 0),
        ...(mean === undefined ? {} : { passage: mean.passage }),
      };
    })
    .sort((one, other) => other.score - one.score || other.stored.authority - one.stored.authority);
  return { found, mode: byMeaning === undefined ? 'keyword' : 'hybrid' };
}

/** What is found by meaning was not filtered yet. */
function passes(stored: StoredVersion, { tags = [], authorityMin = 0, includeDeprecated }: DocumentFilter): boolean {
  if (stored.authority < authorityMin || (stored.deprecation !== undefined && !includeDeprecated)) return false;
  return tags.every((tag) => stored.tags.includes(tag));
}

/** The tool `search_documents`. */
export async function searchDocuments(
  parts: DocumentParts,
  tenantId: string,
  { query, limit = 10, tags, authority_min: authorityMin, include_deprecated = false }: SearchDocumentsArguments,
): Promise<SearchDocumentsResult> {
  const filter = {
    includeDeprecated: include_deprecated,
    ...(tags === undefined ? {} : { tags }),
    ...(authorityMin === undefined ? {} : { authorityMin }),
  };
  const { found, mode } = await findDocuments(parts, tenantId, query, filter);
  const shown = found.slice(0, limit);
  const contents = await parts.store.read(
    tenantId,
    shown.map(({ stored }) => stored),
  );
  const contentOf = new Map(contents.map(({ documentId, content }) => [documentId, content]));
  const results = shown.map(({ stored, score, passage }) => ({
    document: metadataOf(stored),
    score,
    snippet: snippetOf(contentOf.get(stored.documentId) ?? '', query, passage),
  }));
  return { results, mode };
}

/** The passage with the most different words of the query, else the one that is nearest by meaning. */
function snippetOf(content: string, query: string, near: number | undefined): string {
  const passages = passagesOf(content);
  const words = [...new Set(comparedWords(query))].filter((word) => word.length > 2);
  const counts = passages.map((passage) => {
    const own = new Set(comparedWords(passage));
    return words.filter((word) => own.has(word)).length;
  });
  const most = Math.max(0, ...counts);
  const chosen = most > 0 ? counts.indexOf(most) : (near ?? 0);
  return (passages[chosen] ?? '').slice(0, SNIPPET_CHARS).toWellFormed();
}
