import { type Static, type TSchema, Type } from 'typebox';
import { Timestamp } from '../identifiers.ts';

/** Schemas of the tools of a document server (DOC-01): arguments, and results as `structuredContent`. */

/** Most documents that one request names. */
const BATCH_MAX = 256;

export const DocumentId = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$',
  description: 'Id of a document, for example spec:requirements-v1.',
});

export const DocumentVersion = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$',
  description: 'Version of a document, for example 3. A version never changes.',
});

const Title = Type.String({ minLength: 1, maxLength: 500 });

const Tags = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 32, uniqueItems: true });

const Authority = Type.Integer({
  minimum: 0,
  maximum: 100,
  description: 'Of two documents on one subject, the one of higher authority is the source of truth.',
});

/** What can be ingested. PDF and Word are read in a sandbox. */
export const DocumentContentType = Type.Enum([
  'text/markdown',
  'text/plain',
  'text/html',
  'application/pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
]);
export type DocumentContentType = Static<typeof DocumentContentType>;

const METADATA = {
  document_id: DocumentId,
  uri: Type.String({ description: 'document://<document_id>, the resource of the newest version.' }),
  title: Title,
  version: DocumentVersion,
  is_latest: Type.Boolean({ description: 'Whether the document has no newer version.' }),
  content_type: Type.Unsafe<DocumentContentType>({ ...DocumentContentType, description: 'Of what was ingested.' }),
  content_sha256: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the content as UTF-8.' }),
  size_bytes: Type.Integer({ minimum: 0, description: 'Length of the content as UTF-8.' }),
  tags: Tags,
  authority: Authority,
  source: Type.Optional(Type.String({ maxLength: 2_048, description: 'Where it came from, as who ingested it says.' })),
  status: Type.Enum(['active', 'deprecated']),
  deprecation: Type.Optional(
    Type.Object(
      {
        reason: Type.String(),
        successor_id: Type.Optional(DocumentId),
        deprecated_at: Timestamp,
      },
      { additionalProperties: false },
    ),
  ),
  created_at: Type.Unsafe<string>({ ...Timestamp, description: 'Of its first version.' }),
  updated_at: Type.Unsafe<string>({ ...Timestamp, description: 'Of this version.' }),
} as const;

export const DocumentMetadata = Type.Object(METADATA, { additionalProperties: false });
export type DocumentMetadata = Static<typeof DocumentMetadata>;

/** One version of a document with its content. */
export const Document = Type.Object(
  { ...METADATA, content: Type.String({ description: 'Markdown or plain text, also of HTML, PDF and Word.' }) },
  { additionalProperties: false },
);
export type Document = Static<typeof Document>;

/** A document that was asked for and is not in the answer. */
export const MissingDocument = Type.Object(
  {
    ref: Type.String({ description: 'What was asked for, as it was written.' }),
    reason: Type.Enum(['not_found', 'version_not_found', 'answer_full'], {
      description: 'answer_full: the documents before it filled the answer; ask for it again alone.',
    }),
    message: Type.String(),
  },
  { additionalProperties: false },
);
export type MissingDocument = Static<typeof MissingDocument>;

const answerOf = <Found extends TSchema>(found: Found) =>
  Type.Object({ documents: Type.Array(found), missing: Type.Array(MissingDocument) }, { additionalProperties: false });

/** A document that answers a reference or a question; `ref` says which one. */
const Answering = Type.Object(
  { ref: Type.String({ description: 'The reference or query that it answers.' }), ...Document.properties },
  { additionalProperties: false },
);

