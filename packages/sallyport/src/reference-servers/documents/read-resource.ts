import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { namedDocument, uriOf, versionNumber } from './describe.ts';
import type { DocumentParts } from './document-parts.ts';

/** JSON-RPC code of MCP for a resource that does not exist. */
const NOT_FOUND = -32002;
/** How long a client may show the newest version without asking again, in ms; it can subscribe to changes. */
const NEWEST_TTL_MS = 60_000;
/** The same of a version, which never changes. */
const VERSION_TTL_MS = 86_400_000;

/** Templates of the resources. */
export const TEMPLATES = [
  {
    name: 'document',
    title: 'Newest version of a document',
    uriTemplate: 'document://{document_id}',
    mimeType: 'text/markdown',
  },
  {
    name: 'document-version',
    title: 'A version of a document',
    uriTemplate: 'document://{document_id}/versions/{version}',
    mimeType: 'text/markdown',
  },
] as const;

/**
 * The request `resources/read`.
 * @throws ToolLayerError E3309 for no such resource
 */
export async function readResource({ store }: DocumentParts, tenantId: string, uri: unknown) {
  if (typeof uri !== 'string' || !uri.startsWith('document://')) throw noResource(String(uri));
  const { id, version } = namedDocument(uri);
  const [newest] = await store.find(tenantId, [id]);
  const number = version === undefined ? newest?.newest : versionNumber(version);
  const [read] = number === undefined ? [] : await store.read(tenantId, [{ documentId: id, version: number }]);
  if (read === undefined) throw noResource(uri);
  const mimeType = read.contentType === 'text/plain' ? 'text/plain' : 'text/markdown';
  return {
    contents: [{ uri, mimeType, text: read.content, _meta: { title: read.title, version: String(read.version) } }],
    ttlMs: version === undefined ? NEWEST_TTL_MS : VERSION_TTL_MS,
    cacheScope: 'private',
  };
}

/** The document whose newest version a resource is; undefined for a version, which never changes. */
export function watchedDocument(uri: string): string | undefined {
  if (!uri.startsWith(uriOf(''))) return undefined;
  const { id, version } = namedDocument(uri);
  return version === undefined ? id : undefined;
}

const noResource = (uri: string): ToolLayerError =>
  new ToolLayerError('E3309', `There is no resource ${JSON.stringify(uri.slice(0, 200))}.`, {
    details: { reached: true, rpc_code: NOT_FOUND },
  });
