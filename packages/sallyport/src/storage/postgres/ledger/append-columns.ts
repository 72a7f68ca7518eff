import type { ChainedEvent } from '../../../domain/event/chained-event.ts';
import { isFinal } from '../../../domain/invocation/lifecycle.ts';
import { type InvocationRecord, waitsFor } from '../../../domain/invocation/record.ts';
import { keyText } from '../key-text.ts';
import type { Value } from './bind-message.ts';
import { type EventRow, follows } from './packed-events.ts';

/** Characters of a column that is only used for look-ups; an index entry holds 2 704 bytes. */
const LOOKUP_CHARACTERS_MAX = 255;

type Field = string | number | boolean | undefined;

/** A column besides the document of a row. */
export interface AppendColumn<Row> {
  readonly name: string;
  /** Type in the database. */
  readonly type: 'text' | 'bigint' | 'boolean' | 'double precision' | 'timestamptz';
  /** True when most rows of a batch have different values. A value that all rows share is sent once. */
  readonly own?: true;
  of(row: Row): Field;
  /** Encodes a text that may contain anything. */
  readonly write?: (text: string) => string;
}

/** A row of events in its batch. */
export interface PlacedRow {
  readonly first: ChainedEvent;
  readonly lastSeq: number;
  readonly types: string;
  /** On the first row of a run of consecutive positions: the last position of the run. */
  readonly runLastSeq: number | undefined;
  /** On the first row of a run: the position that the chain must have reached already. */
  readonly atLeast: number | undefined;
}

/** Columns of a record, in the order of the statements' parameters. */
export const RECORD_COLUMNS = [
  { name: 'tenant_id', type: 'text', of: ({ tenantId }) => tenantId, write: keyText },
  { name: 'invocation_id', type: 'text', own: true, of: ({ invocationId }) => invocationId, write: keyText },
  { name: 'tool_id', type: 'text', of: ({ toolId }) => toolId, write: keyText },
  { name: 'tool_version', type: 'text', of: ({ toolVersion }) => toolVersion, write: lookupText },
  { name: 'agent_did', type: 'text', of: ({ agentDid }) => agentDid, write: keyText },
  { name: 'session_id', type: 'text', of: ({ sessionId }) => sessionId, write: lookupText },
  { name: 'side_effect_policy', type: 'text', of: ({ sideEffect }) => sideEffect },
  { name: 'state', type: 'text', of: ({ state }) => state },
  { name: 'error_code', type: 'text', of: ({ failure }) => failure?.code },
  { name: 'instance_id', type: 'text', of: ({ instanceId }) => instanceId, write: keyText },
  { name: 'is_final', type: 'boolean', of: ({ state }) => isFinal(state) },
  { name: 'accepted_ms', type: 'double precision', own: true, of: ({ acceptedAt }) => acceptedAt },
  { name: 'duration_ms', type: 'double precision', own: true, of: ({ metadata }) => metadata?.duration_ms },
  { name: 'waits_for', type: 'text', of: waitsFor },
  { name: 'fence', type: 'bigint', of: ({ fence }) => fence ?? 0 },
  { name: 'turn_group', type: 'text', of: ({ turnGroupId }) => turnGroupId, write: lookupText },
  { name: 'nonce', type: 'text', of: ({ nonce }) => nonce, write: keyText },
  { name: 'deferred', type: 'boolean', of: ({ deferred }) => deferred === true },
] as const satisfies readonly AppendColumn<InvocationRecord>[];

