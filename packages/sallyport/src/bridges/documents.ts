import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Warning } from '../../api/schemas/invocation.ts';
import { isPattern } from '../domain/document/document-ref.ts';
import type {
  DocumentAccessMode,
  DocumentPin,
  GivenDocument,
  WantedDocument,
} from '../domain/document/given-document.ts';
import type { DocumentReader } from './document-server.port.ts';
import type { DocumentCache } from './document-stores.port.ts';
import type { DocumentUpdates } from './document-updates.port.ts';
import { documentVersions, versionRef, type WantedVersion } from './documents/document-versions.ts';
import { newestDocuments } from './documents/newest-documents.ts';
import { beginReading, type Reading, type ReadingParts, versionGone, warn } from './documents/reading.ts';
import { RememberedAnswers } from './documents/remembered-answers.ts';
import { DOCUMENT_DEFAULTS, type DocumentSettings } from './documents/settings.ts';

/** What one run of a call asks for. */
export interface DocumentRequest {
  readonly wanted: readonly WantedDocument[];
  readonly reader: DocumentReader;
  /** Versions that earlier runs of the work had. */
  readonly pins: readonly DocumentPin[];
  /**
   * Called for each document before it is read, remembered or not: a remembered answer is given to nobody whose access
   * was not checked. For one that the server chose, before it is given.
   * @param asked what the call asked for: the caller of a refusal learns no other name
   * @throws ToolLayerError E3603 when the policies do not allow it
   */
  checkAccess(documentId: string, mode: DocumentAccessMode, asked: string): Promise<void>;
  readonly signal: AbortSignal;
}

/** The documents of one run of a call. */
export interface ReadDocuments {
  /** Each version once, in the order of what was asked for. */
  readonly documents: readonly GivenDocument[];
  /** The versions of what is pinned; empty when nothing is. */
  readonly pins: readonly DocumentPin[];
  readonly warnings: readonly Warning[];
}

/** Documents of a document server for the tools of calls (DOC-01 to DOC-05). */
export interface Documents extends Disposable {
  /**
   * Reads the documents of a call, all that are missing in one round trip.
   * @throws ToolLayerError E3601 for an unknown one, E3603, E3604 for a version that is gone, E3605 when the server did
   *   not answer in time, E3606 when it broke the protocol and E3602 when it cannot be asked, and no other source has the
   *   documents; E3102 when they are too large together
   */
  read(request: DocumentRequest): Promise<ReadDocuments>;
}

/** Dependencies of the documents. */
export interface DocumentParts extends Omit<ReadingParts, 'remembered' | 'settings'> {
  /** Newest versions and statuses, perhaps shared by instances. */
  readonly cache: DocumentCache;
  /** Absent: a change is noticed when what is remembered has aged. */
  readonly updates?: Pick<DocumentUpdates, 'subscribe'>;
  readonly settings?: Partial<DocumentSettings>;
}

/** Builds the documents over a document server. */
export function createDocuments({ cache, updates, settings: given, ...sources }: DocumentParts): Documents {
  const settings = { ...DOCUMENT_DEFAULTS, ...given };
  const remembered = new RememberedAnswers({ ...sources, cache, settings });
  const subscription = updates?.subscribe((update) => remembered.changed(update));
  return {
    read: (request) =>
      read(beginReading({ ...sources, remembered, settings }, request.reader, request.signal), request),
    [Symbol.dispose]: () => subscription?.[Symbol.dispose](),
  };
}

/** What is to be read for one asked-for document. */
interface Target {
  readonly wanted: WantedDocument;
  readonly pin: DocumentPin | undefined;
  /** Undefined for the newest one. */
  readonly version: WantedVersion | undefined;
}

async function read(reading: Reading, request: DocumentRequest): Promise<ReadDocuments> {
  const targets = request.wanted.map((wanted) => targetOf(wanted, request.pins));
  const checked = new Set<string>();
  const check = async (documentId: string, { mode, ref }: WantedDocument): Promise<void> => {
    const key = `${mode} ${documentId}`;
    if (!checked.has(key)) await request.checkAccess(documentId, mode, ref);
    checked.add(key);
  };
  for (const { wanted, version } of targets) {
    const documentId = version?.documentId ?? (isNamed(wanted) ? wanted.ref : undefined);
    if (documentId !== undefined) await check(documentId, wanted);
  }
  const [versions, newest] = await Promise.all([
    documentVersions(
      reading,
      targets.flatMap(({ version }) => version ?? []),
    ),
    newestDocuments(
      reading,
      targets.filter(({ version }) => version === undefined).map(({ wanted }) => wanted),
    ),
  ]);
  const documents = new Map<string, GivenDocument>();
  const pins: DocumentPin[] = [];
  for (const { wanted, pin, version } of targets) {
    const document = version === undefined ? newest.get(wanted.ref) : versions.get(versionRef(version));
    if (document === undefined) throw new Error('a document was neither found nor refused');
    const { document_id: documentId, version: found, content_sha256: sha256 } = document;
    await check(documentId, wanted);
    // A server may break its word that a version never changes.
    if (pin !== undefined && pin.sha256 !== sha256) throw versionGone(documentId, found);
    warnOf(reading, wanted, document);
    documents.set(versionRef({ documentId, version: found }), document);
    if (wanted.isPinned) pins.push({ ref: pinRef(wanted), documentId, version: found, sha256 });
  }
  checkSize(reading, documents.values().toArray());
  return { documents: documents.values().toArray(), pins, warnings: reading.warnings.values().toArray() };
}

const isNamed = ({ ref, isQuestion }: WantedDocument): boolean => !isQuestion && !isPattern(ref);

/** The name of a pin: a call may ask for two versions of one document. */
const pinRef = ({ ref, version }: WantedDocument): string => (version === undefined ? ref : `${ref}@${version}`);

function targetOf(wanted: WantedDocument, pins: readonly DocumentPin[]): Target {
  const pin = wanted.isPinned ? pins.find(({ ref }) => ref === pinRef(wanted)) : undefined;
  if (pin !== undefined) {
    const { documentId, version } = pin;
    return { wanted, pin, version: { documentId, version, existed: true } };
  }
  const { ref, version } = wanted;
  return {
    wanted,
    pin,
    version: version === undefined ? undefined : { documentId: ref, version, existed: false },
  };
}

function warnOf({ warnings }: Reading, wanted: WantedDocument, document: GivenDocument): void {
  const { document_id: documentId, version, status, deprecation } = document;
  if (status === 'deprecated') {
    const successor = deprecation?.successor_id === undefined ? '' : ` Its successor is ${deprecation.successor_id}.`;
    warn(warnings, 'document_deprecated', `The document ${documentId} is deprecated.${successor}`, documentId);
  }
  if (isNamed(wanted) && documentId !== wanted.ref) {
    const message = `The document ${wanted.ref} is deprecated; its successor ${documentId}@${version} was taken.`;
    warn(warnings, 'document_replaced', message, documentId);
  }
}

function checkSize({ settings: { callBytesMax } }: Reading, documents: readonly GivenDocument[]): void {
  const size = documents.reduce((bytes, { content }) => bytes + Buffer.byteLength(content), 0);
  if (size <= callBytesMax) return;
  throw new ToolLayerError(
    'E3102',
    `The documents of the call have ${size} bytes; at most ${callBytesMax} are given to a tool. Ask for fewer.`,
    { details: { limit: 'document_bridge.call_bytes_max', max: callBytesMax } },
  );
}
