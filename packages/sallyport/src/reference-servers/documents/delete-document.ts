import type {
  DeleteDocumentArguments,
  DeleteDocumentResult,
} from '../../../api/schemas/reference-servers/documents.ts';
import { versionNumber } from './describe.ts';
import { CannotDo, type DocumentParts } from './document-parts.ts';

/**
 * The tool `delete_document`. Every instance is notified before the answer, also where nothing was there to be deleted: an
 * earlier call may have been cut off in between.
 * @throws ToolLayerError E3812 while an instance may still remember what is deleted; ask again
 */
export async function deleteDocument(
  { store, updates }: DocumentParts,
  tenantId: string,
  { document_id: documentId, version: asked }: DeleteDocumentArguments,
): Promise<DeleteDocumentResult> {
  const version = asked === undefined ? undefined : versionNumber(asked);
  if (asked !== undefined && version === undefined) throw new CannotDo(noVersion(documentId, asked));
  const outcome = await store.delete(tenantId, documentId, version);
  if (outcome === 'newest')
    throw new CannotDo(
      `${asked} is the newest version of ${documentId}. Ingest a new version first, or delete the document without a version.`,
    );
  const [left] = version === undefined ? [] : await store.find(tenantId, [documentId]);
  const newest = left === undefined ? '' : String(left.newest);
  await updates.publish({ tenantId, documentId, version: newest, deleted: true });
  if (outcome === 'unknown')
    throw new CannotDo(asked === undefined ? `There is no document ${documentId}.` : noVersion(documentId, asked));
  return { document_id: documentId, versions_deleted: outcome.deleted };
}

const noVersion = (documentId: string, version: string): string =>
  `There is no version ${version} of a document ${documentId}.`;
