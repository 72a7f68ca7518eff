import { type Kysely, sql } from 'kysely';
import type { WaitingQuery } from '../../../audit/ledger-store.port.ts';
import type { InvocationRecord } from '../../../domain/invocation/record.ts';
import { keyText } from '../key-text.ts';
import type { Tables } from '../schema/tables.ts';

/** Waiting rows, from their partial index. */
export async function readWaiting(
  database: Kysely<Tables>,
  { waitsFor, tenantId, after, limit }: WaitingQuery,
): Promise<readonly InvocationRecord[]> {
  let selection = database
    .selectFrom('sallyport.tool_invocations')
    .select('record')
    .where('waits_for', '=', waitsFor)
    .orderBy('accepted_at')
    .orderBy(sql`tenant_id collate "C"`)
    .orderBy(sql`invocation_id collate "C"`)
    .limit(limit);
  if (tenantId !== undefined) selection = selection.where('tenant_id', '=', keyText(tenantId));
  if (after !== undefined) {
    const place = sql<boolean>`(accepted_at, tenant_id collate "C", invocation_id collate "C") >
      (to_timestamp(${after.acceptedAt}::double precision / 1000), ${keyText(after.tenantId)}, ${keyText(after.invocationId)})`;
    selection = selection.where(place);
  }
  return (await selection.execute()).map(({ record }) => record);
}

/** A final row needs no fence: nothing replaces it. */
export async function fenceRow(
  database: Kysely<Tables>,
  tenantId: string,
  invocationId: string,
  fence: number,
): Promise<InvocationRecord | undefined> {
  const row = await database
    .updateTable('sallyport.tool_invocations')
    .set({ fence: sql<number>`greatest(fence, ${fence}::bigint)` })
    .where('tenant_id', '=', keyText(tenantId))
    .where('invocation_id', '=', keyText(invocationId))
    .returning('record')
    .executeTakeFirst();
  return row?.record;
}
