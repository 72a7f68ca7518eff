// Hot path: what is remembered and fresh is found without a turn of the event loop.
import { isPattern } from '../../domain/document/document-ref.ts';
import type { DocumentPin, GivenDocument, WantedDocument } from '../../domain/document/given-document.ts';
import { readVersions, rememberedVersion, versionRef, type WantedVersion } from './document-versions.ts';
import { readNewest, rememberedNewest } from './newest-documents.ts';
import type { Reading } from './reading.ts';
import type { Found, Remembered } from './remembered-answers.ts';

/** What is to be read for one asked-for document. */
export interface Target {
  readonly wanted: WantedDocument;
  readonly pin: DocumentPin | undefined;
  /** Undefined for the newest one. */
  readonly version: WantedVersion | undefined;
  /** Id of the document; undefined when the server chooses one, for a pattern or a question. */
  readonly named: string | undefined;
}

/** The target of an asked-for document: the version that earlier runs had, the one it names, or the newest one. */
export function targetOf(wanted: WantedDocument, pins: readonly DocumentPin[]): Target {
  const { ref, version: asked, isQuestion } = wanted;
  const pin = wanted.isPinned ? pins.find((each) => each.ref === pinRef(wanted)) : undefined;
  if (pin !== undefined) {
    const { documentId, version } = pin;
    return { wanted, pin, version: { documentId, version, existed: true }, named: documentId };
  }
  const version = asked === undefined ? undefined : { documentId: ref, version: asked, existed: false };
  return { wanted, pin, version, named: isQuestion || isPattern(ref) ? undefined : ref };
}

/** The name of a pin: a call may ask for two versions of one document. */
export const pinRef = ({ ref, version }: WantedDocument): string => (version === undefined ? ref : `${ref}@${version}`);

/** A target with its document. */
export interface FoundTarget {
  readonly target: Target;
  readonly document: GivenDocument;
}

/** A target with what is remembered of it. */
interface Known {
  readonly target: Target;
  readonly found: Found<GivenDocument>;
}

/**
 * Finds the document of each target: remembered ones, the rest from the server.
 * @throws ToolLayerError what reading newest documents and versions throws
 */
export function findAll(
  reading: Reading,
  targets: readonly Target[],
): readonly FoundTarget[] | Promise<readonly FoundTarget[]> {
  const known = targets.map((target): Known => ({ target, found: rememberedOf(reading, target) }));
  return known.every(isFresh)
    ? known.map(({ target, found }) => ({ target, document: found.answer }))
    : withMissing(reading, known);
}

const rememberedOf = (reading: Reading, { wanted, version }: Target): Found<GivenDocument> =>
  version === undefined ? rememberedNewest(reading, wanted) : rememberedVersion(reading, version);

const isFresh = (known: Known): known is Known & { readonly found: Remembered<GivenDocument> } =>
  known.found !== undefined && !(known.found instanceof Promise) && known.found.isFresh;

async function withMissing(reading: Reading, known: readonly Known[]): Promise<readonly FoundTarget[]> {
  const all = await Promise.all(known.map(async ({ target, found }) => ({ target, known: await found })));
  const missing = all.filter(({ known: each }) => each?.isFresh !== true);
  const [versions, newest] = await Promise.all([
    readVersions(
      reading,
      missing.flatMap(({ target: { version }, known: here }) =>
        version === undefined ? [] : [{ ...version, here: here?.answer }],
      ),
    ),
    readNewest(
      reading,
      missing.flatMap(({ target: { wanted, version }, known: stale }) =>
        version === undefined ? [{ ...wanted, stale: stale?.answer }] : [],
      ),
    ),
  ]);
  return all.map(({ target, known: each }) => {
    const { wanted, version } = target;
    if (each?.isFresh === true) return { target, document: each.answer };
    const document = version === undefined ? newest.get(wanted.ref) : versions.get(versionRef(version));
    if (document === undefined) throw new Error('a document was neither found nor refused');
    return { target, document };
  });
}