/** Columns of a row of events, in the order of the statements' parameters. */
export const EVENT_COLUMNS = [
  { name: 'chain_id', type: 'text', of: ({ first }) => first.chainId, write: keyText },
  { name: 'first_seq', type: 'bigint', own: true, of: ({ first }) => first.seq },
  { name: 'last_seq', type: 'bigint', own: true, of: ({ lastSeq }) => lastSeq },
  { name: 'run_last_seq', type: 'bigint', own: true, of: ({ runLastSeq }) => runLastSeq },
  { name: 'at_least', type: 'bigint', own: true, of: ({ atLeast }) => atLeast },
  { name: 'tenant_id', type: 'text', of: ({ first }) => first.tenantId, write: keyText },
  { name: 'types', type: 'text', of: ({ types }) => types },
  { name: 'invocation_id', type: 'text', own: true, of: ({ first }) => first.invocationId, write: lookupText },
  { name: 'tool_id', type: 'text', of: ({ first }) => first.toolId, write: lookupText },
  { name: 'agent_did', type: 'text', of: ({ first }) => first.agentDid, write: lookupText },
  { name: 'time', type: 'timestamptz', of: ({ first }) => first.time },
] as const satisfies readonly AppendColumn<PlacedRow>[];

/** Text of a column for look-ups. */
export function lookupText(value: string): string {
  return keyText(value).slice(0, LOOKUP_CHARACTERS_MAX);
}

/** One parameter for each column of a single row. */
export const valuesOfOne = <Row>(columns: readonly AppendColumn<Row>[], rows: readonly Row[]): Value[] =>
  columns.flatMap((column) => rows.map((row) => textOf(column, column.of(row))));

/**
 * Parameters for the columns of many rows: an array for each and, unless the column is `own`, the value that all share.
 */
export function valuesOfMany<Row>(columns: readonly AppendColumn<Row>[], rows: readonly Row[]): Value[] {
  const values: Value[] = [];
  for (const column of columns) {
    if (column.own) values.push(arrayOf(column, rows));
    else if (isCommon(column, rows))
      values.push('{}', rows[0] === undefined ? null : textOf(column, column.of(rows[0])));
    else values.push(arrayOf(column, rows), null);
  }
  return values;
}

function isCommon<Row>(column: AppendColumn<Row>, rows: readonly Row[]): boolean {
  const common = rows[0] === undefined ? undefined : column.of(rows[0]);
  for (const row of rows) if (column.of(row) !== common) return false;
  return true;
}

/** In PostgreSQL's array syntax (manual, 8.15.6). */
function arrayOf<Row>(column: AppendColumn<Row>, rows: readonly Row[]): string {
  let array = '';
  for (const row of rows) {
    const text = textOf(column, column.of(row));
    array += `${array === '' ? '{' : ','}${text === null ? 'NULL' : column.type === 'text' ? quotedElement(text) : text}`;
  }
  return array === '' ? '{}' : `${array}}`;
}

const quotedElement = (text: string): string =>
  `"${text.includes('"') || text.includes('\\') ? text.replaceAll(/["\\]/g, '\\$&') : text}"`;

function textOf<Row>({ write }: AppendColumn<Row>, field: Field): string | null {
  if (field === undefined) return null;
  return typeof field !== 'string' ? String(field) : write === undefined ? field : write(field);
}

/** Rows with their columns, and the run that each begins. */
export function placed(rows: readonly EventRow[], continues: boolean): PlacedRow[] {
  const ends = runEnds(rows);
  return rows.map((row, at) => {
    const [first] = row;
    const runLastSeq = ends[at];
    const atLeast = runLastSeq === undefined ? undefined : continues ? first.seq - 1 : 0;
    return { first, lastSeq: lastSeq(row), types: typesOf(row), runLastSeq, atLeast };
  });
}

/** For each row that begins a run of positions, the last position of the run. */
function runEnds(rows: readonly EventRow[]): readonly (number | undefined)[] {
  const ends: (number | undefined)[] = [];
  let start = 0;
  let last: ChainedEvent | undefined;
  for (const [at, row] of rows.entries()) {
    if (last !== undefined && !follows(row[0], last)) start = at;
    ends[start] = lastSeq(row);
    last = row.at(-1);
  }
  return ends;
}

const lastSeq = (row: EventRow): number => row[0].seq + row.length - 1;

function typesOf(row: EventRow): string {
  let types = row[0].type;
  for (let at = 1; at < row.length; at += 1) types += ` ${row[at]?.type}`;
  return types;
}
