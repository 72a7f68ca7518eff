import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { SideEffectQuery } from '../../../audit/ledger-store.port.ts';
import { type CallOwner, isOwner } from '../../../domain/invocation/call-owner.ts';
import type { InvocationRecord } from '../../../domain/invocation/record.ts';
import { keyText } from '../key-text.ts';
import type { Tables } from '../schema/tables.ts';

/** As the partial indexes say it. */
const EFFECTS = sql<boolean>`side_effect_policy in ('idempotent', 'compensatable', 'irreversible')`;

/** Calls of tools that are not pure and that got beyond their authorisation, the newest first. */
export async function readSideEffects(
  database: Kysely<Tables>,
  { tenantId, turnGroupId, agentDid, owner, before, limit }: SideEffectQuery,
): Promise<readonly InvocationRecord[]> {
  let selection = database
    .selectFrom('sallyport.tool_invocations')
    .select('record')
    .where('tenant_id', '=', keyText(tenantId))
    .where(EFFECTS)
    .where('state', 'in', ['EXECUTING', 'COMPLETED', 'FAILED', 'ABORTED', 'ROLLED_BACK'])
    .orderBy('accepted_at', 'desc')
    .orderBy(sql`invocation_id collate "C" desc`)
    .limit(limit);
  if (turnGroupId !== undefined) selection = selection.where('turn_group', '=', keyText(turnGroupId));
  if (agentDid !== undefined) selection = selection.where('agent_did', '=', keyText(agentDid));
  if (owner !== undefined) selection = selection.where('agent_did', '=', keyText(owner.agentDid)).where(ofUser(owner));
  if (before !== undefined) {
    const place = sql<boolean>`(accepted_at, invocation_id collate "C") <
      (to_timestamp(${before.acceptedAt}::double precision / 1000), ${keyText(before.invocationId)})`;
    selection = selection.where(place);
  }
  const records = (await selection.execute()).map(({ record }) => record);
  return owner === undefined ? records : records.filter((record) => isOwner(owner, record));
}

/**
 * The user stands in the document alone. `->>` refuses documents with a NUL or a lone surrogate, which any tool may have
 * answered with, so every escape is replaced before. Names that differ in escaped characters alone are then the same, and
 * `isOwner` tells them apart.
 */
function ofUser({ userDid }: CallOwner): RawBuilder<boolean> {
  const user = sql`regexp_replace(record::text, '\\\\.', '_', 'g')::json ->> 'userDid'`;
  if (userDid === undefined) return sql<boolean>`${user} is null`;
  return sql<boolean>`${user} = ${JSON.stringify(userDid).slice(1, -1).replaceAll(/\\./g, '_')}`;
}