export const GetSourceOfTruthArguments = Type.Object(
  {
    query: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        description:
          'A question, or a pattern of ids such as spec:requirements-*; answered with the document of highest authority ' +
          'that is not deprecated, the newest of several.',
      }),
    ),
    document_refs: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 512 }), {
        minItems: 1,
        maxItems: BATCH_MAX,
        description:
          'Several at once: ids, patterns of ids, or document:// and doc:// URIs. Deprecated ones lead to their successors.',
      }),
    ),
    version: Type.Optional(
      Type.String({
        maxLength: 64,
        default: 'latest',
        description: 'latest, pin_latest (the same; who asks keeps the version that is answered) or a version.',
      }),
    ),
    tags: Type.Optional(Type.Unsafe<string[]>({ ...Tags, description: 'Only documents that carry every one.' })),
  },
  { additionalProperties: false },
);
export type GetSourceOfTruthArguments = Static<typeof GetSourceOfTruthArguments>;

/** In the order of what was asked; a deprecated document has been replaced by its successor. */
export const GetSourceOfTruthResult = answerOf(Answering);
export type GetSourceOfTruthResult = Static<typeof GetSourceOfTruthResult>;

export const SearchDocumentsArguments = Type.Object(
  {
    query: Type.String({ minLength: 1, maxLength: 4096 }),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 10 })),
    tags: Type.Optional(Type.Unsafe<string[]>({ ...Tags, description: 'Only documents that carry every one.' })),
    authority_min: Type.Optional(Authority),
    include_deprecated: Type.Optional(Type.Boolean({ default: false })),
  },
  { additionalProperties: false },
);
export type SearchDocumentsArguments = Static<typeof SearchDocumentsArguments>;

export const SearchDocumentsResult = Type.Object(
  {
    results: Type.Array(
      Type.Object(
        {
          document: DocumentMetadata,
          score: Type.Number({ description: 'Order of the list; comparable within one answer only.' }),
          snippet: Type.String({ description: 'The passage that fits best.' }),
        },
        { additionalProperties: false },
      ),
    ),
    mode: Type.Enum(['hybrid', 'keyword'], { description: 'keyword: the embedder could not be asked.' }),
  },
  { additionalProperties: false },
);
export type SearchDocumentsResult = Static<typeof SearchDocumentsResult>;

export const FindOverlapsArguments = Type.Object(
  {
    document_id: Type.Optional(DocumentId),
    content: Type.Optional(
      Type.String({ minLength: 1, maxLength: 2_000_000, description: 'Text to compare, in place of a document_id.' }),
    ),
    threshold: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, description: 'Least overlap that is reported; default 0.2.' }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 10 })),
    include_deprecated: Type.Optional(Type.Boolean({ default: false })),
  },
  { additionalProperties: false },
);
export type FindOverlapsArguments = Static<typeof FindOverlapsArguments>;

export const Overlap = Type.Object(
  {
    document: DocumentMetadata,
    overlap: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'How much of the text is in the document too, or of the document in the text; the larger of both.',
    }),
    similarity: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: 'By meaning.' })),
    kind: Type.Enum(['verbatim', 'edited', 'paraphrased'], {
      description:
        'verbatim: nearly all in the same words. edited: in part. paraphrased: the same meaning in other words.',
    }),
    passage: Type.String({ description: 'The first passage of the document that both have; empty for paraphrased.' }),
  },
  { additionalProperties: false },
);
export type Overlap = Static<typeof Overlap>;

export const FindOverlapsResult = Type.Object({ overlaps: Type.Array(Overlap) }, { additionalProperties: false });
export type FindOverlapsResult = Static<typeof FindOverlapsResult>;

export const GetDocumentMetadataArguments = Type.Object(
  {
    document_id: Type.Optional(DocumentId),
    document_ids: Type.Optional(
      Type.Array(DocumentId, { minItems: 1, maxItems: BATCH_MAX, description: 'Several at once.' }),
    ),
  },
  { additionalProperties: false },
);
export type GetDocumentMetadataArguments = Static<typeof GetDocumentMetadataArguments>;

/** Of the newest versions, in the order of what was asked. */
export const GetDocumentMetadataResult = answerOf(DocumentMetadata);
export type GetDocumentMetadataResult = Static<typeof GetDocumentMetadataResult>;

