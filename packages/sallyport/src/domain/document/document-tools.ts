import { isObject } from '../shape/is-object.ts';
import { isPattern, readDocumentRef } from './document-ref.ts';
import type { DocumentAccessMode } from './given-document.ts';
import { structuredOf } from './structured-answer.ts';

type Members = Readonly<Record<string, unknown>>;

/** The tools of a document server (DOC-01). */
export type DocumentTool =
  | 'get_source_of_truth'
  | 'search_documents'
  | 'find_overlaps'
  | 'get_document_metadata'
  | 'get_document_version'
  | 'ingest_document'
  | 'deprecate_document'
  | 'delete_document';

/** What the tools of a document server, and the reading of its resources, do with documents. */
const MODES: Readonly<Record<DocumentTool | 'resources/read', DocumentAccessMode>> = {
  get_source_of_truth: 'read',
  search_documents: 'read',
  find_overlaps: 'read',
  get_document_metadata: 'read',
  get_document_version: 'read',
  ingest_document: 'write',
  deprecate_document: 'write',
  delete_document: 'delete',
  'resources/read': 'read',
};
/** Members of answers that list documents, each with its id or with a document that has one. */
const LISTS = ['documents', 'results', 'overlaps'] as const;

/** A document that arguments name. */
export interface NamedDocument {
  readonly id: string;
  /** As it was written. */
  readonly asked: string;
}

/** What a tool does with documents; undefined for a tool that is none of a document server. */
export const documentModeOf = (tool: string): DocumentAccessMode | undefined =>
  Object.hasOwn(MODES, tool) ? MODES[tool as DocumentTool] : undefined;

/** The documents that arguments name. What a question or a pattern finds is in the answer alone. */
export function documentsNamedIn(args: Members): readonly NamedDocument[] {
  const texts = [args['document_id'], args['successor_id'], args['uri']];
  const lists = [args['document_ids'], args['document_refs'], args['documents']].flatMap(listIn);
  const all = [...texts, ...lists.map((one) => (isObject(one) ? one['document_id'] : one))];
  return all.filter((one) => typeof one === 'string').flatMap((asked) => idsIn(asked).map((id) => ({ id, asked })));
}

/** Also as a URI is decoded: a server may do so or not. */
function idsIn(text: string): readonly string[] {
  const ids = [text, decoded(text)].map((one) => readDocumentRef(one)?.ref ?? one);
  return [...new Set(ids)].filter((id) => !isPattern(id));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * An answer of a document server without the documents that its reader may not have. One that was asked for is missing
 * then, as one that does not exist; a hit of a search is left out.
 * @returns the same object when the reader may have all
 * @throws ToolLayerError E3606 for an answer that nobody can judge
 */
export async function withoutForbidden(
  result: unknown,
  mayRead: (documentId: string) => Promise<boolean>,
): Promise<unknown> {
  const structured = structuredOf(result);
  const single = structured['document_id'] === undefined ? structured : { documents: [structured] };
  const left: Record<string, unknown> = { ...single };
  const missing = [...listIn(single['missing'])];
  let isWhole = true;
  for (const name of LISTS) {
    const entries = listIn(single[name]);
    const allowed = await Promise.all(entries.map((entry) => mayReadEntry(entry, mayRead)));
    if (!allowed.includes(false)) continue;
    isWhole = false;
    left[name] = entries.filter((_, at) => allowed[at]);
    if (name === 'documents') missing.push(...entries.filter((_, at) => !allowed[at]).flatMap(missingOf));
  }
  if (isWhole) return result;
  const answer = { ...left, ...(missing.length === 0 ? {} : { missing }) };
  const content = [{ type: 'text', text: JSON.stringify(answer) }];
  const isStructured = isObject(result) && result['structuredContent'] !== undefined;
  return { ...(result as Members), content, ...(isStructured ? { structuredContent: answer } : {}) };
}

async function mayReadEntry(entry: unknown, mayRead: (documentId: string) => Promise<boolean>): Promise<boolean> {
  const document = isObject(entry) && isObject(entry['document']) ? entry['document'] : entry;
  const id = isObject(document) ? document['document_id'] : undefined;
  // One without a name cannot be judged.
  return typeof id === 'string' && (await mayRead(id));
}

const missingOf = (entry: unknown): readonly object[] =>
  isObject(entry) && typeof entry['ref'] === 'string'
    ? [{ ref: entry['ref'], reason: 'not_found', message: 'No document answers this.' }]
    : [];

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
