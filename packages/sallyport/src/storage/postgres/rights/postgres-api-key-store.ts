import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import type { EventsOf } from '../../../domain/event/events-of.ts';
import type { ApiKeyStore, StoredApiKey } from '../../../identity/api-keys.port.ts';
import { inDatabase } from '../database-error.ts';
import { keyOfText, keyText } from '../key-text.ts';
import { keepEvents } from '../ledger/unrecorded-events.ts';
import type { Tables } from '../schema/tables.ts';
import { nextRevision, revisionOf } from './identity-revision.ts';

const TABLE = 'sallyport.api_keys';

type Row = Tables[typeof TABLE];

/** API keys in PostgreSQL. */
export function postgresApiKeyStore(database: Kysely<Tables>): ApiKeyStore {
  return {
    insert: (key, events) =>
      inDatabase('keep the API key', () =>
        database.transaction().execute(async (transaction) => {
          const revision = await nextRevision(transaction, 'api-keys');
          await transaction.insertInto(TABLE).values(rowOf(key, revision)).execute();
          await keepEvents(transaction, events?.(key));
        }),
      ),
    revoke: (...of) => inDatabase('revoke the API key', () => revoke(database, ...of)),
    changedSince: (revision) =>
      inDatabase('ask for API keys', async () => {
        // Reads the revision first: rows that are written meanwhile may be included already, and are then read once
        // more.
        const latest = await revisionOf(database, 'api-keys');
        if (latest === revision) return { revision, keys: [] };
        const rows = await database.selectFrom(TABLE).selectAll().where('revision', '>', String(revision)).execute();
        return { revision: latest, keys: rows.map(keyOf) };
      }),
    list: (tenantId) =>
      inDatabase('list the API keys', async () => {
        const own = database.selectFrom(TABLE).selectAll().where('tenant_id', '=', keyText(tenantId));
        const rows = await own.orderBy('created_at', 'desc').orderBy('key_id').execute();
        return rows.map(keyOf);
      }),
    noteUses: (uses) =>
      inDatabase('keep when API keys were used', async () => {
        if (uses.length === 0) return;
        const ids = uses.map(({ id }) => keyText(id));
        const times = uses.map(({ atMs }) => new Date(atMs).toISOString());
        await sql`
update sallyport.api_keys set last_used_at = used.at
from (select unnest(${ids}::text[]) as id, unnest(${times}::timestamptz[]) as at order by 1) as used
where key_id = used.id and (last_used_at is null or last_used_at < used.at)`.execute(database);
      }),
    prune: (beforeMs) =>
      inDatabase('remove old API keys', async () => {
        const before = new Date(beforeMs);
        const { numDeletedRows } = await database
          .deleteFrom(TABLE)
          .where(({ eb, or }) => or([eb('revoked_at', '<=', before), eb('expires_at', '<=', before)]))
          .executeTakeFirst();
        return Number(numDeletedRows);
      }),
  };
}

function revoke(
  database: Kysely<Tables>,
  tenantId: string,
  id: string,
  atMs: number,
  events?: EventsOf<StoredApiKey>,
): Promise<StoredApiKey | undefined> {
  return database.transaction().execute(async (transaction) => {
    const revision = await nextRevision(transaction, 'api-keys');
    const row = await transaction
      .updateTable(TABLE)
      .set({ revoked_at: sql`coalesce(revoked_at, ${new Date(atMs).toISOString()}::timestamptz)`, revision })
      .where('tenant_id', '=', keyText(tenantId))
      .where('key_id', '=', keyText(id))
      .returningAll()
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const revoked = keyOf(row);
    await keepEvents(transaction, events?.(revoked));
    return revoked;
  });
}

function rowOf(key: StoredApiKey, revision: number): Insertable<Row> {
  return {
    key_id: keyText(key.id),
    tenant_id: keyText(key.tenantId),
    name: keyText(key.name),
    key_hash: key.hash,
    prefix: key.prefix,
    claims: JSON.stringify(key.claims),
    created_at: new Date(key.createdAt),
    created_by: keyText(key.createdBy),
    expires_at: dateOf(key.expiresAt),
    revoked_at: dateOf(key.revokedAt),
    last_used_at: dateOf(key.lastUsedAt),
    revision,
  };
}

function keyOf(row: Selectable<Row>): StoredApiKey {
  const { expires_at: expiresAt, revoked_at: revokedAt, last_used_at: lastUsedAt } = row;
  return {
    id: keyOfText(row.key_id),
    tenantId: keyOfText(row.tenant_id),
    name: keyOfText(row.name),
    hash: row.key_hash,
    prefix: row.prefix,
    claims: row.claims,
    createdAt: row.created_at.getTime(),
    createdBy: keyOfText(row.created_by),
    ...(expiresAt === null ? {} : { expiresAt: expiresAt.getTime() }),
    ...(revokedAt === null ? {} : { revokedAt: revokedAt.getTime() }),
    ...(lastUsedAt === null ? {} : { lastUsedAt: lastUsedAt.getTime() }),
  };
}

const dateOf = (ms: number | undefined): Date | null => (ms === undefined ? null : new Date(ms));
