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
import { beginReading, type Reading, type ReadingParts, versionGone, warn } from './documents/reading.ts';
import { RememberedAnswers } from './documents/remembered-answers.ts';
import { type FoundTarget, findAll, pinRef, targetOf } from './documents/targets.ts';

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
  checkAccess(documentId: string, mode: DocumentAccessMode, asked: string): void | Promise<void>;
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
export interface DocumentParts extends Omit<ReadingParts, 'remembered'> {
  /** Newest versions and statuses, perhaps shared by instances. */
  readonly cache: DocumentCache;
  /** Absent: a change is noticed when what is remembered has aged. */
  readonly updates?: Pick<DocumentUpdates, 'subscribe'>;
}

/** Builds the documents over a document server. */
export function createDocuments({ cache, updates, ...sources }: DocumentParts): Documents {
  const remembered = new RememberedAnswers({ ...sources, cache });
  const subscription = updates?.subscribe((update) => remembered.changed(update));
  const parts = { ...sources, remembered };
  return {
    read: (request) => read(parts, request),
    [Symbol.dispose]: () => subscription?.[Symbol.dispose](),
  };
}

async function read(parts: ReadingParts, request: DocumentRequest): Promise<ReadDocuments> {
  const targets = request.wanted.map((wanted) => targetOf(wanted, request.pins));
  for (const { named, wanted } of targets) {
    const asked = named === undefined ? undefined : request.checkAccess(named, wanted.mode, wanted.ref);
    if (asked !== undefined) await asked;
  }
  const reading = beginReading(parts, request.reader, request.signal);
  const finding = findAll(reading, targets);
  const found = finding instanceof Promise ? await finding : finding;
  for (const { target, document } of found) {
    const { named, wanted } = target;
    if (document.document_id !== named) await request.checkAccess(document.document_id, wanted.mode, wanted.ref);
  }
  return given(reading, found);
}

function given(reading: Reading, found: readonly FoundTarget[]): ReadDocuments {
  const documents: GivenDocument[] = [];
  const pins: DocumentPin[] = [];
  for (const { target, document } of found) {
    const { wanted, pin } = target;
    const { document_id: documentId, version, content_sha256: sha256 } = document;
    // A server may break its word that a version never changes.
    if (pin !== undefined && pin.sha256 !== sha256) throw versionGone(documentId, version);
    warnOf(reading, wanted, document);
    if (!documents.some((other) => isSame(other, document))) documents.push(document);
    if (wanted.isPinned) pins.push({ ref: pinRef(wanted), documentId, version, sha256 });
  }
  checkSize(reading, documents);
  return { documents, pins, warnings: reading.warnings };
}

const isSame = (one: GivenDocument, other: GivenDocument): boolean =>
  one.document_id === other.document_id && one.version === other.version;

function warnOf({ warnings }: Reading, wanted: WantedDocument, document: GivenDocument): void {
  const { document_id: documentId, version, status, deprecation } = document;
  if (status === 'deprecated') {
    const successor = deprecation?.successor_id === undefined ? '' : ` Its successor is ${deprecation.successor_id}.`;
    warn(warnings, 'document_deprecated', `The document ${documentId} is deprecated.${successor}`, documentId);
  }
  if (!wanted.isQuestion && !isPattern(wanted.ref) && documentId !== wanted.ref) {
    const message = `The document ${wanted.ref} is deprecated; its successor ${documentId}@${version} was taken.`;
    warn(warnings, 'document_replaced', message, documentId);
  }
}

/** Bytes of UTF-8 that a UTF-16 unit takes at most. */
const UNIT_BYTES_MAX = 3;

function checkSize({ settings: { callBytesMax } }: Reading, documents: readonly GivenDocument[]): void {
  // What surely fits is not counted exactly.
  if (documents.reduce((units, { content }) => units + content.length, 0) * UNIT_BYTES_MAX <= callBytesMax) return;
  const size = documents.reduce((bytes, { content }) => bytes + Buffer.byteLength(content), 0);
  if (size <= callBytesMax) return;
  throw new ToolLayerError(
    'E3102',
    `The documents of the call have ${size} bytes; at most ${callBytesMax} are given to a tool. Ask for fewer.`,
    { details: { limit: 'document_bridge.call_bytes_max', max: callBytesMax } },
  );
}
