/** A document that has a new version, other metadata, or was deprecated or deleted. */
export interface DocumentUpdate {
  readonly tenantId: string;
  readonly documentId: string;
  /** The newest version; empty for a document that is gone. */
  readonly version: string;
  /** Versions were deleted: nobody gives them from memory any more. */
  readonly deleted?: true;
}

/**
 * Notifies every instance of changed documents: the channel `document:updates` (DOC-02), with the payload
 * `{tenant_id, document_id, version, deleted?}`. The publishing instance is notified too.
 */
export interface DocumentUpdates extends AsyncDisposable {
  /** @throws E3812 when the other instances cannot be notified; the listeners of this one are notified in any case */
  publish(update: DocumentUpdate): Promise<void>;
  /**
   * Subscribes until the returned handle is disposed. `undefined` in place of an update says that updates may have been
   * missed, so that everything remembered is out of date. A listener that throws does not affect the others.
   */
  subscribe(listener: (update: DocumentUpdate | undefined) => void): Disposable;
}
