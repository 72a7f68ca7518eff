import type { Pool, PoolClient } from 'pg';
import type { DeleteOutcome } from '../../../reference-servers/document-store.port.ts';
import { keyText } from '../key-text.ts';
import { inTransaction } from '../outcomes/in-transaction.ts';
import { lockDocument } from './put-document.ts';

const KNOWN = 'select newest, passages from sallyport.documents where tenant_id = $1 and document_id = $2';
const DELETE_VERSIONS = `
delete from sallyport.document_versions
where tenant_id = $1 and document_id = $2 and ($3::integer is null or version = $3) returning passages`;
const DELETE = 'delete from sallyport.documents where tenant_id = $1 and document_id = $2';
/** Another text with such a passage gets its vector again when it is missed. */
const DELETE_VECTORS = `
delete from sallyport.embedding_vectors where content_hash = any($1::text[]) and content_hash <> all($2::text[])`;
/** Polled by other instances, so it is part of the deletion: their memory of the document must not outlive it (DOC-02). */
const COUNT = 'update sallyport.document_updates set deletions = deletions + 1';

/** Deletes a document, or a version of it, with the vectors of its passages, and counts the deletion. */
export const deleteDocument = (
  pool: Pool,
  tenantId: string,
  documentId: string,
  version: number | undefined,
): Promise<DeleteOutcome> =>
  inTransaction(pool, (client) => remove(client, [keyText(tenantId), keyText(documentId)], version));

async function remove(client: PoolClient, key: readonly string[], version?: number): Promise<DeleteOutcome> {
  await lockDocument(client, key);
  const { rows } = await client.query<{ newest: number; passages: string[] }>(KNOWN, [...key]);
  const [known] = rows;
  if (known === undefined) return 'unknown';
  if (version === known.newest) return 'newest';
  const gone = await client.query<{ passages: string[] }>(DELETE_VERSIONS, [...key, version ?? null]);
  if (gone.rows.length === 0) return 'unknown';
  if (version === undefined) await client.query(DELETE, [...key]);
  const passages = gone.rows.flatMap((each) => each.passages);
  const [dropped, kept] = version === undefined ? [[...passages, ...known.passages], []] : [passages, known.passages];
  await client.query(DELETE_VECTORS, [dropped, kept]);
  await client.query(COUNT);
  return { deleted: gone.rows.length };
}
