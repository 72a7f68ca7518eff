// Hot path: every event of every call is packed here.
import type { CloudEvent } from '../../../../api/schemas/cloud-event.ts';
import { ToolLayerError } from '../../../domain/error/tool-layer-error.ts';
import { PLACE_TAKEN } from '../database-error.ts';

/** Events in one row; a reader has to hold this many at least. */
export const ROW_EVENTS_MAX = 100;

/**
 * Document of one row: consecutive links of a chain about the same thing. What they have in common stands once, because
 * the bytes of a row are what its writing costs. Place and `chainprev` of the later ones follow from the one before.
 */
export interface PackedEvents {
  /** Members of the first link, and those that all of them have. */
  readonly shared: Omit<CloudEvent, OwnMember>;
  readonly each: readonly Pick<CloudEvent, OwnMember | 'data'>[];
}

/** Events that go into one row. */
export type EventRow = readonly [CloudEvent, ...CloudEvent[]];

type OwnMember = 'chainhash' | 'id' | 'time' | 'type';
type Data = CloudEvent['data'];

/** Members of `data` that rows are looked up by: one value a row. */
const LOOKED_UP = ['invocation_id', 'tool_id', 'agent_did'] as const;

/**
 * Cuts events into rows. Each link follows the one before in its row.
 * @throws E3812 when one place of a chain is there twice or places go backwards
 */
export function rowsOf(events: readonly CloudEvent[]): readonly EventRow[] {
  const rows: EventRow[] = [];
  const places = new Map<string, number>();
  let row: [CloudEvent, ...CloudEvent[]] | undefined;
  let last: CloudEvent | undefined;
  for (const event of events) {
    if (last === undefined || !follows(event, last)) {
      if (last !== undefined) places.set(last.chainid, last.chainseq);
      if (event.chainseq <= (places.get(event.chainid) ?? 0))
        throw new ToolLayerError('E3812', `The database could not write the record: ${PLACE_TAKEN}`);
    }
    if (last !== undefined && row !== undefined && row.length < ROW_EVENTS_MAX && fits(event, last)) row.push(event);
    else {
      row = [event];
      rows.push(row);
    }
    last = event;
  }
  return rows;
}

/** Whether an event has the next place of the same chain. */
export const follows = (event: CloudEvent, before: CloudEvent): boolean =>
  event.chainid === before.chainid && event.chainseq === before.chainseq + 1;

function fits(event: CloudEvent, before: CloudEvent): boolean {
  return (
    follows(event, before) &&
    event.chainprev === before.chainhash &&
    event.tenantid === before.tenantid &&
    event.subject === before.subject &&
    event.source === before.source &&
    LOOKED_UP.every((name) => event.data[name] === before.data[name])
  );
}

/** The document of a row that `rowsOf` cut. */
export function pack(row: EventRow): PackedEvents {
  const { chainhash: _hash, id: _id, time: _time, type: _type, data: _data, ...envelope } = row[0];
  const data = sharedData(row);
  const each = row.map((event) => ({
    chainhash: event.chainhash,
    data: ownData(event.data, data),
    id: event.id,
    time: event.time,
    type: event.type,
  }));
  return { shared: { ...envelope, data }, each };
}

function sharedData(row: EventRow): Data {
  const shared: Data = {};
  if (row.length === 1) return shared;
  const { data } = row[0];
  for (const name of Object.keys(data)) {
    // An assignment to this one would not make a member.
    if (name !== '__proto__' && allHave(row, name, data[name])) shared[name] = data[name];
  }
  return shared;
}

function allHave(row: EventRow, name: string, value: unknown): boolean {
  for (const { data } of row) if (data[name] !== value) return false;
  return true;
}

function ownData(data: Data, shared: Data): Data {
  if (Object.hasOwn(data, '__proto__')) return data;
  const own: Data = {};
  for (const name of Object.keys(data)) if (data[name] !== shared[name]) own[name] = data[name];
  return own;
}

/**
 * The events as they were packed; members of `data` that are shared come first. A row that somebody changed beyond
 * recognition gives one event, which no verification takes for whole.
 */
export function unpack(document: PackedEvents): CloudEvent[] {
  const { shared, each } = document ?? {};
  if (!Array.isArray(each)) return [{ ...(document as unknown as CloudEvent) }];
  let chainprev = shared?.chainprev;
  let chainseq = shared?.chainseq;
  return each.map((own: PackedEvents['each'][number]) => {
    const event = { ...shared, ...own, chainprev, chainseq, data: { ...shared?.data, ...own?.data } };
    chainprev = own?.chainhash;
    chainseq += 1;
    return event;
  });
}
