import type { Kysely } from 'kysely';
import type { Pool } from 'pg';
import type { UnrecordedEvents } from '../../../audit/ledger-store.port.ts';
import type { EventDraft } from '../../../domain/event/event-draft.ts';
import { inDatabase } from '../database-error.ts';
import { keyText } from '../key-text.ts';
import { inTransaction } from '../outcomes/in-transaction.ts';
import type { Tables } from '../schema/tables.ts';

const TABLE = 'sallyport.unrecorded_events';
/** Events that one search returns. */
const LEFT_MAX = 100;
/** Arbitrary, but the same in every version of the layer: two searches must not record the same events. */
const SEARCH_LOCK = 5317005;

/**
 * The document of a row of the audit is searched as text: other strings in it are escaped, so that only an id reads like
 * this, and a document with \u0000 cannot be read as JSON.
 */
const LEFT = `
select kept.event_id, kept.draft, exists (
  select from sallyport.audit_events as held where held.tenant_id = kept.tenant_id
    and held.position > kept.after_position and strpos(held.events::text, '"id":"' || kept.event_id || '"') > 0
) as recorded
from ${TABLE} as kept
where kept.kept_at < clock_timestamp() - make_interval(secs => $1::double precision / 1000)
order by kept.kept_at, kept.event_id limit ${LEFT_MAX}`;

/** Events in PostgreSQL that are committed with their changes, before they are chained. */
export function postgresUnrecordedEvents(pool: Pool): UnrecordedEvents {
  return {
    remove: (ids) =>
      inDatabase('note that events are on record', async () => {
        await pool.query(`delete from ${TABLE} where event_id = any($1::text[])`, [ids]);
      }),
    recordLeft: (olderThanMs, record) =>
      inDatabase('look for events that are not on record', () =>
        inTransaction(pool, async (client) => {
          const lock = `select pg_try_advisory_xact_lock(${SEARCH_LOCK}) as is_own`;
          if ((await client.query<{ is_own: boolean }>(lock)).rows[0]?.is_own !== true) return 0;
          const { rows } = await client.query<LeftRow>(LEFT, [olderThanMs]);
          const left = rows.filter(({ recorded }) => !recorded);
          if (left.length > 0) await record(left.map(({ draft }) => draft));
          const ids = rows.map(({ event_id }) => event_id);
          if (ids.length > 0) await client.query(`delete from ${TABLE} where event_id = any($1::text[])`, [ids]);
          return left.length;
        }),
      ),
  };
}

interface LeftRow {
  readonly event_id: string;
  readonly draft: EventDraft;
  readonly recorded: boolean;
}

/** Keeps events in the transaction of their change; nothing for none, and for a change that none are drafted of. */
export async function keepEvents(transaction: Kysely<Tables>, events: readonly EventDraft[] = []): Promise<void> {
  if (events.length === 0) return;
  await transaction
    .insertInto(TABLE)
    .values(events.map((event) => ({ ...keyOf(event), draft: JSON.stringify(event) })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

const keyOf = ({ id, tenantId }: EventDraft) => ({ event_id: id, tenant_id: keyText(tenantId) });
