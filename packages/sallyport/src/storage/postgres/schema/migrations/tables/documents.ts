/**
 * Documents of the reference document server, with what finds their newest version: words, a sample of shingles, and the
 * hashes of passages, whose vectors are in embedding_vectors.
 */
const DOCUMENTS = `
create table sallyport.documents (
  tenant_id text collate "C" not null,
  document_id text collate "C" not null,
  title text not null,
  tags text[] not null,
  authority smallint not null,
  source text,
  deprecation json,
  newest integer not null,
  words tsvector not null,
  shingle_step integer not null,
  shingles integer[] not null,
  passages text[] not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, document_id)
);
create index documents_words on sallyport.documents using gin (words);
create index documents_shingles on sallyport.documents using gin (shingles);`;

/** Contents of documents, and the passages that they had when they were stored. A row never changes. */
const DOCUMENT_VERSIONS = `
create table sallyport.document_versions (
  tenant_id text collate "C" not null,
  document_id text collate "C" not null,
  version integer not null,
  content_type text not null,
  content_sha256 text not null,
  content_bytes integer not null,
  content text not null,
  passages text[] not null,
  stored_at timestamptz not null,
  stored_by json not null,
  primary key (tenant_id, document_id, version)
);`;

/** The number of deletions of documents so far, which instances poll (DOC-02). */
const DOCUMENT_UPDATES = `
create table sallyport.document_updates (
  only_row boolean primary key default true check (only_row),
  deletions bigint not null
);
insert into sallyport.document_updates (deletions) values (0);`;

/** What the reference document server keeps. */
export const DOCUMENT_TABLES: readonly string[] = [DOCUMENTS, DOCUMENT_VERSIONS, DOCUMENT_UPDATES];
