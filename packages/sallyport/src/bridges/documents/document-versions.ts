import type { GivenDocument } from '../../domain/document/given-document.ts';
import { broken } from '../../domain/document/structured-answer.ts';
import type { DocumentServer } from '../document-server.port.ts';
import type { DocumentStatus } from '../document-stores.port.ts';
import { askServer, mayFallBack } from './ask-server.ts';
import { notFound, type Reading, versionGone } from './reading.ts';
import type { Found, Remembered } from './remembered-answers.ts';
import { answersIn, documentIn, statusIn } from './server-answer.ts';

/** A version that is wanted. */
export interface WantedVersion {
  readonly documentId: string;
  readonly version: string;
  /** An earlier run of the work had it, so that it existed. */
  readonly existed: boolean;
}

/** By `<document_id>@<version>`. */
type Versions = Map<string, GivenDocument>;

/** `<document_id>@<version>`, as the server names a missing one. */
export const versionRef = ({ documentId, version }: Pick<WantedVersion, 'documentId' | 'version'>): string =>
  `${documentId}@${version}`;

/**
 * A version that this process has read before, with the status that is remembered of its document; it is not fresh when
 * the server has to be asked for that one.
 */
export function rememberedVersion({ remembered, place }: Reading, wanted: WantedVersion): Found<GivenDocument> {
  const document = remembered.version(place, wanted.documentId, wanted.version);
  if (document === undefined) return undefined;
  const known = remembered.status(place, wanted.documentId);
  const withKnown = (status: Remembered<DocumentStatus> | undefined): Remembered<GivenDocument> =>
    status === undefined
      ? { answer: document, isFresh: false }
      : { answer: withStatus(document, status.answer), isFresh: status.isFresh };
  return known instanceof Promise ? known.then(withKnown) : withKnown(known);
}

/**
 * Versions of documents that are not remembered, in one request. When that fails: a remembered newest version, where it
 * is the wanted one, then the other source (DOC-03).
 * @param wanted `here` is the version where only the status of its document is to be asked for
 * @returns the documents by `<document_id>@<version>`
 * @throws ToolLayerError E3601 E3604, and what `askServer` throws when no source has one
 */
export async function readVersions(
  reading: Reading,
  wanted: readonly (WantedVersion & { readonly here?: GivenDocument | undefined })[],
): Promise<ReadonlyMap<string, GivenDocument>> {
  const found: Versions = new Map();
  if (wanted.length === 0) return found;
  const { here = [], missing = [] } = Object.groupBy(wanted, (one) => (one.here === undefined ? 'missing' : 'here'));
  for (const one of here) if (one.here !== undefined) found.set(versionRef(one), one.here);
  await Promise.all([addStatus(reading, here, found), fetchVersions(reading, missing, found)]);
  return found;
}

async function fetchVersions(reading: Reading, wanted: readonly WantedVersion[], found: Versions): Promise<void> {
  try {
    await ask(reading, wanted, found);
  } catch (failed) {
    if (!mayFallBack(failed, reading.place.scope)) throw failed;
    for (const one of wanted) {
      const newest = await reading.remembered.newest(reading.place, one.documentId);
      if (newest !== undefined && isVersion(newest.answer, one)) found.set(versionRef(one), newest.answer);
    }
    const left = wanted.filter((one) => !found.has(versionRef(one)));
    if (left.length === 0) return;
    if (reading.direct === undefined) throw failed;
    await ask(reading, left, found, reading.direct).catch((thrown: unknown) => {
      throw mayFallBack(thrown, reading.place.scope) ? failed : thrown;
    });
  }
}

const isVersion = (document: GivenDocument, { documentId, version }: WantedVersion): boolean =>
  document.document_id === documentId && document.version === version;

