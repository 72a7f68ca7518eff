import type {
  FindOverlapsArguments,
  FindOverlapsResult,
  Overlap,
} from '../../../api/schemas/reference-servers/documents.ts';
import type { Shingles, StoredVersion } from '../document-store.port.ts';
import { metadataOf } from './describe.ts';
import { CannotDo, type DocumentParts } from './document-parts.ts';
import { meaningText, passagesOf } from './passages.ts';
import { firstShared, sharedShare, shinglesOf } from './shingles.ts';

/** Documents whose shingles are compared. */
const COMPARED_MAX = 100;
/** Passages of a text whose meaning is compared, spread over it. */
const PASSAGES_MAX = 8;
/** Least overlap that is reported when nobody says another. */
const THRESHOLD = 0.2;
/** From this share on a text counts as the same words. */
const VERBATIM = 0.8;
/** Least similarity by meaning, over all passages, of a text that says the same in other words. */
const PARAPHRASED = 0.9;

/** The tool `find_overlaps`. */
export async function findOverlaps(
  parts: DocumentParts,
  tenantId: string,
  given: FindOverlapsArguments,
): Promise<FindOverlapsResult> {
  const { threshold = THRESHOLD, limit = 10, include_deprecated: includeDeprecated = false } = given;
  const text = await textOf(parts, tenantId, given);
  const [byWords, byMeaning] = await Promise.all([
    sharing(parts, tenantId, text, threshold),
    sameMeaning(parts, tenantId, text),
  ]);
  const stored = await parts.store.find(tenantId, [...new Set([...byWords.keys(), ...byMeaning.keys()])]);
  const chosen = stored
    .filter(({ documentId, deprecation }) => {
      return documentId !== text.documentId && (includeDeprecated || deprecation === undefined);
    })
    .map((each) => ({ each, overlap: byWords.get(each.documentId) ?? 0, similarity: byMeaning.get(each.documentId) }))
    .sort((one, other) => weight(other) - weight(one))
    .slice(0, limit);
  const contents = await parts.store.read(
    tenantId,
    chosen.map(({ each }) => each),
  );
  const contentOf = new Map(contents.map(({ documentId, content }) => [documentId, content]));
  return {
    overlaps: chosen.map(({ each, overlap, similarity }): Overlap => {
      const content = contentOf.get(each.documentId) ?? '';
      return {
        document: metadataOf(each),
        overlap,
        ...(similarity === undefined ? {} : { similarity }),
        kind: overlap >= VERBATIM ? 'verbatim' : overlap >= threshold ? 'edited' : 'paraphrased',
        passage: overlap >= threshold ? firstShared(text.content, passagesOf(content)) : '',
      };
    }),
  };
}

const weight = ({ overlap, similarity = 0 }: { overlap: number; similarity: number | undefined }): number =>
  Math.max(overlap, similarity - PARAPHRASED);

/** A text that is compared with the documents of a tenant. */
interface ComparedText {
  readonly content: string;
  readonly title: string;
  /** Of a document of the tenant. */
  readonly documentId?: string;
  readonly shingles: Shingles;
}

async function textOf(
  { store }: DocumentParts,
  tenantId: string,
  { document_id, content }: FindOverlapsArguments,
): Promise<ComparedText> {
  if ((document_id === undefined) === (content === undefined))
    throw new CannotDo('Give a document_id or content, one of the two.');
  if (content !== undefined) return { content, title: '', shingles: shinglesOf(content) };
  const found = await store.find(tenantId, [document_id ?? '']);
  const [read] = await store.read(tenantId, found);
  if (read === undefined) throw new CannotDo(`There is no document ${document_id}.`);
  const { documentId, title } = read;
  return { content: read.content, title, documentId, shingles: shinglesOf(read.content) };
}

/** By document, the share of the text that it has too, or of it that the text has. */
async function sharing(
  { store }: DocumentParts,
  tenantId: string,
  { shingles, documentId }: ComparedText,
  threshold: number,
): Promise<ReadonlyMap<string, number>> {
  const hits = await store.sharing(tenantId, shingles, COMPARED_MAX, documentId);
  const shares = hits.map((hit) => {
    const { ofFirst, ofSecond } = sharedShare(shingles, hit.shingles);
    return [hit.documentId, Math.max(ofFirst, ofSecond)] as const;
  });
  return new Map(shares.filter(([, share]) => share >= threshold));
}

/** By document, how similar the passages of the text are to its nearest ones, on average. */
async function sameMeaning(
  { meaning }: DocumentParts,
  tenantId: string,
  { content, title }: ComparedText,
): Promise<ReadonlyMap<StoredVersion['documentId'], number>> {
  const all = passagesOf(content);
  const each = Math.max(1, Math.ceil(all.length / PASSAGES_MAX));
  const passages = all.filter((_, at) => at % each === 0);
  const sums = new Map<string, number>();
  for (const passage of meaning === undefined ? [] : passages) {
    const near = await meaning?.near(tenantId, [meaningText(title, passage)], PARAPHRASED - 0.1);
    for (const { documentId, similarity } of near ?? [])
      sums.set(documentId, (sums.get(documentId) ?? 0) + similarity / passages.length);
  }
  return new Map([...sums].filter(([, similarity]) => similarity >= PARAPHRASED));
}
