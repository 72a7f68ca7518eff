import { sha256 } from '@sallyport/std/sha256';
import type { Pool } from 'pg';
import { ownerNames } from '../../../domain/invocation/call-owner.ts';
import type { QuotaStore } from '../../../permission/quota-store.port.ts';
import { inDatabase } from '../database-error.ts';
import { keyText } from '../key-text.ts';

/** Ended sessions removed with each count; more than one, so that they are removed faster than new ones come. */
const SWEPT_PER_COUNT = 2;

/**
 * One statement: the row's lock serialises simultaneous calls, each judged by the count that the one before left. Its
 * commit does not wait for the disk: a crash of the database server may lose the latest counts, a restart of the layer
 * loses none. The expiry is moved in steps, because it is indexed.
 */
const TAKE = {
  name: 'sallyport-take-quota',
  text: `
with quick as materialized (select set_config('synchronous_commit', 'off', true)),
due as materialized (
  select tenant_id, session_hash from sallyport.quota_sessions
  where expires_at <= now() and (tenant_id, session_hash) <> ($1, $2)
  order by expires_at limit ${SWEPT_PER_COUNT} for update skip locked),
swept as (delete from sallyport.quota_sessions where (tenant_id, session_hash) in (select * from due))
insert into sallyport.quota_sessions as held (tenant_id, session_hash, calls, expires_at)
select $1, $2, 1, now() + make_interval(secs => $4::double precision) from quick where $3::bigint >= 1
on conflict (tenant_id, session_hash) do update set
  calls = case when held.expires_at <= now() then 1 else held.calls + 1 end,
  expires_at = case
    when excluded.expires_at - held.expires_at > make_interval(secs => $4::double precision / 100)
    then excluded.expires_at else held.expires_at end
where held.expires_at <= now() or held.calls < $3::bigint
returning calls::text`,
};

/** Quotas in PostgreSQL, one count for all instances. */
export function postgresQuotaStore(pool: Pool): QuotaStore {
  return {
    take: ({ owner, sessionId }, callsMax, idleSeconds) =>
      inDatabase('count the call', async () => {
        const hash = sha256(JSON.stringify([...ownerNames(owner), sessionId]));
        const values = [keyText(owner.tenantId), hash, callsMax, idleSeconds];
        const { rows } = await pool.query<{ calls: string }>({ ...TAKE, values });
        const [row] = rows;
        return row === undefined ? undefined : Number(row.calls);
      }),
  };
}
