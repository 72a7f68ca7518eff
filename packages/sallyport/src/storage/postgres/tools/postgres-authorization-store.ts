import { type Kysely, sql } from 'kysely';
import type { AuthorizationPlace, AuthorizationStore } from '../../../mcp-servers/authorization-store.port.ts';
import { inDatabase } from '../database-error.ts';
import { keyText } from '../key-text.ts';
import type { Tables } from '../schema/tables.ts';

const TABLE = 'sallyport.upstream_authorizations';
/** Revisions of all rows come from one sequence, so that a row that was deleted and written again has another one. */
const NEXT_REVISION = sql<number>`nextval('sallyport.authorization_revisions')`;

/** Authorizations at upstreams in PostgreSQL; the texts are encrypted before they come here. */
export function postgresAuthorizationStore(database: Kysely<Tables>): AuthorizationStore {
  const columnsOf = ({ tenantId, upstream, part }: AuthorizationPlace) =>
    ({ tenant_id: keyText(tenantId), upstream: keyText(upstream), part: keyText(part) }) as const;
  return {
    read: (place) =>
      inDatabase('read the authorization', async () => {
        const { tenant_id, upstream, part } = columnsOf(place);
        const found = database.selectFrom(TABLE).select(['content', 'revision']).where('tenant_id', '=', tenant_id);
        const row = await found.where('upstream', '=', upstream).where('part', '=', part).executeTakeFirst();
        return row === undefined ? undefined : { text: row.content, revision: Number(row.revision) };
      }),
    revisions: (places) =>
      inDatabase('see which authorizations changed', async () => {
        const { rows } = await sql<{ revision: string | null }>`
select kept.revision from rows from (
  json_to_recordset(${JSON.stringify(places.map(columnsOf))}::json) as (tenant_id text, upstream text, part text)
) with ordinality as asked (tenant_id, upstream, part, place)
left join ${sql.table(TABLE)} as kept using (tenant_id, upstream, part) order by asked.place`.execute(database);
        return rows.map(({ revision }) => (revision === null ? undefined : Number(revision)));
      }),
    replace: (place, text, revision) =>
      inDatabase('keep the authorization', async () => {
        const written =
          revision === 0 ? await insert(database, columnsOf(place), text) : await update(place, text, revision);
        return written === undefined ? undefined : Number(written.revision);
      }),
    claim: (place, revision, ms) =>
      inDatabase('claim the authorization', async () => {
        const { numUpdatedRows } = await at(database, columnsOf(place), revision)
          .set({ claimed_until: sql<Date>`now() + make_interval(secs => ${ms / 1000})` })
          .where((row) => row.or([row('claimed_until', 'is', null), row('claimed_until', '<=', sql<Date>`now()`)]))
          .executeTakeFirst();
        return numUpdatedRows > 0n;
      }),
    remove: (tenantId, upstream, part) =>
      inDatabase('delete the authorization', async () => {
        let removal = database.deleteFrom(TABLE).where('tenant_id', '=', keyText(tenantId));
        removal = removal.where('upstream', '=', keyText(upstream));
        if (part !== undefined) removal = removal.where('part', '=', keyText(part));
        return (await removal.executeTakeFirst()).numDeletedRows > 0n;
      }),
  };

  async function update(place: AuthorizationPlace, text: string, revision: number) {
    return at(database, columnsOf(place), revision)
      .set({ content: text, revision: NEXT_REVISION, claimed_until: null })
      .returning('revision')
      .executeTakeFirst();
  }
}

type Columns = Pick<Tables[typeof TABLE], 'tenant_id' | 'upstream' | 'part'>;

function insert(database: Kysely<Tables>, columns: Columns, content: string) {
  return database
    .insertInto(TABLE)
    .values({ ...columns, content, revision: NEXT_REVISION })
    .onConflict((conflict) => conflict.doNothing())
    .returning('revision')
    .executeTakeFirst();
}

function at(database: Kysely<Tables>, { tenant_id, upstream, part }: Columns, revision: number) {
  return database
    .updateTable(TABLE)
    .where('tenant_id', '=', tenant_id)
    .where('upstream', '=', upstream)
    .where('part', '=', part)
    .where('revision', '=', String(revision));
}
