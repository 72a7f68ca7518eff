import type {
  DeleteDocumentResult,
  FindOverlapsResult,
  GetDocumentMetadataResult,
  GetDocumentVersionResult,
  GetSourceOfTruthResult,
  IngestDocumentResult,
  SearchDocumentsResult,
} from '../../../api/schemas/reference-servers/documents.ts';
import type { DocumentServer } from '../documents.ts';

type Arguments = Record<string, unknown>;

/** The tools of a document server, called by an agent of a tenant. All but `raw` throw what a result with `isError` says. */
export function tenantOf(server: DocumentServer, tenantId: string) {
  const caller = { tenantId, agentDid: 'did:example:a' };
  const raw = (tool: string, args: Arguments, signal = new AbortController().signal) =>
    server.call(tool, args, caller, signal);
  const ask = async <Result>(tool: string, args: Arguments): Promise<Result> => {
    const result = await raw(tool, args);
    if (result['isError'] === true) throw new Error(JSON.stringify(result['content']));
    return result['structuredContent'] as Result;
  };
  return {
    tenantId,
    raw,
    ingest: (args: Arguments) => ask<IngestDocumentResult>('ingest_document', args),
    search: (query: string, more = {}) => ask<SearchDocumentsResult>('search_documents', { query, ...more }),
    truth: (args: Arguments) => ask<GetSourceOfTruthResult>('get_source_of_truth', args),
    overlaps: (args: Arguments) => ask<FindOverlapsResult>('find_overlaps', args),
    metadata: (args: Arguments) => ask<GetDocumentMetadataResult>('get_document_metadata', args),
    versions: (args: Arguments) => ask<GetDocumentVersionResult>('get_document_version', args),
    deprecate: (args: Arguments) => ask('deprecate_document', args),
    remove: (args: Arguments) => ask<DeleteDocumentResult>('delete_document', args),
  };
}
