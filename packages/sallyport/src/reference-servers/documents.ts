import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { Compile } from 'typebox/compile';
import type {
  GetDocumentMetadataArguments,
  GetDocumentMetadataResult,
  GetDocumentVersionArguments,
  GetDocumentVersionResult,
} from '../../api/schemas/reference-servers/documents.ts';
import type { EmbeddedCaller, EmbeddedServer } from '../mcp-servers/embedded-server.port.ts';
import type { ListedMcpTool } from '../registry/importer.port.ts';
import { deleteDocument } from './documents/delete-document.ts';
import { deprecateDocument } from './documents/deprecate-document.ts';
import { documentOf, metadataOf, versionNumber } from './documents/describe.ts';
import { CannotDo, type DocumentParts } from './documents/document-parts.ts';
import { DOCUMENT_TOOLS, type DocumentTool, type DocumentToolName } from './documents/document-tools.ts';
import { searchDocuments } from './documents/find-documents.ts';
import { findOverlaps } from './documents/find-overlaps.ts';
import { fitting } from './documents/fitting.ts';
import { ingestDocument } from './documents/ingest-document.ts';
import { createMeaning } from './documents/meaning.ts';
import { readResource, TEMPLATES, watchedDocument } from './documents/read-resource.ts';
import { getSourceOfTruth } from './documents/source-of-truth.ts';

export { DOCUMENT_OVERRIDES } from './documents/document-tools.ts';
export { createMeaning };

/** Version of the tools; a new one where one of them changes. */
const VERSION = '1.1.0';

const INSTRUCTIONS = `Documents of this tenant in all their versions. Ask get_source_of_truth for what holds now, search_documents to look around, and find_overlaps before you ingest what may be there already. Documents are resources too: document://ID, and document://ID/versions/VERSION for one that never changes.`;

/** A document server that runs in this process, until it is disposed. */
export interface DocumentServer extends EmbeddedServer, Disposable {}

type Run = (
  parts: DocumentParts,
  caller: EmbeddedCaller,
  args: never,
  signal: AbortSignal,
) => Promise<Readonly<Record<string, unknown>>>;

const RUNS: Readonly<Record<DocumentToolName, Run>> = {
  get_source_of_truth: (parts, { tenantId }, args) => getSourceOfTruth(parts, tenantId, args),
  search_documents: (parts, { tenantId }, args) => searchDocuments(parts, tenantId, args),
  find_overlaps: (parts, { tenantId }, args) => findOverlaps(parts, tenantId, args),
  get_document_metadata: (parts, { tenantId }, args) => getMetadata(parts, tenantId, args),
  get_document_version: (parts, { tenantId }, args) => getVersions(parts, tenantId, args),
  ingest_document: ingestDocument,
  deprecate_document: (parts, { tenantId }, args) => deprecateDocument(parts, tenantId, args),
  delete_document: (parts, { tenantId }, args) => deleteDocument(parts, tenantId, args),
};

/** The reference document server (DOC-01). */
export function createDocumentServer(parts: DocumentParts): DocumentServer {
  const { updates, meaning } = parts;
  const following = updates.subscribe((update) => meaning?.changed(update?.tenantId, update?.documentId));
  return {
    version: VERSION,
    instructions: INSTRUCTIONS,
    tools: TOOLS,
    templates: TEMPLATES,
    async call(tool, args, caller, signal) {
      if (tool === 'resources/read') return readResource(parts, caller.tenantId, args['uri']);
      if (!isTool(tool)) throw new ToolLayerError('E3309', `The document server has no tool ${tool}.`);
      const fault = faultOf(tool, args);
      if (fault !== undefined) throw new ToolLayerError('E3309', `Arguments of ${tool}: ${fault}`);
      try {
        return resultOf(await RUNS[tool](parts, caller, args as never, signal));
      } catch (thrown) {
        const mendable = mendableIn(thrown);
        if (mendable === undefined) throw thrown;
        return { content: [{ type: 'text', text: mendable }], isError: true };
      }
    },
    watch(tenantId, uri, onUpdated) {
      const documentId = watchedDocument(uri);
      return updates.subscribe((update) => {
        const isMissed = update === undefined;
        if (isMissed || (update.tenantId === tenantId && update.documentId === documentId)) onUpdated();
      });
    },
    [Symbol.dispose]: () => following[Symbol.dispose](),
  };
}

