import type { Pool, PoolClient } from 'pg';
import type { NewDocument, PutOutcome, PutTerms } from '../../../reference-servers/document-store.port.ts';
import { keyText, shownText } from '../key-text.ts';
import { inTransaction } from '../outcomes/in-transaction.ts';

/** Most characters of a content whose words are indexed: a tsvector holds less than 1 MiB. */
const INDEXED_CHARS_MAX = 500_000;

const NEWEST = `
select newest, content_sha256 from sallyport.documents join sallyport.document_versions using (tenant_id, document_id)
where tenant_id = $1 and document_id = $2 and version = newest`;

const LOCK = 'select pg_advisory_xact_lock(hashtextextended($1, 0))';

/** No two writers begin, change or delete the same document. */
export const lockDocument = (client: PoolClient, key: readonly string[]): Promise<unknown> =>
  client.query(LOCK, [JSON.stringify(['document', ...key])]);

const ADD_VERSION = `
insert into sallyport.document_versions
  (tenant_id, document_id, version, content_type, content_sha256, content_bytes, content, passages, stored_at, stored_by)
values ($1, $2, $3, $4, $5, $6, $7, $8, to_timestamp($9::double precision / 1000), $10)`;

const WORDS = `setweight(to_tsvector('english', $3), 'A') || setweight(to_tsvector('english', $9), 'B')
  || setweight(to_tsvector('english', $10), 'D')`;

const PUT = `
insert into sallyport.documents as known
  (tenant_id, document_id, title, tags, authority, source, newest, shingle_step, shingles, passages, words,
  created_at, updated_at)
values ($1, $2, $3::text, $4::text[], $5, $6, $7, $11, $12::integer[], $13::text[], ${WORDS},
  to_timestamp($8::double precision / 1000), to_timestamp($8::double precision / 1000))
on conflict (tenant_id, document_id) do update set
  title = excluded.title, tags = excluded.tags, authority = excluded.authority, source = excluded.source,
  newest = excluded.newest, words = excluded.words, shingle_step = excluded.shingle_step, shingles = excluded.shingles,
  passages = excluded.passages, updated_at = excluded.updated_at,
  deprecation = case when known.newest = excluded.newest then known.deprecation end`;

/** Stores a document in one transaction. */
export const putDocument = (
  pool: Pool,
  tenantId: string,
  document: NewDocument,
  terms: PutTerms,
): Promise<PutOutcome['outcome']> => inTransaction(pool, (client) => put(client, tenantId, document, terms));

async function put(
  client: PoolClient,
  tenantId: string,
  document: NewDocument,
  { expected, mustBeNew, documentsMax, versionsMax }: PutTerms,
): Promise<PutOutcome['outcome']> {
  const key = [keyText(tenantId), keyText(document.documentId)];
  await lockDocument(client, key);
  const { rows } = await client.query<{ newest: number; content_sha256: string }>(NEWEST, key);
  const newest = rows[0]?.newest ?? 0;
  const isSame = rows[0]?.content_sha256 === document.sha256;
  if (!isSame && ((mustBeNew && newest > 0) || (expected !== undefined && expected !== newest))) return 'conflict';
  const isFull = newest === 0 ? await hasDocuments(client, tenantId, documentsMax) : !isSame && newest >= versionsMax;
  if (isFull) return 'full';
  const version = isSame ? newest : newest + 1;
  if (!isSame) {
    const { contentType, sha256, content, passages, at, by } = document;
    const facts = [contentType, sha256, Buffer.byteLength(content), content, passages, at, JSON.stringify(by)];
    await client.query(ADD_VERSION, [...key, version, ...facts]);
  }
  await client.query(PUT, [...key, ...valuesOf(document, version)]);
  return isSame ? 'unchanged' : newest === 0 ? 'created' : 'new_version';
}

/** Writers of other documents of the tenant are not waited for, so a few documents more than the bound may be stored. */
async function hasDocuments(client: PoolClient, tenantId: string, count: number): Promise<boolean> {
  const text = 'select from sallyport.documents where tenant_id = $1 offset $2 limit 1';
  const { rowCount } = await client.query(text, [keyText(tenantId), count - 1]);
  return rowCount !== 0;
}

/** From the third parameter of `PUT` on. */
function valuesOf({ title, tags, authority, source, at, ...rest }: NewDocument, version: number): readonly unknown[] {
  const { content, shingles, passages } = rest;
  return [
    shownText(title),
    tags.map(shownText),
    authority,
    source === undefined ? null : shownText(source),
    version,
    at,
    shownText(tags.join(' ')),
    content.slice(0, INDEXED_CHARS_MAX).toWellFormed(),
    shingles.step,
    shingles.hashes,
    passages,
  ];
}
