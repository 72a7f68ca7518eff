import { sha256 } from '@sallyport/std/sha256';
import type { Insertable, Kysely, Selectable } from 'kysely';
import type { EventsOf } from '../../../domain/event/events-of.ts';
import { type RevocationStore, type StoredRevocation, widened } from '../../../identity/revocations.port.ts';
import { inDatabase } from '../database-error.ts';
import { keyOfText, keyText } from '../key-text.ts';
import { keepEvents } from '../ledger/unrecorded-events.ts';
import type { Tables } from '../schema/tables.ts';
import { nextRevision, revisionOf } from './identity-revision.ts';

const TABLE = 'sallyport.revocations';

type Row = Tables[typeof TABLE];

/** Revocations in PostgreSQL. A subject may be longer than an index entry, so its SHA-256 is indexed. */
export function postgresRevocationStore(database: Kysely<Tables>): RevocationStore {
  return {
    put: (revocation, events) => inDatabase('keep the revocation', () => put(database, revocation, events)),
    lift: (tenantId, id, events) =>
      inDatabase('lift the revocation', () =>
        database.transaction().execute(async (transaction) => {
          const revision = await nextRevision(transaction, 'revocations');
          const row = await transaction
            .updateTable(TABLE)
            .set({ lifted_at: new Date(), revision })
            .where('tenant_id', '=', keyText(tenantId))
            .where('revocation_id', '=', keyText(id))
            .where('lifted_at', 'is', null)
            .returningAll()
            .executeTakeFirst();
          if (row === undefined) return undefined;
          const lifted = revocationOf(row);
          await keepEvents(transaction, events?.(lifted));
          return lifted;
        }),
      ),
    changedSince: (revision) =>
      inDatabase('ask for revocations', async () => {
        // Reads the revision first: rows that are written meanwhile may be included already, and are then read once
        // more.
        const latest = await revisionOf(database, 'revocations');
        if (latest === revision) return { revision, revocations: [] };
        const rows = await database.selectFrom(TABLE).selectAll().where('revision', '>', String(revision)).execute();
        return { revision: latest, revocations: rows.map(revocationOf) };
      }),
    list: (tenantId, limit, offset) =>
      inDatabase('list the revocations', async () => {
        const standing = database
          .selectFrom(TABLE)
          .where('tenant_id', '=', keyText(tenantId))
          .where('lifted_at', 'is', null);
        const rows = standing.selectAll().orderBy('revoked_at', 'desc').orderBy('revocation_id').limit(limit);
        const count = standing.select(({ fn }) => fn.countAll<string>().as('count'));
        const [page, counted] = [await rows.offset(offset).execute(), await count.executeTakeFirstOrThrow()];
        return { revocations: page.map(revocationOf), total: Number(counted.count) };
      }),
    prune: (expiredBeforeMs, liftedBeforeMs) =>
      inDatabase('remove old revocations', async () => {
        const { numDeletedRows } = await database
          .deleteFrom(TABLE)
          .where(({ eb, or }) =>
            or([eb('expires_at', '<=', new Date(expiredBeforeMs)), eb('lifted_at', '<=', new Date(liftedBeforeMs))]),
          )
          .executeTakeFirst();
        return Number(numDeletedRows);
      }),
  };
}

function put(
  database: Kysely<Tables>,
  added: StoredRevocation,
  events?: EventsOf<StoredRevocation>,
): Promise<StoredRevocation> {
  return database.transaction().execute(async (transaction) => {
    const revision = await nextRevision(transaction, 'revocations');
    const standing = await transaction
      .selectFrom(TABLE)
      .selectAll()
      .where('tenant_id', '=', keyText(added.tenantId))
      .where('kind', '=', added.kind)
      .where('subject_hash', '=', hashOf(added.subject))
      .where('lifted_at', 'is', null)
      .executeTakeFirst();
    const kept = standing === undefined ? added : widened(revocationOf(standing), added);
    const row = rowOf(kept, revision);
    await transaction
      .insertInto(TABLE)
      .values(row)
      .onConflict((conflict) => conflict.columns(['tenant_id', 'kind', 'subject_hash']).doUpdateSet(row))
      .execute();
    await keepEvents(transaction, events?.(kept));
    return kept;
  });
}

const hashOf = (subject: string): string => sha256(keyText(subject));

function rowOf(revocation: StoredRevocation, revision: number): Insertable<Row> {
  const { id, tenantId, kind, subject, issuedBefore, expiresAt, revokedAt, revokedBy, reason } = revocation;
  return {
    tenant_id: keyText(tenantId),
    kind,
    subject_hash: hashOf(subject),
    revocation_id: keyText(id),
    subject: keyText(subject),
    issued_before: issuedBefore ?? null,
    expires_at: expiresAt === undefined ? null : new Date(expiresAt),
    revoked_at: new Date(revokedAt),
    revoked_by: keyText(revokedBy),
    reason: reason === undefined ? null : keyText(reason),
    lifted_at: null,
    revision,
  };
}

function revocationOf(row: Selectable<Row>): StoredRevocation {
  const { issued_before: issuedBefore, expires_at: expiresAt, reason, lifted_at: liftedAt } = row;
  return {
    id: keyOfText(row.revocation_id),
    tenantId: keyOfText(row.tenant_id),
    kind: row.kind,
    subject: keyOfText(row.subject),
    ...(issuedBefore === null ? {} : { issuedBefore }),
    ...(expiresAt === null ? {} : { expiresAt: expiresAt.getTime() }),
    revokedAt: row.revoked_at.getTime(),
    revokedBy: keyOfText(row.revoked_by),
    ...(reason === null ? {} : { reason: keyOfText(reason) }),
    ...(liftedAt === null ? {} : { lifted: true as const }),
  };
}