const isTool = (name: string): name is DocumentToolName => Object.hasOwn(DOCUMENT_TOOLS, name);

const CHECKS = new Map<DocumentToolName, ReturnType<typeof Compile>>();

/** The first fault of arguments; the layer has checked those of its calls before. */
function faultOf(tool: DocumentToolName, args: unknown): string | undefined {
  const check = CHECKS.get(tool) ?? Compile(DOCUMENT_TOOLS[tool].input);
  CHECKS.set(tool, check);
  if (check.Check(args)) return undefined;
  const [fault] = check.Errors(args);
  return fault === undefined ? 'are not what its schema says.' : `${fault.instancePath || '/'} ${fault.message}`;
}

/** Faults of the document itself, which who sent it can mend. */
function mendableIn(thrown: unknown): string | undefined {
  if (thrown instanceof CannotDo) return thrown.message;
  return thrown instanceof ToolLayerError && MENDABLE.has(thrown.code) ? thrown.message : undefined;
}
const MENDABLE: ReadonlySet<string> = new Set(['E3102', 'E3109']);

/** Longest result that is repeated as text, for clients that do not read structured content. */
const TEXT_CHARS_MAX = 131_072;

function resultOf(structured: Readonly<Record<string, unknown>>) {
  const json = JSON.stringify(structured);
  const text = json.length <= TEXT_CHARS_MAX ? json : 'The answer is long; it is in structuredContent.';
  return { content: [{ type: 'text', text }], structuredContent: structured };
}

const TOOLS: readonly ListedMcpTool[] = Object.entries<DocumentTool>(DOCUMENT_TOOLS).map(([name, tool]) => ({
  name,
  title: tool.title,
  description: tool.description,
  inputSchema: { ...tool.input },
  outputSchema: { ...tool.output },
  annotations: tool.isReadOnly
    ? { readOnlyHint: true, openWorldHint: false }
    : { destructiveHint: tool.isDestructive === true, idempotentHint: true, openWorldHint: false },
}));

async function getMetadata(
  { store }: DocumentParts,
  tenantId: string,
  { document_id: one, document_ids: several = [] }: GetDocumentMetadataArguments,
): Promise<GetDocumentMetadataResult> {
  const asked = [...(one === undefined ? [] : [one]), ...several];
  if (asked.length === 0) throw new CannotDo('Give a document_id, or document_ids.');
  const found = new Map((await store.find(tenantId, [...new Set(asked)])).map((each) => [each.documentId, each]));
  return {
    documents: asked.flatMap((id) => {
      const stored = found.get(id);
      return stored === undefined ? [] : [metadataOf(stored)];
    }),
    missing: asked
      .filter((id) => !found.has(id))
      .map((ref) => ({ ref, reason: 'not_found', message: `There is no document ${ref}.` })),
  };
}

async function getVersions(
  parts: DocumentParts,
  tenantId: string,
  { document_id, version, documents = [] }: GetDocumentVersionArguments,
): Promise<GetDocumentVersionResult> {
  if ((document_id === undefined) !== (version === undefined))
    throw new CannotDo('Give both document_id and version, or documents.');
  const one = document_id === undefined || version === undefined ? [] : [{ document_id, version }];
  const asked = [...one, ...documents];
  if (asked.length === 0) throw new CannotDo('Give document_id and version, or documents.');
  const wanted = asked.map(({ document_id: documentId, version: given }) => {
    return { ref: `${documentId}@${given}`, documentId, version: versionNumber(given) };
  });
  return fitting(parts, tenantId, wanted, (_, stored) => documentOf(stored));
}
