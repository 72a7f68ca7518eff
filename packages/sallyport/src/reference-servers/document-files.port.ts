/** A file of this machine that becomes a document. */
export interface DocumentFile {
  /** Absolute. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** Files of this machine that may be ingested by their path. */
export interface DocumentFiles {
  /**
   * @param path absolute, or relative to the first folder of `documents.folders`
   * @throws ToolLayerError E3102 for a file with more than `bytesMax` bytes; E3105 for a path that this tenant may not
   *   use; E3109 for what is no file; E3210 for a file that the settings keep closed; the reason of the signal
   */
  read(tenantId: string, path: string, bytesMax: number, signal: AbortSignal): Promise<DocumentFile>;
}
