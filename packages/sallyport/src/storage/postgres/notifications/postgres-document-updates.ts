import type { Pool } from 'pg';
import type { DocumentUpdate, DocumentUpdates } from '../../../bridges/document-updates.port.ts';
import { createListeners } from '../../listeners.ts';
import { inDatabase } from '../database-error.ts';
import { listen } from './listen.ts';
import { POLL_MS, poll, type UpdatesParts } from './poll.ts';

/** Channel of the notifications; also for programs that change documents elsewhere (DOC-02). */
const CHANNEL = 'document:updates';

const PUBLISH = 'select pg_notify($1, $2)';
/** Each deletion adds to the count in its own transaction. */
const READ = 'select deletions::text from sallyport.document_updates';

/**
 * Updates of documents to and from all instances over one database. After a lost connection, and for a payload that no
 * instance sent, subscribers are notified that they may have missed something. So they are after every deletion, whose
 * count each instance reads twice a second: with a pooler that forbids LISTEN or drops what it brings, a version that
 * was deleted would be given from memory for ever.
 * @throws E3812 when the database cannot be read
 */
export async function openPostgresDocumentUpdates(parts: UpdatesParts): Promise<DocumentUpdates> {
  const { pool, connect, log, pollMs = POLL_MS } = parts;
  const { notify, subscribe, clear } = createListeners<DocumentUpdate | undefined>();
  let known = await deletions(pool);
  const polling = poll({
    read: async () => {
      const found = await deletions(pool);
      if (found !== known) notify(undefined);
      known = found;
    },
    event: 'document-updates-not-read',
    ...{ log, pollMs },
  });
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
        pool.query(PUBLISH, [CHANNEL, payload]),
      );
    },
    subscribe,
    async [Symbol.asyncDispose]() {
      clear();
      await Promise.all([polling[Symbol.asyncDispose](), listening[Symbol.asyncDispose]()]);
    },
  };
}

const deletions = (pool: Pool): Promise<string | undefined> =>
  inDatabase('say whether documents were deleted', async () => {
    const { rows } = await pool.query<{ deletions: string }>(READ);
    return rows[0]?.deletions;
  });

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
