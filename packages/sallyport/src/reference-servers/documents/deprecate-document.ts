import type {
  DeprecateDocumentArguments,
  DeprecateDocumentResult,
} from '../../../api/schemas/reference-servers/documents.ts';
import { metadataOf } from './describe.ts';
import { CannotDo, type DocumentParts } from './document-parts.ts';
import { publishUpdate } from './publish-update.ts';

/** The tool `deprecate_document`. From then on its successor is the source of truth. */
export async function deprecateDocument(
  parts: DocumentParts,
  tenantId: string,
  { document_id: documentId, reason, successor_id: successorId }: DeprecateDocumentArguments,
): Promise<DeprecateDocumentResult> {
  if (successorId === documentId) throw new CannotDo('A document is not its own successor.');
  if (successorId !== undefined) {
    const [successor] = await parts.store.find(tenantId, [successorId]);
    if (successor === undefined) throw new CannotDo(`There is no document ${successorId}. Ingest it first.`);
    if (successor.deprecation !== undefined)
      throw new CannotDo(`${successorId} is deprecated itself. Name a document that is not.`);
  }
  const at = parts.clock.now();
  const deprecation = { reason: reason.toWellFormed(), at, ...(successorId === undefined ? {} : { successorId }) };
  const stored = await parts.store.deprecate(tenantId, documentId, deprecation);
  if (stored === undefined) throw new CannotDo(`There is no document ${documentId}.`);
  await publishUpdate(parts, tenantId, stored);
  return { document: metadataOf(stored) };
}
