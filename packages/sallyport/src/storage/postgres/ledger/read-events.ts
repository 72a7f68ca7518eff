import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import type { AuditQuery } from '../../../../api/schemas/audit.ts';
import type { CloudEvent } from '../../../../api/schemas/cloud-event.ts';
import type { StoredEvent } from '../../../audit/ledger-store.port.ts';
import { keyText } from '../key-text.ts';
import type { Tables } from '../schema/tables.ts';
import { lookupText } from './append-columns.ts';
import { settledPosition } from './horizon.ts';
import { ROW_EVENTS_MAX, unpack } from './packed-events.ts';

/** Events of a page when the query names no limit. */
const PAGE_EVENTS = 100;
/** The position of an event is that of its row times this, plus its index in the row. */
const ROW_POSITIONS = 1000;

/**
 * Events committed out of order stay hidden until no earlier position can appear, so that a reader that continues from
 * a position misses none. A query about one invocation sees all its events at once: they are written in order.
 */
export async function readEvents(
  database: Kysely<Tables>,
  tenantId: string | undefined,
  query: AuditQuery,
): Promise<readonly StoredEvent[]> {
  const { after = 0, limit = PAGE_EVENTS, newest = false, type } = query;
  let rows = database
    .selectFrom('sallyport.audit_events')
    .where('position', '>=', String(Math.floor(after / ROW_POSITIONS)));
  if (query.invocation_id === undefined) {
    rows = rows.where('position', '<=', String(await settledPosition(database)));
  }
  const filters = {
    tenant_id: tenantId === undefined ? undefined : keyText(tenantId),
    invocation_id: lookedUp(query.invocation_id),
    tool_id: lookedUp(query.tool_id),
    agent_did: lookedUp(query.agent_did),
  };
  for (const column of FILTERED) {
    const value = filters[column];
    if (value !== undefined) rows = rows.where(column, '=', value);
  }
  if (type !== undefined) rows = rows.where(sql<boolean>`${type} = any (string_to_array(types, ' '))`);
  const found = (await page(database, rows, { order: 'position', newest, limit, type }))
    .flatMap(({ position, events }) => unpack(events).map((event, at) => ({ position: placeOf(position, at), event })))
    .filter(({ position, event }) => position > after && (type === undefined || event.type === type));
  return newest ? found.slice(-limit) : found.slice(0, limit);
}

const lookedUp = (value: string | undefined): string | undefined => value && lookupText(value);

const FILTERED = ['tenant_id', 'invocation_id', 'tool_id', 'agent_did'] as const;

const placeOf = (position: string, at: number): number => Number(position) * ROW_POSITIONS + at;

/**
 * Events of a chain after a position, in order. Positions come from the columns: the documents are still to be
 * verified.
 */
export async function readChain(
  database: Kysely<Tables>,
  chainId: string,
  afterSeq: number,
  limit: number,
): Promise<readonly CloudEvent[]> {
  const rows = chainRows(database, chainId)
    .where('first_seq', '>', String(afterSeq - ROW_EVENTS_MAX))
    .where('last_seq', '>', String(afterSeq));
  const found = await page(database, rows, { order: 'first_seq', newest: false, limit });
  return found
    .flatMap(({ first_seq, events }) => unpack(events).slice(Math.max(0, afterSeq + 1 - Number(first_seq))))
    .slice(0, limit);
}

/** Newest event of a chain. */
export async function readChainHead(
  database: Kysely<Tables>,
  chainId: string,
): Promise<{ readonly seq: number; readonly hash: string } | undefined> {
  const rows = chainRows(database, chainId).select('events').orderBy('first_seq', 'desc').limit(1);
  const newest = (await rows.executeTakeFirst())?.events;
  const event = newest && unpack(newest).at(-1);
  return event && { seq: event.chainseq, hash: event.chainhash };
}

const chainRows = (database: Kysely<Tables>, chainId: string) =>
  database.selectFrom('sallyport.audit_events').where('chain_id', '=', keyText(chainId));

type Rows = SelectQueryBuilder<Tables, 'sallyport.audit_events', object>;

interface Page {
  readonly order: 'position' | 'first_seq';
  readonly newest: boolean;
  /** Most events. */
  readonly limit: number;
  /** Counts only events of this type. */
  readonly type?: AuditQuery['type'];
}

/**
 * The rows that hold the first or newest events, ascending; only a few more than needed, however many events a row
 * holds.
 */
async function page(database: Kysely<Tables>, rows: Rows, { order, newest, limit, type }: Page) {
  const events =
    type === undefined
      ? sql`last_seq - first_seq + 1`
      : sql`cardinality(array_positions(string_to_array(types, ' '), ${type}))`;
  const direction = newest ? 'desc' : 'asc';
  const counted = rows
    .select(['position', 'first_seq', 'events', sql<string>`${events}`.as('own')])
    .select(sql<string>`sum(${events}) over (order by ${sql.ref(order)} ${sql.raw(direction)})`.as('total'))
    .orderBy(order, direction)
    // One more, since all events of the first row may be before the cursor.
    .limit(limit + 1);
  const found = await database
    .selectFrom(counted.as('counted'))
    .select(['position', 'first_seq', 'events'])
    .where(sql<boolean>`total - own < ${limit + ROW_EVENTS_MAX}`)
    .orderBy(order, direction)
    .execute();
  return newest ? found.reverse() : found;
}
