import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { StoredVersion } from '../document-store.port.ts';
import type { DocumentParts } from './document-parts.ts';

/** Notifies all that remember the document (DOC-02.3). What is stored stays stored when that fails. */
export async function publishUpdate(
  { updates, log }: Pick<DocumentParts, 'updates' | 'log'>,
  tenantId: string,
  { documentId, newest }: StoredVersion,
): Promise<void> {
  try {
    await updates.publish({ tenantId, documentId, version: String(newest) });
  } catch (thrown) {
    log.warn('document-update-not-published', { document_id: documentId, reason: failureOf(thrown).message });
  }
}
