import type { DocumentContentType } from '../../api/schemas/reference-servers/documents.ts';

/** What a document is, beside its content. Its versions share this but for the facts of their content. */
export interface DocumentFacts {
  readonly documentId: string;
  readonly title: string;
  readonly tags: readonly string[];
  /** 0 to 100. */
  readonly authority: number;
  readonly source?: string;
  readonly deprecation?: Deprecation;
  /** Epoch ms, of the first version. */
  readonly createdAt: number;
}

/** Why a document should no longer be used. */
export interface Deprecation {
  readonly reason: string;
  readonly successorId?: string;
  /** Epoch ms. */
  readonly at: number;
}

/** Facts of one content of a document. */
export interface VersionFacts {
  /** From 1; a number is missing only where its version was deleted. */
  readonly version: number;
  readonly contentType: DocumentContentType;
  /** SHA-256 of the content as UTF-8, hex. */
  readonly sha256: string;
  /** Length of the content as UTF-8. */
  readonly bytes: number;
  /** Epoch ms. */
  readonly storedAt: number;
}

/** One version of a document. */
export interface StoredVersion extends DocumentFacts, VersionFacts {
  /** The newest version of the document. */
  readonly newest: number;
}

/** A version with its content. */
export interface VersionWithContent extends StoredVersion {
  readonly content: string;
}

/** A document to be stored. */
export interface NewDocument {
  readonly documentId: string;
  readonly title: string;
  readonly tags: readonly string[];
  readonly authority: number;
  readonly source?: string;
  readonly content: string;
  readonly contentType: DocumentContentType;
  readonly sha256: string;
  /** SHA-256 of its passages, hex, in their order; see `Passages`. */
  readonly passages: readonly string[];
  readonly shingles: Shingles;
  /** Epoch ms. */
  readonly at: number;
  readonly by: { readonly agentDid: string; readonly userDid?: string };
}

/** A sample of the hashes of all short sequences of words in a text: the hashes that `step` divides. */
export interface Shingles {
  /** A power of 4; the same hashes are in the sample of every text with this step or a smaller one. */
  readonly step: number;
  /** 32-bit signed integers, each once. */
  readonly hashes: readonly number[];
}

/** When a document is not stored as asked. */
export interface PutTerms {
  /** The version that has to be the newest. */
  readonly expected?: number;
  /** Whether there must be no document of this id, unless with the same content. */
  readonly mustBeNew: boolean;
  /** Documents that the tenant may have. */
  readonly documentsMax: number;
  /** Versions that the document may have. */
  readonly versionsMax: number;
}

/**
 * What became of a document to be stored; `conflict`: the terms are not met, and `stored` is what is there; `full`: the
 * tenant has as many documents, or the document as many versions, as it may have.
 */
export interface PutOutcome {
  readonly outcome: 'created' | 'new_version' | 'unchanged' | 'conflict' | 'full';
  /** Undefined when there is no document of this id. */
  readonly stored: StoredVersion | undefined;
}

/** What became of versions to be deleted; `newest`: the version is the newest one, and is deleted with its document alone. */
export type DeleteOutcome = { readonly deleted: number } | 'unknown' | 'newest';

/** Which documents are meant. */
export interface DocumentFilter {
  /** Documents that have all of these tags. */
  readonly tags?: readonly string[];
  readonly authorityMin?: number;
  readonly includeDeprecated: boolean;
}

/** A document that was found by words. */
export interface WordHit {
  readonly documentId: string;
  /** Comparable within one answer. */
  readonly score: number;
}

/** A document whose shingles are partly those of a text. */
export interface ShingleHit {
  readonly documentId: string;
  readonly shingles: Shingles;
}

/** The passages of the newest version of a document, for the search by meaning. */
export interface Passages {
  readonly documentId: string;
  readonly version: number;
  readonly hashes: readonly string[];
}

/** Documents of tenants with all their versions, durable. Tenants are separate. All methods throw E3812. */
export interface DocumentStore {
  /**
   * Stores a document, as a new version when its content differs from the newest one; else only what else is said of it
   * is taken over. A deprecation is lifted by a new version. One writer of a document at a time.
   */
  put(tenantId: string, document: NewDocument, terms: PutTerms): Promise<PutOutcome>;
  /** The newest versions, in no order; unknown ids are left out. */
  find(tenantId: string, documentIds: readonly string[]): Promise<readonly StoredVersion[]>;
  /** Versions with their contents, in no order; unknown ones are left out. */
  read(
    tenantId: string,
    versions: readonly { readonly documentId: string; readonly version: number }[],
  ): Promise<readonly VersionWithContent[]>;
  /** Sizes of the contents of versions, in no order; unknown ones are left out. */
  sizes(
    tenantId: string,
    versions: readonly { readonly documentId: string; readonly version: number }[],
  ): Promise<readonly Pick<StoredVersion, 'documentId' | 'version' | 'bytes'>[]>;
  /** Newest versions whose id fits a pattern, `*` for any characters; the highest authority first, then the newest. */
  matching(tenantId: string, pattern: string, filter: DocumentFilter, limit: number): Promise<readonly StoredVersion[]>;
  /** Documents with any of the words of a text, stemmed as English ones are; best first. */
  withWords(tenantId: string, text: string, filter: DocumentFilter, limit: number): Promise<readonly WordHit[]>;
  /** Documents that share the most shingles with a text, at least one; `except` is left out. */
  sharing(tenantId: string, shingles: Shingles, limit: number, except?: string): Promise<readonly ShingleHit[]>;
  /** The newest version of the deprecated document; undefined for an unknown one. */
  deprecate(tenantId: string, documentId: string, deprecation: Deprecation): Promise<StoredVersion | undefined>;
  /**
   * Deletes a document with all its versions, or one version of it, and the vectors of their passages. Versions of a document
   * of the same id later begin at 1 again.
   */
  delete(tenantId: string, documentId: string, version?: number): Promise<DeleteOutcome>;
  /** Passages of documents in the order of their ids, after one of them; empty at the end. */
  passages(tenantId: string, after: string, limit: number): Promise<readonly Passages[]>;
  /** Passages of these documents; unknown ones are left out. */
  passagesOf(tenantId: string, documentIds: readonly string[]): Promise<readonly Passages[]>;
}
