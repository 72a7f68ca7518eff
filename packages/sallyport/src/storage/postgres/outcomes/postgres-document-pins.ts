import type { Pool, QueryResultRow } from 'pg';
import type { DocumentPinStore } from '../../../bridges/document-stores.port.ts';
import type { DocumentPin } from '../../../domain/document/given-document.ts';
import { inDatabase } from '../database-error.ts';
import { keyText } from '../key-text.ts';

const PUT = `
insert into sallyport.document_pins (tenant_id, invocation_id, pins) values ($1, $2, $3::json)
on conflict (tenant_id, invocation_id) do update set pins = excluded.pins, put_at = now()`;

/** Rows of calls are compared by the collation of their index. */
const FORGET = `
with due as materialized (
  select tenant_id, invocation_id from sallyport.document_pins pins
  where put_at < to_timestamp($1::double precision / 1000) and not exists (
    select from sallyport.checkpoints saved
    where saved.tenant_id = pins.tenant_id and saved.invocation_id = pins.invocation_id) and not exists (
    select from sallyport.tool_invocations call
    where call.tenant_id = pins.tenant_id collate "default"
      and call.invocation_id = pins.invocation_id collate "default" and not call.is_final)
  order by put_at limit $2 for update skip locked)
delete from sallyport.document_pins where (tenant_id, invocation_id) in (select * from due)`;

interface PinsRow extends QueryResultRow {
  readonly pins: readonly DocumentPin[];
}

/** Pinned versions of documents in PostgreSQL (DOC-04). */
export function postgresDocumentPins(pool: Pool): DocumentPinStore {
  return {
    put: (tenantId, invocationId, pins) =>
      inDatabase('pin the documents of the call', async () => {
        await pool.query(PUT, [keyText(tenantId), keyText(invocationId), JSON.stringify(pins)]);
      }),
    find: (tenantId, invocationId) =>
      inDatabase('find the documents of the call', async () => {
        const { rows } = await pool.query<PinsRow>(
          'select pins from sallyport.document_pins where tenant_id = $1 and invocation_id = $2',
          [keyText(tenantId), keyText(invocationId)],
        );
        return rows[0]?.pins;
      }),
    forget: (putBefore, limit) =>
      inDatabase(
        'forget old pins of documents',
        async () => (await pool.query(FORGET, [putBefore, limit])).rowCount ?? 0,
      ),
  };
}
