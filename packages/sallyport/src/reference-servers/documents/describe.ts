import type { Document, DocumentMetadata } from '../../../api/schemas/reference-servers/documents.ts';
import type { StoredVersion, VersionWithContent } from '../document-store.port.ts';

const URI = 'document://';
/** Schemes by which a document is named; the second is that of the specification (000 §4.1). */
const SCHEMES = /^(?:document|doc):\/\//;

const time = (ms: number): string => new Date(ms).toISOString();

/** URI of the newest version. */
export const uriOf = (documentId: string): string => `${URI}${documentId}`;

/** A version as it travels. */
export function metadataOf(stored: StoredVersion): DocumentMetadata {
  const { documentId, version, newest, deprecation, source } = stored;
  return {
    document_id: documentId,
    uri: uriOf(documentId),
    title: stored.title,
    version: String(version),
    is_latest: version === newest,
    content_type: stored.contentType,
    content_sha256: stored.sha256,
    size_bytes: stored.bytes,
    tags: [...stored.tags],
    authority: stored.authority,
    ...(source === undefined ? {} : { source }),
    status: deprecation === undefined ? 'active' : 'deprecated',
    ...(deprecation === undefined
      ? {}
      : {
          deprecation: {
            reason: deprecation.reason,
            ...(deprecation.successorId === undefined ? {} : { successor_id: deprecation.successorId }),
            deprecated_at: time(deprecation.at),
          },
        }),
    created_at: time(stored.createdAt),
    updated_at: time(stored.storedAt),
  };
}

/** A version with its content as it travels. */
export const documentOf = (stored: VersionWithContent): Document => ({
  ...metadataOf(stored),
  content: stored.content,
});

/** What a reference names: an id or a pattern of ids, and a version where it says one. */
export interface NamedDocument {
  readonly id: string;
  readonly version?: string;
}

/** Reads an id, `ID@VERSION`, `document://ID` or `document://ID/versions/VERSION`. */
export function namedDocument(ref: string): NamedDocument {
  const isUri = SCHEMES.test(ref);
  const bare = isUri ? decoded(ref.replace(SCHEMES, '')) : ref;
  const [, id, version] = /^(.*?)(?:@|\/versions\/)([^@/]+)$/.exec(bare) ?? [];
  return id === undefined || version === undefined ? { id: bare } : { id, version };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The number of a version; undefined for one that no document has. */
export function versionNumber(version: string): number | undefined {
  const [digits] = /^[1-9][0-9]{0,8}$/.exec(version.replace(/^v(?=\d)/, '')) ?? [];
  return digits === undefined ? undefined : Number(digits);
}
