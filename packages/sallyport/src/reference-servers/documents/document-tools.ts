import type { TSchema } from 'typebox';
import {
  DeleteDocumentArguments,
  DeleteDocumentResult,
  DeprecateDocumentArguments,
  DeprecateDocumentResult,
  FindOverlapsArguments,
  FindOverlapsResult,
  GetDocumentMetadataArguments,
  GetDocumentMetadataResult,
  GetDocumentVersionArguments,
  GetDocumentVersionResult,
  GetSourceOfTruthArguments,
  GetSourceOfTruthResult,
  IngestDocumentArguments,
  IngestDocumentResult,
  SearchDocumentsArguments,
  SearchDocumentsResult,
} from '../../../api/schemas/reference-servers/documents.ts';
import type { UpstreamDefinition } from '../../../api/schemas/upstream.ts';

/** One tool of the document server. */
export interface DocumentTool {
  readonly title: string;
  readonly description: string;
  readonly input: TSchema;
  readonly output: TSchema;
  readonly isReadOnly: boolean;
  /** True when nothing brings back what it took; absent when it may be repeated. */
  readonly isDestructive?: true;
}

/** The tools of the document server, by name (003, task 4). */
export const DOCUMENT_TOOLS = {
  get_source_of_truth: {
    title: 'Get the source of truth',
    description:
      'The authoritative document for a question, an id or a pattern of ids, with its content. Prefers documents of higher authority, leaves deprecated ones for their successors, and takes several references at once.',
    input: GetSourceOfTruthArguments,
    output: GetSourceOfTruthResult,
    isReadOnly: true,
  },
  search_documents: {
    title: 'Search documents',
    description: 'Finds documents by words and by meaning, best first, with the passage that fits best.',
    input: SearchDocumentsArguments,
    output: SearchDocumentsResult,
    isReadOnly: true,
  },
  find_overlaps: {
    title: 'Find overlaps',
    description:
      'Documents that hold the same text as a given text or document: verbatim, edited, or paraphrased. Use it before ingesting something that may be there already.',
    input: FindOverlapsArguments,
    output: FindOverlapsResult,
    isReadOnly: true,
  },
  get_document_metadata: {
    title: 'Get metadata of documents',
    description: 'Title, newest version, tags, authority and state of documents, without their content.',
    input: GetDocumentMetadataArguments,
    output: GetDocumentMetadataResult,
    isReadOnly: true,
  },
  get_document_version: {
    title: 'Get versions of documents',
    description: 'Exactly these versions of documents, with their content. A version never changes.',
    input: GetDocumentVersionArguments,
    output: GetDocumentVersionResult,
    isReadOnly: true,
  },
  ingest_document: {
    title: 'Ingest a document',
    description:
      'Stores a document, or a new version of one: Markdown, plain text, HTML, PDF or Word. The same content again makes no new version.',
    input: IngestDocumentArguments,
    output: IngestDocumentResult,
    isReadOnly: false,
  },
  deprecate_document: {
    title: 'Deprecate a document',
    description:
      'Marks a document as no longer to be used, with the reason and its successor. It can still be read by its id and version.',
    input: DeprecateDocumentArguments,
    output: DeprecateDocumentResult,
    isReadOnly: false,
  },
  delete_document: {
    title: 'Delete a document',
    description:
      'Deletes a document with all its versions, or one version of it, for good. Deprecate a document that may still be read.',
    input: DeleteDocumentArguments,
    output: DeleteDocumentResult,
    isReadOnly: false,
    isDestructive: true,
  },
} as const satisfies Record<string, DocumentTool>;

/** Name of one of them. */
export type DocumentToolName = keyof typeof DOCUMENT_TOOLS;

/** What the layer itself knows of the effects of these tools: it ships with them. */
export const DOCUMENT_OVERRIDES: NonNullable<UpstreamDefinition['overrides']> = Object.fromEntries(
  Object.entries<DocumentTool>(DOCUMENT_TOOLS).map(([name, tool]) => [name, effectsOf(tool)]),
);

function effectsOf({ isReadOnly, isDestructive }: DocumentTool) {
  if (isDestructive === true) return { side_effect_policy: 'irreversible', requires_approval: true } as const;
  return { side_effect_policy: isReadOnly ? 'pure' : 'idempotent' } as const;
}
