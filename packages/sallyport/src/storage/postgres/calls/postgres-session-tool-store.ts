import { sha256 } from '@sallyport/std/sha256';
import type { Pool, QueryResultRow } from 'pg';
import { ownerNames } from '../../../domain/invocation/call-owner.ts';
import type { SessionToolStore, ToolSession } from '../../../visibility/session-tools.port.ts';
import { inDatabase } from '../database-error.ts';
import { keyOfText, keyText } from '../key-text.ts';

/** Old notes removed with each new one; more than one, so that they are removed faster than new ones come. */
const SWEPT_PER_NOTE = 2;

const NOTE = `
with due as materialized (
  select tenant_id, session_hash, tool_id from sallyport.session_tools
  where expires_at <= now() and (tenant_id, session_hash, tool_id) <> ($1, $2, $3)
  order by expires_at limit ${SWEPT_PER_NOTE} for update skip locked),
swept as (delete from sallyport.session_tools where (tenant_id, session_hash, tool_id) in (select * from due))
insert into sallyport.session_tools (tenant_id, session_hash, tool_id, expires_at)
values ($1, $2, $3, now() + make_interval(secs => $4::double precision / 1000))
on conflict (tenant_id, session_hash, tool_id) do update set expires_at = excluded.expires_at`;

const COMPLETED = `
select tool_id from sallyport.session_tools where tenant_id = $1 and session_hash = $2 and expires_at > now()`;

interface ToolRow extends QueryResultRow {
  readonly tool_id: string;
}

/** Tools that completed in sessions, in PostgreSQL. */
export function postgresSessionToolStore(pool: Pool): SessionToolStore {
  return {
    note: (session, toolId, keptMs) =>
      inDatabase('note that the tool completed', async () => {
        await pool.query(NOTE, [...keyOf(session), keyText(toolId), keptMs]);
      }),
    completed: (session) =>
      inDatabase('read what completed in the session', async () => {
        const { rows } = await pool.query<ToolRow>(COMPLETED, keyOf(session));
        return new Set(rows.map(({ tool_id }) => keyOfText(tool_id)));
      }),
  };
}

const keyOf = ({ owner, sessionId }: ToolSession): string[] => [
  keyText(owner.tenantId),
  sha256(JSON.stringify([...ownerNames(owner), sessionId])),
];
