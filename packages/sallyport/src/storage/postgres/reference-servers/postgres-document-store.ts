import type { Pool, QueryResultRow } from 'pg';
import type {
  Deprecation,
  DocumentFilter,
  DocumentStore,
  Passages,
  ShingleHit,
  StoredVersion,
  VersionWithContent,
  WordHit,
} from '../../../reference-servers/document-store.port.ts';
import { inDatabase } from '../database-error.ts';
import { keyOfText, keyText, shownText } from '../key-text.ts';
import { deleteDocument } from './delete-document.ts';
import { putDocument } from './put-document.ts';

/** Columns of a version together with its document. */
const FACTS = `document_id, title, tags, authority, source, deprecation, newest,
  extract(epoch from created_at) * 1000 as created_ms,
  version, content_type, content_sha256, content_bytes, extract(epoch from stored_at) * 1000 as stored_ms`;

/** The newest versions. */
const NEWEST = `sallyport.documents join sallyport.document_versions using (tenant_id, document_id)
  where tenant_id = $1 and version = newest`;

/** The third to fifth parameter are the `filterValues`. */
const FILTERED = 'tags @> $3::text[] and authority >= $4 and ($5 or deprecation is null)';

const filterValues = ({ tags = [], authorityMin = 0, includeDeprecated }: DocumentFilter): readonly unknown[] => [
  tags.map(shownText),
  authorityMin,
  includeDeprecated,
];

/**
 * Any of the words finds a document. Rows are ranked by the number of places of the words, the title's counting most, in
 * proportion to the length of the document.
 */
const WITH_WORDS = {
  name: 'sallyport-documents-with-words',
  text: `
with wanted as (select replace(plainto_tsquery('english', $2)::text, ' & ', ' | ')::tsquery as query)
select document_id, ts_rank('{0.1, 0.2, 0.4, 1.0}', words, query, 1) as score
from sallyport.documents, wanted
where tenant_id = $1 and words @@ query and ${FILTERED}
order by score desc, document_id limit $6`,
};

/** Documents with the most hashes of a sample. Hashes that `step` does not divide are in no sample of a larger one. */
const SHARING = `
select document_id, shingle_step, shingles from sallyport.documents
where tenant_id = $1 and shingles && $2::integer[] and document_id <> $3
order by (select count(*) from unnest(shingles) as hash where hash = any($2::integer[])) desc, document_id limit $4`;

/** @returns the row as it is named, for `Row` of the same columns */
interface FactsRow extends QueryResultRow {
  readonly document_id: string;
  readonly title: string;
  readonly tags: string[];
  readonly authority: number;
  readonly source: string | null;
  readonly deprecation: Deprecation | null;
  readonly newest: number;
  readonly created_ms: string;
  readonly version: number;
  readonly content_type: string;
  readonly content_sha256: string;
  readonly content_bytes: number;
  readonly stored_ms: string;
}

/** Documents in PostgreSQL (DOC-01). */
export function postgresDocumentStore(pool: Pool): DocumentStore {
  const rows = rowsOf(pool);
  return {
    ...searchIn(pool),
    put: (tenantId, document, terms) =>
      inDatabase('store the document', async () => {
        const outcome = await putDocument(pool, tenantId, document, terms);
        const [stored] = await findIn(pool, tenantId, [document.documentId]);
        return { outcome, stored };
      }),
    find: (tenantId, documentIds) => inDatabase('find documents', () => findIn(pool, tenantId, documentIds)),
    async read(tenantId, versions) {
      const found = await rows<FactsRow & { readonly content: string }>(
        'read documents',
        `select ${FACTS}, content
        from sallyport.documents join sallyport.document_versions using (tenant_id, document_id)
        where tenant_id = $1 and (document_id, version) in (select * from unnest($2::text[], $3::integer[]))`,
        [keyText(tenantId), versions.map((each) => keyText(each.documentId)), versions.map((each) => each.version)],
      );
      return found.map((row): VersionWithContent => ({ ...versionOf(row), content: row.content }));
    },
    async sizes(tenantId, versions) {
      const found = await rows<{ document_id: string; version: number; content_bytes: number }>(
        'read documents',
        `select document_id, version, content_bytes from sallyport.document_versions
        where tenant_id = $1 and (document_id, version) in (select * from unnest($2::text[], $3::integer[]))`,
        [keyText(tenantId), versions.map((each) => keyText(each.documentId)), versions.map((each) => each.version)],
      );
      return found.map(({ document_id, version, content_bytes }) => {
        return { documentId: keyOfText(document_id), version, bytes: content_bytes };
      });
    },
    deprecate: (tenantId, documentId, deprecation) =>
      inDatabase('deprecate the document', async () => {
        await pool.query('update sallyport.documents set deprecation = $3 where tenant_id = $1 and document_id = $2', [
          keyText(tenantId),
          keyText(documentId),
          JSON.stringify(deprecation),
        ]);
        return (await findIn(pool, tenantId, [documentId]))[0];
      }),
    delete: (tenantId, documentId, version) =>
      inDatabase('delete the document', () => deleteDocument(pool, tenantId, documentId, version)),
    async passages(tenantId, after, limit) {
      const text = `select document_id, newest, passages from sallyport.documents
        where tenant_id = $1 and document_id > $2 order by document_id limit $3`;
      return (await rows<PassagesRow>('list passages', text, [keyText(tenantId), keyText(after), limit])).map(
        passagesIn,
      );
    },
    async passagesOf(tenantId, documentIds) {
      const text = `select document_id, newest, passages from sallyport.documents
        where tenant_id = $1 and document_id = any($2::text[])`;
      const values = [keyText(tenantId), documentIds.map(keyText)];
      return (await rows<PassagesRow>('list passages', text, values)).map(passagesIn);
    },
  };
}

