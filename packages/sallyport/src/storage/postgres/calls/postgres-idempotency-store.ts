import { sha256 } from '@sallyport/std/sha256';
import type { Pool } from 'pg';
import type { IdempotencyClaim, IdempotencyStore } from '../../../pipeline/idempotency-store.port.ts';
import { inDatabase } from '../database-error.ts';
import { keyText } from '../key-text.ts';

/** Expired keys removed with each new claim; more than one, so that they are removed faster than new ones come. */
const SWEPT_PER_CLAIM = 2;

/**
 * No commit of a claim waits for the disk. The row of its call follows on the same server and waits for it, and the log
 * reaches the disk in order: a tool is reached only after its claim is as durable as its row.
 */
const QUICK = "quick as materialized (select set_config('synchronous_commit', 'off', true))";
const STANDING = 'request_hash, nonce, invocation_id, instance_id';
/** Claims expire by the server's clock: that of an instance may be wrong. */
const EXPIRES_AT = "now() + $5::double precision * interval '1 millisecond'";

/**
 * One statement: the row is written in any case, with the old values when the old claim is in force, so that two
 * simultaneous claims see one another and the claim in force is always returned. The server's clock decides on expiry
 * for every instance.
 */
const CLAIM = {
  name: 'sallyport-claim-key',
  text: `
with ${QUICK}, due as materialized (
  select tenant_id, key_hash from sallyport.idempotency_keys
  where expires_at <= now() and (tenant_id, key_hash) <> ($1, $2)
  order by expires_at limit ${SWEPT_PER_CLAIM} for update skip locked),
swept as (delete from sallyport.idempotency_keys where (tenant_id, key_hash) in (select * from due))
insert into sallyport.idempotency_keys as held
  (tenant_id, key_hash, request_hash, invocation_id, expires_at, instance_id, nonce)
select $1::text, $2::text, $3::text, $4::text, ${EXPIRES_AT}, $6::text, $7::text from quick
on conflict (tenant_id, key_hash) do update set
  request_hash = case when held.expires_at <= now() then excluded.request_hash else held.request_hash end,
  invocation_id = case when held.expires_at <= now() then excluded.invocation_id else held.invocation_id end,
  expires_at = case when held.expires_at <= now() then excluded.expires_at else held.expires_at end,
  instance_id = case when held.expires_at <= now() then excluded.instance_id else held.instance_id end,
  nonce = case when held.expires_at <= now() then excluded.nonce else held.nonce end
returning ${STANDING}`,
};

const TAKE_OVER = {
  name: 'sallyport-take-over-key',
  text: `
with ${QUICK}
update sallyport.idempotency_keys set
  request_hash = $3, invocation_id = $4, expires_at = ${EXPIRES_AT}, instance_id = $6, nonce = $7
from quick where tenant_id = $1 and key_hash = $2 and nonce = $8
returning ${STANDING}`,
};

const FIND = {
  name: 'sallyport-find-key',
  text: `select ${STANDING} from sallyport.idempotency_keys where tenant_id = $1 and key_hash = $2 and expires_at > now()`,
};

const RELEASE = {
  name: 'sallyport-release-key',
  text: 'delete from sallyport.idempotency_keys where tenant_id = $1 and key_hash = $2 and nonce = $3',
};

interface ClaimRow {
  readonly request_hash: string;
  readonly invocation_id: string;
  readonly nonce: string;
  readonly instance_id: string | null;
}

/** Claims of invocation ids and idempotency keys in PostgreSQL. */
export function postgresIdempotencyStore(pool: Pool): IdempotencyStore {
  const claim: IdempotencyStore['claim'] = (wanted, ttlMs) =>
    inDatabase('claim the idempotency key', async () => {
      const { rows } = await pool.query<ClaimRow>({ ...CLAIM, values: valuesOf(wanted, ttlMs) });
      const [row] = rows;
      if (row === undefined) throw new Error('The claim was answered with no row.');
      return standing(wanted, row);
    });
  return {
    claim,
    takeOver: (wanted, from, ttlMs) =>
      inDatabase('take the idempotency key over', async () => {
        const values = [...valuesOf(wanted, ttlMs), keyText(from)];
        const { rows } = await pool.query<ClaimRow>({ ...TAKE_OVER, values });
        const [row] = rows;
        return row === undefined ? claim(wanted, ttlMs) : standing(wanted, row);
      }),
    find: (tenantId, key) =>
      inDatabase('find the idempotency key', async () => {
        const { rows } = await pool.query<ClaimRow>({ ...FIND, values: [keyText(tenantId), hashOf(key)] });
        const [row] = rows;
        return row === undefined ? undefined : standing({ tenantId, key }, row);
      }),
    release: (tenantId, key, nonce) =>
      inDatabase('free the idempotency key', async () => {
        await pool.query({ ...RELEASE, values: [keyText(tenantId), hashOf(key), keyText(nonce)] });
      }),
  };
}

const valuesOf = (claim: IdempotencyClaim, ttlMs: number) => [
  keyText(claim.tenantId),
  hashOf(claim.key),
  keyText(claim.requestHash),
  keyText(claim.invocationId),
  ttlMs,
  claim.instanceId === undefined ? null : keyText(claim.instanceId),
  keyText(claim.nonce),
];

const standing = ({ tenantId, key }: Pick<IdempotencyClaim, 'tenantId' | 'key'>, row: ClaimRow): IdempotencyClaim => ({
  tenantId,
  key,
  requestHash: row.request_hash,
  nonce: row.nonce,
  invocationId: row.invocation_id,
  ...(row.instance_id === null ? {} : { instanceId: row.instance_id }),
});

const hashOf = (key: string): string => sha256(keyText(key));
