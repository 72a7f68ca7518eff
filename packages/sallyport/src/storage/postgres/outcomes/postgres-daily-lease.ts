import type { Pool } from 'pg';
import type { DailyLease } from '../../../orchestration/upkeep/daily-lease.port.ts';
import { inDatabase } from '../database-error.ts';

const TAKE = `
insert into sallyport.daily_work (work, holder, until, done_for)
values ($1, $3, clock_timestamp() + make_interval(secs => $4::double precision / 1000), '-infinity')
on conflict (work) do update set holder = excluded.holder, until = excluded.until
where daily_work.done_for < to_timestamp($2::double precision / 1000)
  and (daily_work.holder = excluded.holder or daily_work.until <= clock_timestamp())`;

const DONE = `
update sallyport.daily_work set done_for = to_timestamp($2::double precision / 1000), until = now()
where work = $1 and holder = $3`;

/** Leases of daily work in PostgreSQL, by its clock (STA-06). */
export function postgresDailyLease(pool: Pool): DailyLease {
  const changed = (action: string, text: string, values: readonly unknown[]): Promise<number> =>
    inDatabase(action, async () => (await pool.query(text, [...values])).rowCount ?? 0);
  return {
    take: async (...values) => (await changed('take a lease', TAKE, values)) > 0,
    done: async (...values) => void (await changed('note that work is done', DONE, values)),
  };
}
