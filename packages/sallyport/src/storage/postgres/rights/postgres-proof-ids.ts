import type { Pool } from 'pg';
import type { ProofIdStore } from '../../../identity/proof-ids.port.ts';
import { inDatabase } from '../database-error.ts';

/** Forgotten proofs removed with each one that is taken; more than one, so that they are removed faster than they come. */
const SWEPT_PER_PROOF = 2;

/**
 * One statement: of simultaneous requests with one proof, one inserts its row. The commit does not wait for the disk. A
 * row whose time is over is taken again: its proof would be refused for its age first.
 */
const TAKE = {
  name: 'sallyport-take-proof',
  text: `
with quick as materialized (select set_config('synchronous_commit', 'off', true)),
due as materialized (
  select proof_hash from sallyport.proof_ids where expires_at <= now() and proof_hash <> $1
  order by expires_at limit ${SWEPT_PER_PROOF} for update skip locked),
swept as (delete from sallyport.proof_ids where proof_hash in (select * from due))
insert into sallyport.proof_ids as held (proof_hash, expires_at)
select $1, now() + make_interval(secs => $2::double precision / 1000) from quick
on conflict (proof_hash) do update set expires_at = excluded.expires_at where held.expires_at <= now()
returning proof_hash`,
};

/** Used proofs of possession in PostgreSQL, for all instances. */
export function postgresProofIds(pool: Pool): ProofIdStore {
  return {
    take: (hash, keptMs) =>
      inDatabase('take the proof', async () => {
        const { rowCount } = await pool.query({ ...TAKE, values: [hash, keptMs] });
        return rowCount === 1;
      }),
  };
}