/** Runs statements. */
const rowsOf =
  (pool: Pool) =>
  <Row extends QueryResultRow>(what: string, text: string, values: readonly unknown[]): Promise<Row[]> =>
    inDatabase(what, async () => (await pool.query<Row>(text, [...values])).rows);

function searchIn(pool: Pool): Pick<DocumentStore, 'matching' | 'withWords' | 'sharing'> {
  const rows = rowsOf(pool);
  return {
    async matching(tenantId, pattern, filter, limit) {
      const like = keyText(pattern)
        .replace(/[\\%_]/g, '\\$&')
        .replaceAll('*', '%');
      const values = [keyText(tenantId), like, ...filterValues(filter), limit];
      const text = `select ${FACTS} from ${NEWEST} and document_id like $2 and ${FILTERED}
        order by authority desc, stored_at desc, document_id limit $6`;
      return (await rows<FactsRow>('find documents', text, values)).map(versionOf);
    },
    async withWords(tenantId, text, filter, limit) {
      const values = [keyText(tenantId), shownText(text), ...filterValues(filter), limit];
      const { rows: found } = await inDatabase('search documents', () =>
        pool.query<{ document_id: string; score: number }>({ ...WITH_WORDS, values }),
      );
      return found.map(({ document_id, score }): WordHit => ({ documentId: keyOfText(document_id), score }));
    },
    async sharing(tenantId, { hashes }, limit, except = '') {
      const values = [keyText(tenantId), hashes, keyText(except), limit];
      const found = await rows<{ document_id: string; shingle_step: number; shingles: number[] }>(
        'compare documents',
        SHARING,
        values,
      );
      return found.map(({ document_id, shingle_step, shingles }): ShingleHit => {
        return { documentId: keyOfText(document_id), shingles: { step: shingle_step, hashes: shingles } };
      });
    },
  };
}

interface PassagesRow extends QueryResultRow {
  readonly document_id: string;
  readonly newest: number;
  readonly passages: string[];
}

const passagesIn = ({ document_id, newest, passages }: PassagesRow): Passages => ({
  documentId: keyOfText(document_id),
  version: newest,
  hashes: passages,
});

async function findIn(
  pool: Pick<Pool, 'query'>,
  tenantId: string,
  documentIds: readonly string[],
): Promise<readonly StoredVersion[]> {
  const values = [keyText(tenantId), documentIds.map(keyText)];
  const { rows } = await pool.query<FactsRow>(
    `select ${FACTS} from ${NEWEST} and document_id = any($2::text[])`,
    values,
  );
  return rows.map(versionOf);
}

const versionOf = (row: FactsRow): StoredVersion => ({
  documentId: keyOfText(row.document_id),
  title: row.title,
  tags: row.tags,
  authority: row.authority,
  ...(row.source === null ? {} : { source: row.source }),
  ...(row.deprecation === null ? {} : { deprecation: row.deprecation }),
  newest: row.newest,
  createdAt: Number(row.created_ms),
  version: row.version,
  contentType: row.content_type as StoredVersion['contentType'],
  sha256: row.content_sha256,
  bytes: row.content_bytes,
  storedAt: Number(row.stored_ms),
});
