import type { Pool } from 'pg';
import type { IdempotencyClaim, IdempotencyStore } from '../../../pipeline/idempotency-store.port.ts';
import { sha256 } from '../../../std/sha256.ts';
import { inDatabase } from '../database-error.ts';
import { keyText } from '../key-text.ts';

/** Expired keys removed with each new claim; more than one, so that they go faster than new ones come. */
const SWEPT_PER_CLAIM = 2;

/**
 * No commit of a claim waits for the disk. The row of its call follows on the same server and waits for it, and what is on the
 * disk of a log is never behind what came before it: a tool is reached only after its claim stands as firmly as its row.
 */
const QUICK = "quick as materialized (select set_config('synchronous_commit', 'off', true))";
const STANDING =
  'request_hash, invocation_id, instance_id, round(extract(epoch from expires_at) * 1000)::text as expires_at';

/**
 * One statement: the row is written in any case, with the old values when the old claim stands, so that two claims at the
 * same time see one another and the standing one is always answered. The server's clock judges expiry for every instance.
 */
const CLAIM = {
  name: 'sallyport-claim-key',
  text: `
with ${QUICK}, swept as (
  delete from sallyport.idempotency_keys where (tenant_id, key_hash) in (
    select tenant_id, key_hash from sallyport.idempotency_keys
    where expires_at <= now() and (tenant_id, key_hash) <> ($1, $2)
    order by expires_at limit ${SWEPT_PER_CLAIM} for update skip locked)
)
insert into sallyport.idempotency_keys as held (tenant_id, key_hash, request_hash, invocation_id, expires_at, instance_id)
select $1::text, $2::text, $3::text, $4::text, to_timestamp($5::double precision / 1000), $6::text from quick
on conflict (tenant_id, key_hash) do update set
  request_hash = case when held.expires_at <= now() then excluded.request_hash else held.request_hash end,
  invocation_id = case when held.expires_at <= now() then excluded.invocation_id else held.invocation_id end,
  expires_at = case when held.expires_at <= now() then excluded.expires_at else held.expires_at end,
  instance_id = case when held.expires_at <= now() then excluded.instance_id else held.instance_id end
returning ${STANDING}`,
};

const TAKE_OVER = {
  name: 'sallyport-take-over-key',
  text: `
with ${QUICK}
update sallyport.idempotency_keys set
  request_hash = $3, invocation_id = $4, expires_at = to_timestamp($5::double precision / 1000), instance_id = $6
from quick where tenant_id = $1 and key_hash = $2 and invocation_id = $7
returning ${STANDING}`,
};

const RELEASE = {
  name: 'sallyport-release-key',
  text: 'delete from sallyport.idempotency_keys where tenant_id = $1 and key_hash = $2 and invocation_id = $3',
};

interface ClaimRow {
  readonly request_hash: string;
  readonly invocation_id: string;
  readonly instance_id: string | null;
  readonly expires_at: string;
}

/** Idempotency keys in PostgreSQL. */
export function postgresIdempotencyStore(pool: Pool): IdempotencyStore {
  const claim: IdempotencyStore['claim'] = (wanted) =>
    inDatabase('claim the idempotency key', async () => {
      const { rows } = await pool.query<ClaimRow>({ ...CLAIM, values: valuesOf(wanted) });
      const [row] = rows;
      if (row === undefined) throw new Error('The claim was answered with no row.');
      return standing(wanted, row);
    });
  return {
    claim,
    takeOver: (wanted, from) =>
      inDatabase('take the idempotency key over', async () => {
        const values = [...valuesOf(wanted), keyText(from)];
        const { rows } = await pool.query<ClaimRow>({ ...TAKE_OVER, values });
        const [row] = rows;
        return row === undefined ? claim(wanted) : standing(wanted, row);
      }),
    release: (tenantId, key, invocationId) =>
      inDatabase('free the idempotency key', async () => {
        await pool.query({ ...RELEASE, values: [keyText(tenantId), hashOf(key), keyText(invocationId)] });
      }),
  };
}

const valuesOf = (claim: IdempotencyClaim) => [
  keyText(claim.tenantId),
  hashOf(claim.key),
  keyText(claim.requestHash),
  keyText(claim.invocationId),
  claim.expiresAt,
  claim.instanceId === undefined ? null : keyText(claim.instanceId),
];

const standing = ({ tenantId, key }: IdempotencyClaim, row: ClaimRow): IdempotencyClaim => ({
  tenantId,
  key,
  requestHash: row.request_hash,
  invocationId: row.invocation_id,
  expiresAt: Number(row.expires_at),
  ...(row.instance_id === null ? {} : { instanceId: row.instance_id }),
});

const hashOf = (key: string): string => sha256(keyText(key));
