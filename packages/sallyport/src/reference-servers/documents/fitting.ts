import { KiB } from '@sallyport/std/bytes';
import type { MissingDocument } from '../../../api/schemas/reference-servers/documents.ts';
import type { StoredVersion, VersionWithContent } from '../document-store.port.ts';
import type { DocumentParts } from './document-parts.ts';

/** Contents of one answer together, so that the layer need not cut it; the first document is always in it. */
const ANSWER_BYTES_MAX = 512 * KiB;

/** A version that was asked for; undefined for a version that no document has. */
export interface Wanted {
  readonly ref: string;
  readonly documentId: string;
  readonly version: number | undefined;
}

/** The versions that were asked for, in their order, as many as fit into an answer; and the others. */
export async function fitting<Shown>(
  { store }: Pick<DocumentParts, 'store'>,
  tenantId: string,
  wanted: readonly Wanted[],
  show: (asked: Wanted, stored: VersionWithContent) => Shown,
): Promise<{ readonly documents: Shown[]; readonly missing: MissingDocument[] }> {
  const known = await sizes(store, tenantId, wanted);
  const missing: MissingDocument[] = [];
  const taken: { readonly documentId: string; readonly version: number }[] = [];
  const places: Wanted[] = [];
  let bytes = 0;
  for (const each of wanted) {
    const { ref, documentId, version } = each;
    const size = known.get(keyOf(documentId, version));
    const newest = known.get(documentId);
    if (newest === undefined) {
      missing.push({ ref, reason: 'not_found', message: `There is no document ${documentId}.` });
    } else if (size === undefined || version === undefined) {
      missing.push({
        ref,
        reason: 'version_not_found',
        message: `${documentId} has no version ${version}; the newest one is ${newest}.`,
      });
    } else if (bytes > 0 && bytes + size > ANSWER_BYTES_MAX) {
      missing.push({ ref, reason: 'answer_full', message: 'The answer is full. Ask for this one again.' });
    } else {
      bytes += size;
      taken.push({ documentId, version });
      places.push(each);
    }
  }
  const read = new Map((await store.read(tenantId, taken)).map((each) => [keyOf(each.documentId, each.version), each]));
  const documents = places.flatMap((each) => {
    const stored = read.get(keyOf(each.documentId, each.version));
    return stored === undefined ? [] : [show(each, stored)];
  });
  return { documents, missing };
}

const keyOf = (documentId: string, version: number | undefined): string => `${documentId}\n${version}`;

/** Sizes of versions by `keyOf`, and the newest version of each document by its id. */
async function sizes(
  store: DocumentParts['store'],
  tenantId: string,
  wanted: readonly Wanted[],
): Promise<ReadonlyMap<string, number>> {
  const asked = wanted.flatMap(({ documentId, version }) => (version === undefined ? [] : [{ documentId, version }]));
  const [found, versions] = await Promise.all([
    store.find(tenantId, [...new Set(wanted.map(({ documentId }) => documentId))]),
    store.sizes(tenantId, asked),
  ]);
  return new Map([
    ...found.map((each: StoredVersion) => [each.documentId, each.newest] as const),
    ...versions.map((each) => [keyOf(each.documentId, each.version), each.bytes] as const),
  ]);
}
