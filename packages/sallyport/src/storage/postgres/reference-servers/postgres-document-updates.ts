import type { Client, Pool } from 'pg';
import type { DocumentUpdate, DocumentUpdates } from '../../../bridges/document-updates.port.ts';
import type { Log } from '../../../telemetry/log.ts';
import { inDatabase } from '../database-error.ts';
import { listen } from '../rights/listen.ts';

/** Channel of the notifications; also for programs that change documents elsewhere (DOC-02). */
const CHANNEL = 'document:updates';

/** Dependencies of the updates of documents. */
export interface PostgresDocumentUpdatesParts {
  readonly pool: Pool;
  /** A new connection beside the pool, for LISTEN. */
  readonly connect: () => Client;
  readonly log: Log;
}

/**
 * Updates of documents to and from all instances over one database. After a lost connection, and for a payload that no
 * instance sent, subscribers are notified that they may have missed something.
 */
export async function openPostgresDocumentUpdates({
  pool,
  connect,
  log,
}: PostgresDocumentUpdatesParts): Promise<DocumentUpdates> {
  const listeners = new Set<{ readonly receive: (update: DocumentUpdate | undefined) => void }>();
  const notify = (update: DocumentUpdate | undefined): void => {
    for (const { receive } of listeners) {
      try {
        receive(update);
      } catch {
        // A failure of one listener does not concern the others.
      }
    }
  };
  const listening = await listen({
    channel: CHANNEL,
    connect,
    notified: (payload) => notify(updateIn(payload)),
    again: () => notify(undefined),
    log,
  });
  return {
    async publish(update) {
      // Not left to the notification, which comes later, and never while the connection is lost.
      notify(update);
      const { tenantId, documentId, version, deleted } = update;
      const payload = JSON.stringify({ tenant_id: tenantId, document_id: documentId, version, deleted });
      await inDatabase('notify the other instances of a changed document', () =>
        pool.query('select pg_notify($1, $2)', [CHANNEL, payload]),
      );
    },
    subscribe(receive) {
      const listener = { receive };
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    async [Symbol.asyncDispose]() {
      listeners.clear();
      await listening[Symbol.asyncDispose]();
    },
  };
}

/** Undefined for the payload of another program that names no document. */
function updateIn(payload: string): DocumentUpdate | undefined {
  try {
    const { tenant_id, document_id, version, deleted } = JSON.parse(payload) as Record<string, unknown>;
    if (typeof tenant_id !== 'string' || typeof document_id !== 'string') return undefined;
    const update = { tenantId: tenant_id, documentId: document_id, version: String(version ?? '') };
    return deleted === true ? { ...update, deleted } : update;
  } catch {
    return undefined;
  }
}
