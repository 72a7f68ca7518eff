import { type Kysely, sql } from 'kysely';
import type { Tables } from '../schema/tables.ts';

/**
 * First key of the advisory locks by which writers announce which positions they may still be writing; the key of a
 * lock is this plus the last position taken before. The number is arbitrary; 2^40 positions follow it.
 */
export const POSITION_LOCK = 0x1a11 * 2 ** 40;

/**
 * Position up to which every event is visible. Positions are taken before the commit, so a later one may be visible
 * while an earlier one is still being written; a reader that went past the gap would miss it for good. Every writer
 * holds a shared lock, until its commit, that names the last position before its own. The last position is read before
 * the locks: a writer whose lock is not seen takes its positions after it. Nobody waits for anybody.
 *
 * To be asked in a statement of its own, before the one that reads events: that one must see what was committed.
 */
export async function settledPosition(database: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ settled: string }>`
with taken as materialized (
  select case when is_called then last_value else 0 end as position from sallyport.audit_events_position_seq
)
select least(position, (
  select min((classid::bigint << 32 | objid::bigint) - ${sql.lit(POSITION_LOCK)}) from pg_locks
  where locktype = 'advisory' and objsubid = 1 and classid::bigint >> 8 = ${sql.lit(POSITION_LOCK / 2 ** 40)}
    and database = (select oid from pg_database where datname = current_database()) and position >= 0
)) as settled from taken`.execute(database);
  return Number(rows[0]?.settled ?? 0);
}
