import type { DocumentContentType } from '../../api/schemas/reference-servers/documents.ts';

/** A document as text. */
export interface ReadText {
  /** Markdown or plain text. */
  readonly content: string;
  /** As the document states it. */
  readonly title?: string;
  /** What was left out. */
  readonly notes: readonly string[];
}

/** Turns what people write with into text, in a bounded place: such files are made to break their readers. */
export interface DocumentReader {
  /**
   * @throws ToolLayerError E3109 for what is no such document; E3102 when it takes too long or too much memory; E3101
   *   when there is no sandbox to read it in; the reason of the signal
   */
  read(
    bytes: Uint8Array,
    contentType: Exclude<DocumentContentType, 'text/markdown' | 'text/plain'>,
    signal: AbortSignal,
  ): Promise<ReadText>;
}
