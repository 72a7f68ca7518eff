import { type Kysely, sql } from 'kysely';
import type { Pool } from 'pg';
import type { CloudEvent } from '../../../../api/schemas/cloud-event.ts';
import type { LedgerStore, RowsQuery, StoredRow } from '../../../audit/ledger-store.port.ts';
import type { CallKey } from '../../../domain/invocation/call-key.ts';
import type { InvocationRecord } from '../../../domain/invocation/record.ts';
import { type CallRow, columnsOf } from '../calls/call-columns.ts';
import { overGivenRows, queryGivenRows } from '../calls/given-rows.ts';
import { inDatabase } from '../database-error.ts';
import { keyOfText } from '../key-text.ts';
import type { Tables } from '../schema/tables.ts';
import { type AppendColumn, lookupText, RECORD_COLUMNS } from './append-columns.ts';
import { type PackedEvents, unpack } from './packed-events.ts';

const KEYS: ReadonlySet<string> = new Set(['tenant_id', 'invocation_id']);

/** Queries of a verification: all rows, and the events about them. */
export function callReaders(
  pool: Pool,
  database: Kysely<Tables>,
): Pick<LedgerStore, 'allInvocations' | 'recordedCalls' | 'eventsAbout'> {
  return {
    allInvocations: (query) => inDatabase('read the records', () => readRows(database, query)),
    recordedCalls: (calls) => inDatabase('look for records', () => readRecorded(pool, calls)),
    eventsAbout: (calls) => inDatabase('read the events of calls', () => readAbout(pool, calls)),
  };
}

/** In the order of the primary key, independent of the database's collation. */
async function readRows(database: Kysely<Tables>, { after, limit }: RowsQuery): Promise<readonly StoredRow[]> {
  let rows = database
    .selectFrom('sallyport.tool_invocations')
    .select(['tenant_id', 'invocation_id', 'record'])
    .select(COMPARED.map(({ name }) => sql<string | boolean | null>`${sql.ref(name)}`.as(`column_${name}` as const)));
  if (after !== undefined) {
    const { tenant, invocation } = columnsOf(after);
    rows = rows.where(sql<boolean>`(tenant_id, invocation_id) > (${tenant}, ${invocation})`);
  }
  const found = await rows.orderBy('tenant_id').orderBy('invocation_id').limit(limit).execute();
  return found.map((row) => {
    const differing = differingColumns(row);
    const stored = { call: callOf(row), record: row.record };
    return differing.length === 0 ? stored : { ...stored, differing };
  });
}

/**
 * Columns for look-ups that repeat members of their record. Ids are the key of a row; times and numbers are not
 * compared.
 */
const COMPARED = RECORD_COLUMNS.filter(
  (column) => (column.type === 'text' || column.type === 'boolean') && !KEYS.has(column.name),
);

function differingColumns(row: { readonly record: InvocationRecord } & Readonly<Record<string, unknown>>): string[] {
  try {
    return COMPARED.filter((column) => row[`column_${column.name}`] !== columnOf(column, row.record)).map(
      ({ name }) => name,
    );
  } catch {
    // Not a record, or one with an unknown state: the reader reports it.
    return [];
  }
}

function columnOf({ of, write }: AppendColumn<InvocationRecord>, record: InvocationRecord): string | boolean | null {
  const value = of(record);
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string') return null;
  return write === undefined ? value : write(value);
}

const RECORDED = overGivenRows(
  'sallyport-records-look',
  2,
  (given) => `
select call.tenant_id, call.invocation_id
from ${given} as wanted (tenant_id, invocation_id)
join sallyport.tool_invocations as call using (tenant_id, invocation_id)`,
);

async function readRecorded(pool: Pool, calls: readonly CallKey[]): Promise<readonly CallKey[]> {
  if (calls.length === 0) return [];
  const wanted = calls.map(columnsOf);
  const { rows } = await queryGivenRows<CallRow>(pool, RECORDED, [
    wanted.map(({ tenant }) => tenant),
    wanted.map(({ invocation }) => invocation),
  ]);
  return rows.map(callOf);
}

const callOf = ({ tenant_id, invocation_id }: CallRow): CallKey => ({
  tenantId: keyOfText(tenant_id),
  invocationId: keyOfText(invocation_id),
});

const ABOUT = overGivenRows(
  'sallyport-events-about',
  2,
  (given) => `
select event.events
from ${given} as wanted (tenant_id, invocation_id)
join sallyport.audit_events as event using (tenant_id, invocation_id)
order by event.position`,
);

async function readAbout(pool: Pool, calls: readonly CallKey[]): Promise<readonly CloudEvent[]> {
  if (calls.length === 0) return [];
  const { rows } = await queryGivenRows<{ readonly events: PackedEvents }>(pool, ABOUT, [
    calls.map((call) => columnsOf(call).tenant),
    calls.map(({ invocationId }) => lookupText(invocationId)),
  ]);
  return rows.flatMap(({ events }) => unpack(events));
}
