import type { GivenDocument } from '../../domain/document/given-document.ts';
import { broken } from '../../domain/document/structured-answer.ts';
import { askServer, mayFallBack } from './ask-server.ts';
import { notFound, type Reading, warn } from './reading.ts';
import type { Found } from './remembered-answers.ts';
import { answersIn, documentIn } from './server-answer.ts';

/** A reference whose newest version is wanted. */
export interface WantedNewest {
  readonly ref: string;
  readonly isQuestion: boolean;
  /** What is remembered of it, too old to be given as long as the server answers. */
  readonly stale?: GivenDocument | undefined;
}

/** Code of the warning on a document that was taken from the cache because the server failed. */
const STALE = 'document_stale';

/** The newest version that is remembered. What answers a question depends on all documents, so none is. */
export const rememberedNewest = (
  { remembered, place }: Reading,
  { ref, isQuestion }: Pick<WantedNewest, 'ref' | 'isQuestion'>,
): Found<GivenDocument> => (isQuestion ? undefined : remembered.newest(place, ref));

/**
 * The newest versions in one request; when that fails, old ones, then those of the other source (DOC-03).
 * @returns the documents by reference
 * @throws ToolLayerError E3601, and what `askServer` throws when no source has one
 */
export async function readNewest(
  reading: Reading,
  wanted: readonly WantedNewest[],
): Promise<ReadonlyMap<string, GivenDocument>> {
  const found = new Map<string, GivenDocument>();
  if (wanted.length === 0) return found;
  try {
    await ask(reading, wanted, found);
  } catch (thrown) {
    if (!mayFallBack(thrown, reading.place.scope)) throw thrown;
    const left = wanted.filter(({ ref }) => !found.has(ref));
    for (const { ref, stale } of left) takeStale(reading, ref, stale, found);
    const none = left.filter(({ ref }) => !found.has(ref));
    if (none.length > 0) await askDirectly(reading, none, found, thrown);
  }
  return found;
}

/** Asks until every reference is answered: an answer may be full before it holds all. */
async function ask(
  reading: Reading,
  wanted: readonly WantedNewest[],
  found: Map<string, GivenDocument>,
  source = reading.server,
): Promise<void> {
  let left = wanted;
  while (left.length > 0) {
    const since = reading.remembered.changes;
    const asked = left.map(({ ref }) => ref);
    const structured = await askServer(source, reading.settings, {
      ...{ reader: reading.reader, signal: reading.signal },
      tool: 'get_source_of_truth',
      args: argumentsOf(left),
    });
    const { found: answers, missing } = answersIn(structured, asked, documentIn);
    for (const { ref, answer } of answers) {
      found.set(ref, answer);
      const isQuestion = left.some((one) => one.ref === ref && one.isQuestion);
      if (isQuestion) reading.remembered.keepVersion(reading.place, answer, since);
      else await reading.remembered.keepNewest(reading.place, ref, answer, since);
    }
    const unanswered = left.filter(({ ref }) => !found.has(ref));
    for (const { ref } of unanswered) refuseLost(ref, missing, unanswered.length === left.length);
    left = unanswered;
  }
}

/** A document that did not fit into an answer is asked for again, as long as the answers bring any. */
function refuseLost(
  ref: string,
  missing: readonly { readonly ref: string; readonly reason: string }[],
  isStuck: boolean,
): void {
  const reason = missing.find((one) => one.ref === ref)?.reason;
  if (reason === 'answer_full' && !isStuck) return;
  if (reason === undefined || reason === 'answer_full') throw broken('it does not answer for every document');
  throw notFound(ref);
}

function argumentsOf(wanted: readonly WantedNewest[]): Readonly<Record<string, unknown>> {
  const refs = wanted.filter(({ isQuestion }) => !isQuestion).map(({ ref }) => ref);
  const question = wanted.find(({ isQuestion }) => isQuestion)?.ref;
  return {
    ...(refs.length === 0 ? {} : { document_refs: refs }),
    ...(question === undefined ? {} : { query: question }),
  };
}

function takeStale(
  { warnings }: Reading,
  ref: string,
  document: GivenDocument | undefined,
  found: Map<string, GivenDocument>,
): void {
  if (document === undefined) return;
  found.set(ref, document);
  const message = 'The document server cannot be asked, so the document may not be the newest version.';
  warn(warnings, STALE, message, document.document_id);
}

/** @throws the server's failure when the other source fails too */
async function askDirectly(
  reading: Reading,
  wanted: readonly WantedNewest[],
  found: Map<string, GivenDocument>,
  failed: unknown,
): Promise<void> {
  const { direct, log } = reading;
  if (direct === undefined) throw failed;
  try {
    await ask(reading, wanted, found, direct);
  } catch (thrown) {
    if (!mayFallBack(thrown, reading.place.scope)) throw thrown;
    log.warn('document-source-failed', { cause: thrown });
    throw failed;
  }
}
