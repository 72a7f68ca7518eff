import type { Pool, QueryResultRow } from 'pg';
import { OVERFLOWS_PER_OWNER_MAX, type OverflowStore } from '../../../model-facing/overflow-store.port.ts';
import { inDatabase } from '../database-error.ts';
import { keyOfText, keyText } from '../key-text.ts';

/** The rows that are left are those from before the statement, so there is room for one more. */
const KEEP = `
with due as materialized (
  select tenant_id, invocation_id from sallyport.overflows
  where tenant_id = $1 and agent_did = $3 and user_did is not distinct from $4 and invocation_id <> $2
  order by kept_at desc offset ${OVERFLOWS_PER_OWNER_MAX - 1} for update skip locked),
spare as (delete from sallyport.overflows where (tenant_id, invocation_id) in (select * from due))
insert into sallyport.overflows (tenant_id, invocation_id, agent_did, user_did, content, kept_at)
values ($1, $2, $3, $4, $5, to_timestamp($6::double precision / 1000))
on conflict (tenant_id, invocation_id) do update set
  agent_did = excluded.agent_did, user_did = excluded.user_did, content = excluded.content, kept_at = excluded.kept_at`;

const FIND = `
select agent_did, user_did, content, round(extract(epoch from kept_at) * 1000)::text as kept_ms
from sallyport.overflows where tenant_id = $1 and invocation_id = $2`;

const FORGET = `
with due as materialized (
  select tenant_id, invocation_id from sallyport.overflows
  where kept_at < to_timestamp($1::double precision / 1000)
  order by kept_at limit $2 for update skip locked)
delete from sallyport.overflows where (tenant_id, invocation_id) in (select * from due)`;

interface OverflowRow extends QueryResultRow {
  readonly agent_did: string;
  readonly user_did: string | null;
  readonly content: string;
  readonly kept_ms: string;
}

/** Overflows in PostgreSQL. Their text is there as JSON, because a column holds neither U+0000 nor lone surrogates. */
export function postgresOverflowStore(pool: Pool): OverflowStore {
  return {
    keep: ({ tenantId, invocationId, agentDid, userDid, text, keptAt }) =>
      inDatabase('keep the whole result', async () => {
        const user = userDid === undefined ? null : keyText(userDid);
        const key = [keyText(tenantId), keyText(invocationId)];
        await pool.query(KEEP, [...key, keyText(agentDid), user, JSON.stringify(text), keptAt]);
      }),
    find: (tenantId, invocationId) =>
      inDatabase('find the whole result', async () => {
        const { rows } = await pool.query<OverflowRow>(FIND, [keyText(tenantId), keyText(invocationId)]);
        const [row] = rows;
        if (row === undefined) return undefined;
        return {
          tenantId,
          invocationId,
          agentDid: keyOfText(row.agent_did),
          ...(row.user_did === null ? {} : { userDid: keyOfText(row.user_did) }),
          text: JSON.parse(row.content) as string,
          keptAt: Number(row.kept_ms),
        };
      }),
    forget: (before, limit) =>
      inDatabase('forget old whole results', async () => (await pool.query(FORGET, [before, limit])).rowCount ?? 0),
  };
}
