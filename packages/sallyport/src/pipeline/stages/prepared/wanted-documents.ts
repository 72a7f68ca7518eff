import { type Failure, failure } from '@sallyport/std/error/failure';
import type { ToolInvokeRequest } from '../../../../api/schemas/invocation.ts';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { DOCUMENTS_KEYWORD, documentParameter, takesDocuments } from '../../../domain/document/document-parameter.ts';
import { readDocumentRef } from '../../../domain/document/document-ref.ts';
import type { WantedDocument } from '../../../domain/document/given-document.ts';
import { traitsOf } from '../../../domain/tool/executor-kinds.ts';

const NONE: readonly WantedDocument[] = [];
const SHOWN_MAX = 100;

/**
 * The documents that a call gets: the dependencies of its tool, then the documents that the call names, then the answer to
 * its question.
 * @param layer `isPinning`: whether versions are pinned where neither says
 * @returns E3901 for a tool that gets no documents; E3801 for what is no reference
 */
export function wantedDocuments(
  { document_context: asked = {} }: Pick<ToolInvokeRequest, 'document_context'>,
  manifest: ToolManifest,
  layer: { readonly isPinning: boolean },
): readonly WantedDocument[] | Failure {
  const { document_refs: refs = [], query, version_pinning } = asked;
  const { document_dependencies: dependencies = [] } = manifest;
  if (refs.length === 0 && query === undefined && dependencies.length === 0) return NONE;
  if (!takesDocuments(manifest)) return takesNone(manifest);
  const pinned = version_pinning ?? layer.isPinning;
  const wanted: WantedDocument[] = [];
  for (const { document_pattern, access_mode = 'read', version_pinning = pinned } of dependencies) {
    const ref = readDocumentRef(document_pattern);
    if (ref === undefined) return badRef(document_pattern);
    wanted.push({ ...ref, isQuestion: false, mode: access_mode, isPinned: version_pinning });
  }
  for (const text of refs) {
    const ref = readDocumentRef(text);
    if (ref === undefined) return badRef(text);
    wanted.push({ ...ref, isQuestion: false, mode: 'read', isPinned: pinned });
  }
  if (query !== undefined) wanted.push({ ref: query, isQuestion: true, mode: 'read', isPinned: pinned });
  return wanted;
}

/** Refuses an argument in the parameter that the layer sets: what a tool takes for documents are documents. */
export function forgedDocuments(
  manifest: ToolManifest,
  parameters: Readonly<Record<string, unknown>>,
): Failure | undefined {
  const name = documentParameter(manifest);
  if (name === undefined || !Object.hasOwn(parameters, name)) return undefined;
  const message = `The parameter ${JSON.stringify(name)} is for documents, which the layer brings. Name them in document_context.`;
  return failure('E3801', message, { details: { parameter: name } });
}

function takesNone({ tool_id, executor: { kind } }: ToolManifest): Failure {
  const mark =
    traitsOf(kind).takesDocuments === 'marked'
      ? ` Its manifest would have to mark a parameter with "${DOCUMENTS_KEYWORD}": true.`
      : '';
  const message = `${tool_id} of kind ${kind} gets no documents. Call it without document_context.${mark}`;
  return failure('E3901', message, { details: { option: 'document_context' } });
}

const badRef = (text: string): Failure =>
  failure(
    'E3801',
    `${JSON.stringify(text.slice(0, SHOWN_MAX))} is no reference to a document. Write an id, ID@VERSION, or a pattern of ids such as spec:*.`,
    { details: { member: 'document_context.document_refs' } },
  );
