import type { Document } from '../../../api/schemas/reference-servers/documents.ts';
import type { DocumentAccessMode } from '../../../api/schemas/tool-manifest.ts';

/**
 * A document as a tool gets it. Its members are those of the document server's answer, also in a sandbox and as an
 * argument; what a server does not say of a document is absent.
 */
export type GivenDocument = Pick<Document, 'document_id' | 'version' | 'uri' | 'content' | 'content_sha256'> &
  Partial<
    Pick<
      Document,
      | 'title'
      | 'content_type'
      | 'tags'
      | 'authority'
      | 'source'
      | 'status'
      | 'deprecation'
      | 'created_at'
      | 'updated_at'
    >
  >;

export type { DocumentAccessMode };

/**
 * Asks the policies whether a call may use a document.
 * @throws ToolLayerError E3603 when it may not; E3206 when they give no answer
 */
export type CheckDocument = (documentId: string, mode: DocumentAccessMode) => Promise<void>;

/** A document that a call asks for: by its id, a pattern of ids or a `document://` URI, or by a question. */
export interface WantedDocument {
  /** As it was written, without a version. */
  readonly ref: string;
  /** True when `ref` is a question in words. */
  readonly isQuestion: boolean;
  /** Absent for the newest one. */
  readonly version?: string;
  readonly mode: DocumentAccessMode;
  /** Whether later runs of the work get the same version. */
  readonly isPinned: boolean;
}

/** The version that one asked-for document has for all runs of a call, and of the calls that resume it. */
export interface DocumentPin {
  /** What was asked for. */
  readonly ref: string;
  readonly documentId: string;
  readonly version: string;
  /** SHA-256 of its content, hex. */
  readonly sha256: string;
}
