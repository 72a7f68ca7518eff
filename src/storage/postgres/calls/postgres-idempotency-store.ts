import type { Pool } from 'pg';
import type { IdempotencyStore } from '../../../pipeline/idempotency-store.port.ts';
import { sha256 } from '../../../std/sha256.ts';
import { inDatabase } from '../database-error.ts';
import { keyText } from '../key-text.ts';

/** Expired keys removed with each new claim; more than one, so that they go faster than new ones come. */
const SWEPT_PER_CLAIM = 2;

/**
 * One statement: the row is written in any case, with the old values when the old claim stands, so that two claims at the
 * same time see one another and the standing one is always answered. The server's clock judges expiry for every instance.
 */
const CLAIM = {
  name: 'sallyport-claim-key',
  text: `
with swept as (
  delete from sallyport.idempotency_keys where (tenant_id, key_hash) in (
    select tenant_id, key_hash from sallyport.idempotency_keys
    where expires_at <= now() and (tenant_id, key_hash) <> ($1, $2)
    order by expires_at limit ${SWEPT_PER_CLAIM} for update skip locked)
)
insert into sallyport.idempotency_keys as held (tenant_id, key_hash, request_hash, invocation_id, expires_at)
values ($1, $2, $3, $4, to_timestamp($5::double precision / 1000))
on conflict (tenant_id, key_hash) do update set
  request_hash = case when held.expires_at <= now() then excluded.request_hash else held.request_hash end,
  invocation_id = case when held.expires_at <= now() then excluded.invocation_id else held.invocation_id end,
  expires_at = case when held.expires_at <= now() then excluded.expires_at else held.expires_at end
returning request_hash, invocation_id, round(extract(epoch from expires_at) * 1000)::text as expires_at`,
};

const RELEASE = {
  name: 'sallyport-release-key',
  text: 'delete from sallyport.idempotency_keys where tenant_id = $1 and key_hash = $2 and invocation_id = $3',
};

interface ClaimRow {
  readonly request_hash: string;
  readonly invocation_id: string;
  readonly expires_at: string;
}

/** Idempotency keys in PostgreSQL. */
export function postgresIdempotencyStore(pool: Pool): IdempotencyStore {
  return {
    claim: (claim) =>
      inDatabase('claim the idempotency key', async () => {
        const { tenantId, key, requestHash, invocationId, expiresAt } = claim;
        const values = [keyText(tenantId), hashOf(key), keyText(requestHash), keyText(invocationId), expiresAt];
        const { rows } = await pool.query<ClaimRow>({ ...CLAIM, values });
        const [row] = rows;
        if (row === undefined) throw new Error('The claim was answered with no row.');
        const standing = { requestHash: row.request_hash, invocationId: row.invocation_id };
        return { tenantId, key, ...standing, expiresAt: Number(row.expires_at) };
      }),
    release: (tenantId, key, invocationId) =>
      inDatabase('free the idempotency key', async () => {
        await pool.query({ ...RELEASE, values: [keyText(tenantId), hashOf(key), keyText(invocationId)] });
      }),
  };
}

const hashOf = (key: string): string => sha256(keyText(key));
