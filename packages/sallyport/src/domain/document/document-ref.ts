/** Longest reference to a document, in characters. */
const REF_CHARS_MAX = 512;
const SCHEME = /^(?:document|doc):\/\//;
const REF = /^[^\s\p{C}@]+$/u;
/** Greedy: the last mark counts. */
const VERSIONED = /^(.*)(?:@|\/versions\/)(.*)$/s;
const VERSION = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$/;

/** A reference to a document: its id or a pattern of ids, and perhaps a version. */
export interface DocumentRef {
  readonly ref: string;
  /** Absent for the newest one. */
  readonly version?: string;
}

/**
 * Reads `ID`, `ID@VERSION`, `ID/versions/VERSION` or a pattern such as `spec:requirements-*`, each with `document://` or
 * `doc://` in front or without.
 * @returns undefined when it is none of them
 */
export function readDocumentRef(text: string): DocumentRef | undefined {
  if (text.length > REF_CHARS_MAX) return undefined;
  const plain = text.replace(SCHEME, '');
  const [, ref = plain, version] = VERSIONED.exec(plain) ?? [];
  if (!REF.test(ref)) return undefined;
  if (version === undefined || version === 'latest') return { ref };
  // A pattern can be answered with any document, of which nobody knows the versions.
  return VERSION.test(version) && !isPattern(ref) ? { ref, version } : undefined;
}

/** True for a pattern of ids, which the document server resolves. */
export const isPattern = (ref: string): boolean => ref.includes('*');
