import type { Durability } from '../../../audit/ledger-store.port.ts';
import { type AppendColumn, EVENT_COLUMNS, RECORD_COLUMNS } from './append-columns.ts';
import { POSITION_LOCK } from './horizon.ts';

/** A statement that is prepared once on each connection. */
export interface AppendStatement {
  readonly name: string;
  readonly text: string;
}

/** Forms of an append: one record with one row of events, one record alone, and any number. */
type AppendForm = 'one' | 'alone' | 'many';

/**
 * Positions are taken only after the lock of `floor`, which is how readers know of them (horizon.ts). A transaction
 * whose commit does not wait for the disk says so in its own statement, without another round trip.
 */
const floorOf = (durability: Durability): string => `floor as materialized (
  select pg_advisory_xact_lock_shared(${POSITION_LOCK} + case when is_called then last_value else 0 end)
    ${durability === 'asynchronous' ? `, ${NO_WAIT}` : ''}
  from sallyport.audit_events_position_seq
)`;

const NO_WAIT = "set_config('synchronous_commit', 'off', true)";

const RECORD_TARGETS = `tenant_id, invocation_id, tool_id, tool_version, agent_did, session_id,
    side_effect_policy, state, error_code, instance_id, is_final, accepted_at, duration_ms, record,
    waits_for, fence, turn_group, nonce, deferred`;

/**
 * Keeps a row that is final, was written or fenced under a later lease, or is another call's: the document becomes
 * null, which the table refuses. With the row the events of its batch are refused, so that no chain describes what no
 * row holds.
 */
const REPLACE_OPEN = `
  on conflict (tenant_id, invocation_id) do update set
    tool_id = excluded.tool_id, tool_version = excluded.tool_version, agent_did = excluded.agent_did,
    session_id = excluded.session_id, side_effect_policy = excluded.side_effect_policy, state = excluded.state,
    error_code = excluded.error_code, instance_id = excluded.instance_id, is_final = excluded.is_final,
    accepted_at = excluded.accepted_at, duration_ms = excluded.duration_ms, waits_for = excluded.waits_for,
    fence = excluded.fence, turn_group = excluded.turn_group, deferred = excluded.deferred,
    record = case when not held.is_final and held.fence <= excluded.fence
      and held.nonce is not distinct from excluded.nonce then excluded.record end`;

const EVENT_TARGETS =
  'chain_id, first_seq, last_seq, tenant_id, types, invocation_id, tool_id, agent_did, time, events';

/**
 * The position of a row that begins a run, or null, which the table refuses: the newest row up to the end of the run
 * must end before it, and not before `atLeast`. Two simultaneous writers that continue from the same head conflict in
 * the unique key. The newest row is queried once: `between` around the query would run it twice. Positions begin at 1.
 */
const freePlace = (chainId: string, firstSeq: string, runLastSeq: string, atLeast: string): string => `nullif(coalesce((
      select case when held.last_seq between ${atLeast} and ${firstSeq} - 1 then ${firstSeq} else 0 end
      from sallyport.audit_events as held
      where held.chain_id = ${chainId} and held.first_seq <= ${runLastSeq} order by held.first_seq desc limit 1
    ), case when ${atLeast} <= 0 then ${firstSeq} else 0 end), 0)`;

/** Expressions for the values of a row, by column name. */
type Row<Name extends string> = Readonly<Record<Name | 'document', string>>;

const recordRow = (
  row: Row<(typeof RECORD_COLUMNS)[number]['name']>,
): string => `${row.tenant_id}, ${row.invocation_id},
    ${row.tool_id}, ${row.tool_version}, ${row.agent_did}, ${row.session_id}, ${row.side_effect_policy}, ${row.state},
    ${row.error_code}, ${row.instance_id}, ${row.is_final}, to_timestamp(${row.accepted_ms} / 1000), ${row.duration_ms},
    ${row.document}, ${row.waits_for}, ${row.fence}, ${row.turn_group}, ${row.nonce}, ${row.deferred}`;