/** Asks until every version is answered: an answer may be full before it holds all. */
async function ask(
  reading: Reading,
  wanted: readonly WantedVersion[],
  found: Versions,
  source: DocumentServer = reading.server,
): Promise<void> {
  let left = wanted;
  while (left.length > 0) {
    const since = reading.remembered.changes;
    const structured = await askServer(source, reading.settings, {
      ...{ reader: reading.reader, signal: reading.signal },
      tool: 'get_document_version',
      args: { documents: left.map(({ documentId, version }) => ({ document_id: documentId, version })) },
    });
    const { found: answers, missing } = answersIn(structured, left.map(versionRef), documentIn, (document) =>
      versionRef({ documentId: document.document_id, version: document.version }),
    );
    for (const { answer } of answers) {
      const one = left.find((each) => isVersion(answer, each));
      if (one === undefined) throw broken('it answers with another version than was asked for');
      found.set(versionRef(one), answer);
      reading.remembered.keepVersion(reading.place, answer, since);
    }
    const unanswered = left.filter((one) => !found.has(versionRef(one)));
    for (const one of unanswered) refuseLost(one, missing, unanswered.length === left.length);
    left = unanswered;
  }
}

/** A version that did not fit into an answer is asked for again, as long as the answers bring any. */
function refuseLost(
  one: WantedVersion,
  missing: readonly { readonly ref: string; readonly reason: string }[],
  isStuck: boolean,
): void {
  const reason = missing.find(({ ref }) => ref === versionRef(one))?.reason;
  if (reason === 'answer_full' && !isStuck) return;
  if (reason === undefined || reason === 'answer_full') throw broken('it does not answer for every document');
  throw one.existed || reason === 'version_not_found'
    ? versionGone(one.documentId, one.version)
    : notFound(one.documentId);
}

/** A version never changes, but its document may be deprecated or gone meanwhile. */
async function addStatus(reading: Reading, here: readonly WantedVersion[], found: Versions): Promise<void> {
  const statuses = await statusesOf(reading, [...new Set(here.map(({ documentId }) => documentId))]);
  for (const one of here) {
    const status = statuses.get(one.documentId);
    if (status === 'gone') throw versionGone(one.documentId, one.version);
    const document = found.get(versionRef(one));
    if (document === undefined || status === undefined) continue;
    found.set(versionRef(one), withStatus(document, status));
  }
}

function withStatus(document: GivenDocument, { status, successor_id }: DocumentStatus): GivenDocument {
  const { status: said, deprecation, ...rest } = document;
  if (status === 'active') return said === status && deprecation === undefined ? document : { ...rest, status };
  const successor = successor_id === undefined ? {} : { successor_id };
  return { ...rest, status, deprecation: { reason: '', ...successor, deprecated_at: '' } };
}

/** Statuses by document; of one that nobody can say, none. */
async function statusesOf(
  reading: Reading,
  documentIds: readonly string[],
): Promise<ReadonlyMap<string, DocumentStatus | 'gone'>> {
  const { remembered, place, reader, signal, settings, server, log } = reading;
  const known = new Map<string, DocumentStatus | 'gone'>();
  const asked: string[] = [];
  for (const documentId of documentIds) {
    const status = await remembered.status(place, documentId);
    if (status !== undefined) known.set(documentId, status.answer);
    if (status?.isFresh !== true) asked.push(documentId);
  }
  if (asked.length === 0) return known;
  try {
    const since = remembered.changes;
    const args = { document_ids: asked };
    const structured = await askServer(server, settings, { reader, signal, tool: 'get_document_metadata', args });
    const { found, missing } = answersIn(structured, asked, statusIn);
    for (const { answer } of found) {
      known.set(answer.document_id, answer);
      await remembered.keepStatus(place, answer, since);
    }
    for (const { ref, reason } of missing) if (reason !== 'answer_full') known.set(ref, 'gone');
  } catch (cause) {
    // The versions themselves are here.
    if (!mayFallBack(cause, place.scope)) throw cause;
    log.warn('document-status-unknown', { cause });
  }
  return known;
}
