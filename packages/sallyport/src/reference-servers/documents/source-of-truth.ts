import type {
  GetSourceOfTruthArguments,
  GetSourceOfTruthResult,
  MissingDocument,
} from '../../../api/schemas/reference-servers/documents.ts';
import type { StoredVersion } from '../document-store.port.ts';
import { documentOf, namedDocument, versionNumber } from './describe.ts';
import { CannotDo, type DocumentParts } from './document-parts.ts';
import { findDocuments } from './find-documents.ts';
import { fitting, type Wanted } from './fitting.ts';

/** Documents of a chain of successors that are followed. */
const SUCCESSORS_MAX = 16;
/** Least share of the best document's relevance that makes another one an answer to the same question. */
const COMPARABLE = 0.6;

/** The tool `get_source_of_truth`. */
export async function getSourceOfTruth(
  parts: DocumentParts,
  tenantId: string,
  { query, document_refs: refs = [], version = 'latest', tags }: GetSourceOfTruthArguments,
): Promise<GetSourceOfTruthResult> {
  if (query === undefined && refs.length === 0) throw new CannotDo('Give a query, or document_refs.');
  const asked = [
    ...refs.map((ref) => ({ ref, isRef: true })),
    ...(query === undefined ? [] : [{ ref: query, isRef: false }]),
  ];
  const named = new Map((await exact(parts, tenantId, refs)).map((stored) => [stored.documentId, stored]));
  const missing: MissingDocument[] = [];
  const wanted: Wanted[] = [];
  for (const { ref, isRef } of asked) {
    const { id, version: own = version } = isRef || isName(ref) ? namedDocument(ref) : { id: ref };
    const found = await sourceOf(parts, tenantId, { id, isRef, tags, named });
    if (found === undefined) {
      missing.push({ ref, reason: 'not_found', message: 'No document answers this.' });
      continue;
    }
    const isLatest = own === 'latest' || own === 'pin_latest';
    const stored = isLatest ? await current(parts, tenantId, found) : found;
    wanted.push({ ref, documentId: stored.documentId, version: isLatest ? stored.newest : versionNumber(own) });
  }
  const answer = await fitting(parts, tenantId, wanted, ({ ref }, stored) => ({ ref, ...documentOf(stored) }));
  return { documents: answer.documents, missing: [...missing, ...answer.missing] };
}

/** One look-up for all references that are plain ids. */
const exact = (parts: DocumentParts, tenantId: string, refs: readonly string[]): Promise<readonly StoredVersion[]> =>
  parts.store.find(tenantId, [...new Set(refs.map((ref) => namedDocument(ref).id))]);

const isName = (text: string): boolean => !/\s/.test(text);

interface Asked {
  readonly id: string;
  readonly isRef: boolean;
  readonly tags: readonly string[] | undefined;
  readonly named: ReadonlyMap<string, StoredVersion>;
}

/** By id, by pattern of ids, or by what the document says. */
async function sourceOf(
  parts: DocumentParts,
  tenantId: string,
  { id, isRef, tags, named }: Asked,
): Promise<StoredVersion | undefined> {
  const known = named.get(id) ?? (isRef || !isName(id) ? undefined : (await parts.store.find(tenantId, [id]))[0]);
  if (known !== undefined) return known;
  const filter = { includeDeprecated: false, ...(tags === undefined ? {} : { tags }) };
  if (isName(id) && id.includes('*')) {
    const [active] = await parts.store.matching(tenantId, id, filter, 1);
    if (active !== undefined) return active;
    return (await parts.store.matching(tenantId, id, { ...filter, includeDeprecated: true }, 1))[0];
  }
  if (isRef) return undefined;
  const { found } = await findDocuments(parts, tenantId, id, filter);
  const best = Math.max(0, ...found.map(({ relevance }) => relevance));
  const comparable = found.filter(({ relevance }) => relevance >= best * COMPARABLE);
  return comparable
    .map(({ stored }) => stored)
    .sort((one, other) => other.authority - one.authority || other.storedAt - one.storedAt)[0];
}

/** The document, or the successor of one that is deprecated; the last one that exists. */
async function current(parts: DocumentParts, tenantId: string, from: StoredVersion): Promise<StoredVersion> {
  const seen = new Set([from.documentId]);
  let stored = from;
  while (seen.size <= SUCCESSORS_MAX) {
    const next = stored.deprecation?.successorId;
    if (next === undefined || seen.has(next)) return stored;
    const [successor] = await parts.store.find(tenantId, [next]);
    if (successor === undefined) return stored;
    seen.add(next);
    stored = successor;
  }
  return stored;
}
