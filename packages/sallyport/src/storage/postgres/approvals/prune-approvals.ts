import { type Kysely, sql } from 'kysely';
import type { Tables } from '../schema/tables.ts';

/** Removes what ended before a time (see the port). Resolves to the number of removed rows. */
export async function pruneApprovals(database: Kysely<Tables>, before: Date): Promise<number> {
  const at = before.toISOString();
  const statements = [
    // Votes first: a crash between the two leaves a closing without votes, which the next turn removes.
    sql`
delete from sallyport.approval_votes as votes using sallyport.approval_closings as closings
where closings.finished and closings.closed_at < ${at}::timestamptz
  and votes.tenant_id = closings.tenant_id and votes.approval_id = closings.approval_id`,
    sql`delete from sallyport.approval_closings where finished and closed_at < ${at}::timestamptz`,
    sql`delete from sallyport.approval_notices where since < ${at}::timestamptz`,
    sql`delete from sallyport.approval_delegations where until < ${at}::timestamptz`,
    sql`delete from sallyport.approval_rules where expires_at < ${at}::timestamptz`,
    sql`delete from sallyport.approval_links where expires_at < ${at}::timestamptz`,
  ];
  let removed = 0;
  for (const statement of statements) removed += Number((await statement.execute(database)).numAffectedRows ?? 0n);
  return removed;
}
