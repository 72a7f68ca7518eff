import type { Client } from 'pg';
import type { LayerReady } from './layer-process.ts';
import { askOnce } from './target.ts';

/** Calls on one page of a list. */
const PAGE = 50;

/** Tables in which nothing may be left once everything is over: what is left, and the query that counts it. */
const LEFT: Readonly<Record<string, string>> = {
  'calls that are not over':
    'select tenant_id, invocation_id, tool_id, state, waits_for from sallyport.tool_invocations where not is_final',
  leases: 'select tenant_id, invocation_id, owner, begun from sallyport.call_leases where owner is not null',
  'changes that may be taken back':
    'select invocation_id, position, undone, steps.instance_id, state from sallyport.undo_steps as steps left join sallyport.tool_invocations using (tenant_id, invocation_id)',
  'decisions that are not carried out': 'select approval_id from sallyport.approval_closings where not finished',
};

/** Descriptions of what is left to be done; empty when nothing is. */
export async function leftovers(database: Client): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [what, text] of Object.entries(LEFT)) {
    const { rows } = await database.query<Record<string, unknown>>(text);
    if (rows.length > 0) found.push(`${what}: ${rows.length}, of them ${JSON.stringify(rows.slice(0, 5))}`);
  }
  return found;
}

/** Ids of the calls that ended as outcome unknown. */
export async function unknownOutcomes(database: Client): Promise<readonly string[]> {
  const text = `select invocation_id from sallyport.tool_invocations as calls
    left join sallyport.outcome_settlements as said using (tenant_id, invocation_id)
    where calls.error_code = 'E3804' and said.invocation_id is null`;
  const { rows } = await database.query<{ invocation_id: string }>(text);
  return rows.map(({ invocation_id }) => invocation_id).sort();
}

/** Ids of the calls that the layer lists as having an unknown outcome; reads all pages. */
export async function listedOutcomes(ready: LayerReady): Promise<readonly string[]> {
  const ids: string[] = [];
  for (;;) {
    const after = ids.length === 0 ? '' : `&after=${ids.at(-1)}`;
    const answer = await askOnce(ready, ready.operator, 'GET', `/v1/outcomes?limit=${PAGE}${after}`);
    const page = answer?.body.outcomes ?? [];
    ids.push(...page.map(({ invocation_id }) => invocation_id));
    if (page.length < PAGE) return ids.sort();
  }
}

/** Settles the outcome of a call as an operator. */
export async function settleOutcome(ready: LayerReady, id: string, outcome: 'happened' | 'did_not_happen') {
  const body = { outcome, note: 'The test has counted.' };
  return (await askOnce(ready, ready.operator, 'POST', `/v1/outcomes/${id}/settlement`, body))?.http;
}
