import { basename, extname } from 'node:path';
import { sha256 } from '@sallyport/std/sha256';
import type {
  DocumentContentType,
  IngestDocumentArguments,
  IngestDocumentResult,
} from '../../../api/schemas/reference-servers/documents.ts';
import type { EmbeddedCaller } from '../../mcp-servers/embedded-server.port.ts';
import type { ReadText } from '../document-reader.port.ts';
import type { NewDocument, PutOutcome } from '../document-store.port.ts';
import { metadataOf, versionNumber } from './describe.ts';
import { CannotDo, type DocumentParts } from './document-parts.ts';
import { passageHashes } from './passages.ts';
import { plainText } from './plain-text.ts';
import { publishUpdate } from './publish-update.ts';
import { shinglesOf } from './shingles.ts';

/** Authority of a new document that nobody gives one. */
const AUTHORITY = 50;
const TITLE_CHARS_MAX = 500;
const ID_CHARS_MAX = 100;
/** Canonical or URL-safe base64, with or without padding. */
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** The tool `ingest_document`. */
export async function ingestDocument(
  parts: DocumentParts,
  { tenantId, agentDid, userDid, checkDocument }: EmbeddedCaller,
  given: IngestDocumentArguments,
  signal: AbortSignal,
): Promise<IngestDocumentResult> {
  const { store, clock, settings } = parts;
  const { document_id: named } = given;
  const file = await bytesOf(parts, tenantId, given, signal);
  const contentType = given.content_type ?? typeOf(file.path);
  const { content, title: ownTitle, notes } = await readGiven(parts, file.bytes, given, contentType, signal);
  if (content.trim() === '') throw new CannotDo('The document holds no text.');
  if (Buffer.byteLength(content) > settings.contentBytesMax)
    throw new CannotDo(
      `The text of the document is longer than ${settings.contentBytesMax} bytes. Ingest it in parts.`,
    );
  const said = given.title ?? ownTitle ?? firstHeading(content) ?? nameOf(file.path);
  if (said === undefined && named === undefined)
    throw new CannotDo('The document has no heading. Give a title or a document_id.');
  const documentId = named ?? idOf(said ?? '');
  if (named === undefined) await checkDocument?.(documentId, 'write');
  const [known] = await store.find(tenantId, [documentId]);
  const title = said ?? known?.title ?? documentId;
  const source = given.source ?? file.path ?? known?.source;
  const document: NewDocument = {
    documentId,
    title: title.slice(0, TITLE_CHARS_MAX).toWellFormed(),
    tags: given.tags ?? known?.tags ?? [],
    authority: given.authority ?? known?.authority ?? AUTHORITY,
    ...(source === undefined ? {} : { source }),
    content,
    contentType,
    sha256: sha256(content),
    passages: passageHashes(title, content),
    shingles: shinglesOf(content),
    at: clock.now(),
    by: { agentDid, ...(userDid === undefined ? {} : { userDid }) },
  };
  const expected = expectedOf(given);
  const put = await store.put(tenantId, document, {
    mustBeNew: named === undefined,
    documentsMax: settings.documentsMax,
    versionsMax: settings.versionsMax,
    ...(expected === undefined ? {} : { expected }),
  });
  if (put.outcome === 'full') throw new CannotDo(full(documentId, put, settings));
  if (put.outcome === 'conflict' || put.stored === undefined) throw new CannotDo(conflict(documentId, put));
  await publishUpdate(parts, tenantId, put.stored);
  return { document: metadataOf(put.stored), outcome: put.outcome, notes: [...notes] };
}

/** The bytes of a document, and where they come from when that is a file. */
async function bytesOf(
  { files, settings: { fileBytesMax } }: DocumentParts,
  tenantId: string,
  { content, content_base64: base64, path }: IngestDocumentArguments,
  signal: AbortSignal,
): Promise<{ readonly bytes: Uint8Array; readonly path?: string }> {
  if ([content, base64, path].filter((each) => each !== undefined).length !== 1)
    throw new CannotDo('Give content, content_base64 or path, one of the three.');
  if (path !== undefined) return files.read(tenantId, path, fileBytesMax, signal);
  if (base64 !== undefined && !BASE64.test(base64)) throw new CannotDo('content_base64 is no base64 text.');
  const bytes = content === undefined ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(content);
  if (bytes.length > fileBytesMax)
    throw new CannotDo(`The file is longer than ${fileBytesMax} bytes. Ingest it in parts.`);
  return { bytes };
}

/** Types of files by their ending; others are plain text. */
const TYPES: Readonly<Record<string, DocumentContentType>> = {
  '.md': 'text/markdown',
  '.markdown': 'text/markdown',
  '.html': 'text/html',
  '.htm': 'text/html',
  '.pdf': 'application/pdf',
  '.docx': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
};

const typeOf = (path: string | undefined): DocumentContentType =>
  path === undefined ? 'text/markdown' : (TYPES[extname(path).toLowerCase()] ?? 'text/plain');

const nameOf = (path: string | undefined): string | undefined =>
  path === undefined ? undefined : basename(path, extname(path));

async function readGiven(
  { reader }: DocumentParts,
  bytes: Uint8Array,
  { content }: IngestDocumentArguments,
  contentType: DocumentContentType,
  signal: AbortSignal,
): Promise<ReadText> {
  if (contentType === 'text/markdown' || contentType === 'text/plain') return { content: plainText(bytes), notes: [] };
  if (content !== undefined && contentType !== 'text/html')
    throw new CannotDo(`A document of the type ${contentType} is given as content_base64 or path.`);
  // A page in another encoding says so nowhere once it is in a call, so UTF-8 is what it has to be.
  return reader.read(contentType === 'text/html' ? Buffer.from(plainText(bytes)) : bytes, contentType, signal);
}

function expectedOf({ expected_version }: IngestDocumentArguments): number | undefined {
  if (expected_version === undefined) return undefined;
  return versionNumber(expected_version) ?? Number.NaN;
}

function conflict(documentId: string, { stored }: PutOutcome): string {
  if (stored === undefined) return `There is no document ${documentId}, so it has no version that could be expected.`;
  const { newest, title } = stored;
  return `There is a document ${documentId} (${title}) already, at version ${newest}. For a new version of it give its document_id, and ${newest} where you give an expected_version; for another document give another document_id.`;
}

const full = (documentId: string, { stored }: PutOutcome, { documentsMax, versionsMax }: DocumentParts['settings']) =>
  stored === undefined
    ? `There are ${documentsMax} documents already (documents.max). Make a new version of one of them.`
    : `The document ${documentId} has ${versionsMax} versions already (documents.versions_max). Give the text another document_id, and deprecate this document in favour of it.`;

function firstHeading(content: string): string | undefined {
  const [, line] = /^#{1,6}[ \t]+(\S.*)$/m.exec(content.slice(0, 20_000)) ?? [];
  return line === undefined ? undefined : withoutClosing(line.trimEnd()).slice(0, TITLE_CHARS_MAX);
}

/** A heading of Markdown may end in number signs after a blank, which do not belong to it. */
function withoutClosing(heading: string): string {
  let end = heading.length;
  while (heading[end - 1] === '#') end -= 1;
  return /[ \t]/.test(heading.charAt(end - 1)) ? heading.slice(0, end).trimEnd() : heading;
}

/** An id in lower case that a person can read; of a title without Latin letters, its hash. */
function idOf(title: string): string {
  const ascii = title.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const id = ascii
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, ID_CHARS_MAX);
  return id === '' ? `document-${sha256(title).slice(0, 16)}` : id;
}
