// Hot path: every event of every call is packed here.

import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { isPlain } from '@sallyport/std/json/json-text';
import type { CloudEvent } from '../../../../api/schemas/cloud-event.ts';
import type { ChainedEvent } from '../../../domain/event/chained-event.ts';
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
export type EventRow = readonly [ChainedEvent, ...ChainedEvent[]];

type OwnMember = 'chainhash' | 'id' | 'time' | 'type';

/**
 * Cuts events into rows. Each link follows the one before in its row.
 * @throws E3812 when one place of a chain is there twice or places go backwards
 */
export function rowsOf(events: readonly ChainedEvent[]): readonly EventRow[] {
  const rows: EventRow[] = [];
  const places = new Map<string, number>();
  let row: [ChainedEvent, ...ChainedEvent[]] | undefined;
  let last: ChainedEvent | undefined;
  for (const event of events) {
    if (last === undefined || !follows(event, last)) {
      if (last !== undefined) places.set(last.chainId, last.seq);
      if (event.seq <= (places.get(event.chainId) ?? 0))
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
export const follows = (event: ChainedEvent, before: ChainedEvent): boolean =>
  event.chainId === before.chainId && event.seq === before.seq + 1;

function fits(event: ChainedEvent, before: ChainedEvent): boolean {
  const { data } = event;
  return (
    follows(event, before) &&
    event.prev === before.hash &&
    event.tenantId === before.tenantId &&
    event.subject === before.subject &&
    event.source === before.source &&
    // One value a row is what rows are looked up by.
    data.invocationId === before.data.invocationId &&
    data.toolId === before.data.toolId &&
    data.agentDid === before.data.agentDid
  );
}

/** The documents of rows that `rowsOf` cut, `PackedEvents` as JSON. */
export function packed(rows: readonly EventRow[]): string[] {
  let plain: ChainedEvent | undefined;
  return rows.map((row) => {
    for (const event of row) {
      if (!isPlainEvent(event, plain)) return documentOf(row, escaped);
      plain = event;
    }
    return documentOf(row, unchanged);
  });
}

function documentOf(row: EventRow, text: (value: string) => string): string {
  const [{ chainId, prev, seq, source, subject, tenantId, data }] = row;
  const about = subject === undefined ? '' : `,"subject":"${text(subject)}"`;
  const isShared = row.every((event) => event.data.shared === data.shared);
  let each = '';
  for (const event of row) {
    const own = isShared ? event.data.own : event.data.text.slice(1, -1);
    each +=
      `${each === '' ? '' : ','}{"chainhash":"${text(event.hash)}","data":{${own}},"id":"${text(event.id)}"` +
      `,"time":"${text(event.time)}","type":"${text(event.type)}"}`;
  }
  return (
    `{"shared":{"chainid":"${text(chainId)}","chainprev":"${text(prev)}","chainseq":${seq}` +
    `,"datacontenttype":"application/json","source":"${text(source)}","specversion":"1.0"${about}` +
    `,"tenantid":"${text(tenantId)}","data":{${isShared ? data.shared : ''}}},"each":[${each}]}`
  );
}

const unchanged = (value: string): string => value;
const escaped = (value: string): string => JSON.stringify(value).slice(1, -1);

/**
 * Whether the attributes of an event stand in JSON as they are. What a plain one before has too is not looked at again:
 * looking costs as much as all else in a document.
 */
const isPlainEvent = (event: ChainedEvent, plain: ChainedEvent | undefined): boolean =>
  isPlain(event.hash) &&
  isPlain(event.id) &&
  (event.time === plain?.time || isPlain(event.time)) &&
  (event.type === plain?.type || isPlain(event.type)) &&
  (event.prev === plain?.hash || isPlain(event.prev)) &&
  (event.subject === plain?.subject || isPlain(event.subject ?? '')) &&
  (event.chainId === plain?.chainId || isPlain(event.chainId)) &&
  (event.source === plain?.source || isPlain(event.source)) &&
  (event.tenantId === plain?.tenantId || isPlain(event.tenantId));

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