const VersionRef = Type.Object({ document_id: DocumentId, version: DocumentVersion }, { additionalProperties: false });

export const GetDocumentVersionArguments = Type.Object(
  {
    document_id: Type.Optional(DocumentId),
    version: Type.Optional(DocumentVersion),
    documents: Type.Optional(
      Type.Array(VersionRef, { minItems: 1, maxItems: BATCH_MAX, description: 'Several at once.' }),
    ),
  },
  { additionalProperties: false },
);
export type GetDocumentVersionArguments = Static<typeof GetDocumentVersionArguments>;

/** In the order of what was asked; `ref` of a missing one is `<document_id>@<version>`. */
export const GetDocumentVersionResult = answerOf(Document);
export type GetDocumentVersionResult = Static<typeof GetDocumentVersionResult>;

export const IngestDocumentArguments = Type.Object(
  {
    document_id: Type.Optional(
      Type.Unsafe<string>({
        ...DocumentId,
        description: 'A new version of this one where it exists; default: made from the title.',
      }),
    ),
    title: Type.Optional(
      Type.Unsafe<string>({ ...Title, description: 'Default: that of the document, or its first heading.' }),
    ),
    content: Type.Optional(Type.String({ minLength: 1, description: 'Text of Markdown, plain text or HTML.' })),
    content_base64: Type.Optional(
      Type.String({ minLength: 1, description: 'Bytes in place of content; required for PDF and Word.' }),
    ),
    path: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4_096,
        description:
          'A file of the machine that the layer runs on, in place of content; only in folders that its operator opened.',
      }),
    ),
    content_type: Type.Optional(
      Type.Unsafe<DocumentContentType>({
        ...DocumentContentType,
        description: 'Default: by the ending of path, else text/markdown.',
      }),
    ),
    tags: Type.Optional(Tags),
    authority: Type.Optional(Type.Unsafe<number>({ ...Authority, default: 50 })),
    source: Type.Optional(Type.String({ minLength: 1, maxLength: 2_048 })),
    expected_version: Type.Optional(
      Type.Unsafe<string>({
        ...DocumentVersion,
        description: 'The newest version that the sender knows; refused when there is another by now.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type IngestDocumentArguments = Static<typeof IngestDocumentArguments>;

export const IngestDocumentResult = Type.Object(
  {
    document: DocumentMetadata,
    outcome: Type.Enum(['created', 'new_version', 'unchanged'], {
      description: 'unchanged: the newest version has this content; title, tags, authority and source are taken over.',
    }),
    notes: Type.Array(Type.String(), { description: 'What was left out of the document when it was read.' }),
  },
  { additionalProperties: false },
);
export type IngestDocumentResult = Static<typeof IngestDocumentResult>;

export const DeprecateDocumentArguments = Type.Object(
  {
    document_id: DocumentId,
    reason: Type.String({ minLength: 1, maxLength: 1_000 }),
    successor_id: Type.Optional(DocumentId),
  },
  { additionalProperties: false },
);
export type DeprecateDocumentArguments = Static<typeof DeprecateDocumentArguments>;

export const DeprecateDocumentResult = Type.Object({ document: DocumentMetadata }, { additionalProperties: false });
export type DeprecateDocumentResult = Static<typeof DeprecateDocumentResult>;

export const DeleteDocumentArguments = Type.Object(
  {
    document_id: DocumentId,
    version: Type.Optional(
      Type.Unsafe<string>({
        ...DocumentVersion,
        description: 'Only this version, which is not the newest one; default: the document with all versions.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type DeleteDocumentArguments = Static<typeof DeleteDocumentArguments>;

export const DeleteDocumentResult = Type.Object(
  { document_id: DocumentId, versions_deleted: Type.Integer({ minimum: 1 }) },
  { additionalProperties: false },
);
export type DeleteDocumentResult = Static<typeof DeleteDocumentResult>;