const eventRow = (row: Row<(typeof EVENT_COLUMNS)[number]['name']>): string => `${row.chain_id},
    case when ${row.run_last_seq} is null then ${row.first_seq}
      else ${freePlace(row.chain_id, row.first_seq, row.run_last_seq, row.at_least)} end,
    ${row.last_seq}, ${row.tenant_id}, ${row.types}, ${row.invocation_id}, ${row.tool_id}, ${row.agent_did}, ${row.time},
    ${row.document}`;

interface Given<Name extends string> {
  readonly row: Row<Name>;
  /** Source of the rows; empty when the parameters are the row. */
  readonly from: string;
  /** Number of the next free parameter. */
  readonly next: number;
}

type Givens = <const Column extends AppendColumn<never>>(
  columns: readonly Column[],
  first: number,
) => Given<Column['name']>;

/** Parameters for one row: its document, then its columns. */
const givenOne: Givens = (columns, first) => {
  const row: Record<string, string> = { document: `$${first}::json` };
  for (const [at, { name, type }] of columns.entries()) row[name] = `$${first + 1 + at}::${type}`;
  return { row: row as Row<(typeof columns)[number]['name']>, from: '', next: first + 1 + columns.length };
};

/**
 * Parameters for many rows: an array of their documents, then one for each column, and last the values that all rows
 * share. The arrays are unnested in step in the select list: as functions in \`from\` each would fill a store of its
 * own, and one JSON document of all columns costs several times more to read.
 */
const givenMany: Givens = (columns, first) => {
  const row: Record<string, string> = { document: 'given.document' };
  const arrays = [`unnest($${first}::json[]) as document`];
  let next = first + 1;
  for (const { name, type, own } of columns) {
    arrays.push(`unnest($${next++}::${type}[]) as ${name}`);
    row[name] = own ? `given.${name}` : `coalesce($${next++}::${type}, given.${name})`;
  }
  return { row: row as Row<(typeof columns)[number]['name']>, from: `, (select ${arrays.join(', ')}) as given`, next };
};

const insertRecords = ({ row, from }: Given<(typeof RECORD_COLUMNS)[number]['name']>, source: string): string => `
  insert into sallyport.tool_invocations as held (${RECORD_TARGETS})
  select ${recordRow(row)}
  ${source}${from}
  ${REPLACE_OPEN}`;

function append(given: Givens, durability: Durability): string {
  const records = given(RECORD_COLUMNS, 1);
  const events = given(EVENT_COLUMNS, records.next);
  return `
with ${floorOf(durability)}, records as (${insertRecords(records, 'from floor')})
insert into sallyport.audit_events (${EVENT_TARGETS})
select ${eventRow(events.row)}
from floor${events.from}`;
}

/** A record without events takes no position. */
function recordAlone(durability: Durability): string {
  const record = givenOne(RECORD_COLUMNS, 1);
  if (durability === 'synchronous') return insertRecords(record, '');
  return `with unhurried as materialized (select ${NO_WAIT}) ${insertRecords(record, 'from unhurried')}`;
}

const TEXTS: Readonly<Record<AppendForm, (durability: Durability) => string>> = {
  one: (durability) => append(givenOne, durability),
  alone: recordAlone,
  many: (durability) => append(givenMany, durability),
};

const named = (form: AppendForm, durability: Durability): AppendStatement => ({
  name: `sallyport-append-${form}-${durability}`,
  text: TEXTS[form](durability),
});

const bothOf = (form: AppendForm): Readonly<Record<Durability, AppendStatement>> => ({
  synchronous: named(form, 'synchronous'),
  asynchronous: named(form, 'asynchronous'),
});

/** Each is one statement and so one transaction. A single call has a form without arrays, which is faster. */
export const APPEND_STATEMENTS: Readonly<Record<AppendForm, Readonly<Record<Durability, AppendStatement>>>> = {
  one: bothOf('one'),
  alone: bothOf('alone'),
  many: bothOf('many'),
};
