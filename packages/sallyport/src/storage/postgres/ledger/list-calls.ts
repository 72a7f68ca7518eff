import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { LifecycleState } from '../../../../api/schemas/invocation.ts';
import type { CallQuery } from '../../../audit/ledger-store.port.ts';
import { type CallOwner, isOwner } from '../../../domain/invocation/call-owner.ts';
import type { InvocationRecord } from '../../../domain/invocation/record.ts';
import { keyText } from '../key-text.ts';
import type { Tables } from '../schema/tables.ts';

/** States after the authorisation. */
const REACHED: readonly LifecycleState[] = ['EXECUTING', 'COMPLETED', 'FAILED', 'ABORTED', 'ROLLED_BACK'];

/** Worded like the partial indexes, so that they are used. */
const EFFECTS = sql<boolean>`side_effect_policy in ('idempotent', 'compensatable', 'irreversible')`;

/** Newest first, from the index of all calls, or from those of side effects. */
export async function listCalls(database: Kysely<Tables>, query: CallQuery): Promise<readonly InvocationRecord[]> {
  const { owner, limit } = query;
  const page: InvocationRecord[] = [];
  let { before } = query;
  for (;;) {
    const asked = before === undefined ? query : { ...query, before };
    const records = (await selected(database, asked).execute()).map(({ record }) => record);
    page.push(...(owner === undefined ? records : records.filter((record) => isOwner(owner, record))));
    before = records.at(-1);
    // Rows that match `ofUser` but not `isOwner` would leave the page short: then more rows are read.
    if (page.length >= limit || records.length < limit || before === undefined) return page.slice(0, limit);
  }
}

function selected(database: Kysely<Tables>, query: CallQuery) {
  const { tenantId, deferred, turnGroupId, toolId, states, since, until, agentDid, owner, before, limit } = query;
  let selection = database
    .selectFrom('sallyport.tool_invocations')
    .select('record')
    .where('tenant_id', '=', keyText(tenantId))
    .orderBy('accepted_at', 'desc')
    .orderBy(sql`invocation_id collate "C" desc`)
    .limit(limit);
  if (query.sideEffects === true) selection = selection.where(EFFECTS);
  if (query.sideEffects === true && states === undefined) selection = selection.where('state', 'in', REACHED);
  if (deferred === true) selection = selection.where('deferred', '=', true);
  if (turnGroupId !== undefined) selection = selection.where('turn_group', '=', keyText(turnGroupId));
  if (toolId !== undefined) selection = selection.where('tool_id', '=', keyText(toolId));
  if (states !== undefined) selection = selection.where(sql<boolean>`state = any(${states}::text[])`);
  if (since !== undefined) selection = selection.where(sql<boolean>`accepted_at >= ${timeOf(since)}`);
  if (until !== undefined) selection = selection.where(sql<boolean>`accepted_at < ${timeOf(until)}`);
  if (agentDid !== undefined) selection = selection.where('agent_did', '=', keyText(agentDid));
  if (owner !== undefined) selection = selection.where('agent_did', '=', keyText(owner.agentDid)).where(ofUser(owner));
  if (before !== undefined) {
    const place = sql<boolean>`(accepted_at, invocation_id collate "C") <
      (${timeOf(before.acceptedAt)}, ${keyText(before.invocationId)})`;
    selection = selection.where(place);
  }
  return selection;
}

const timeOf = (ms: number): RawBuilder<Date> => sql`to_timestamp(${ms}::double precision / 1000)`;

/**
 * Compares the user, who is only in the document. `->>` refuses documents with a NUL or a lone surrogate, which any
 * tool may have returned, so every escape is replaced first. Names that differ only in escaped characters then match,
 * and `isOwner` distinguishes them.
 */
function ofUser({ userDid }: CallOwner): RawBuilder<boolean> {
  const user = sql`regexp_replace(record::text, '\\\\.', '_', 'g')::json ->> 'userDid'`;
  if (userDid === undefined) return sql<boolean>`${user} is null`;
  return sql<boolean>`${user} = ${JSON.stringify(userDid).slice(1, -1).replaceAll(/\\./g, '_')}`;
}
