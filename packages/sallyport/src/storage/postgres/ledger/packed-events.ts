// Hot path: every event of every call is packed here.

import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { CloudEvent } from '../../../../api/schemas/cloud-event.ts';
import type { ChainedEvent } from '../../../domain/event/chained-event.ts';
import { cutCommon } from '../../../domain/event/shared-members.ts';
import { PLACE_TAKEN } from '../database-error.ts';

/** Events in one row; a reader has to hold at least this many. */
export const ROW_EVENTS_MAX = 100;

/**
 * Document of one row: consecutive links of a chain about the same subject. Shared members are stored once, because the
 * cost of writing a row is its bytes. Position and `chainprev` of the later links follow from the one before.
 */
export interface PackedEvents {
  /** Members of the first link, and those that all links share. */
  readonly shared: Omit<CloudEvent, OwnMember>;
  readonly each: readonly Pick<CloudEvent, OwnMember | 'data'>[];
}

/** Events that go into one row. */
export type EventRow = readonly [ChainedEvent, ...ChainedEvent[]];

type OwnMember = 'chainhash' | 'id' | 'time' | 'type';

/**
 * Cuts events into rows. Each link in a row follows the one before.
 * @throws E3812 when a position of a chain occurs twice or positions decrease
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

/** True when an event has the next position of the same chain. */
export const follows = (event: ChainedEvent, before: ChainedEvent): boolean =>
  event.chainId === before.chainId && event.seq === before.seq + 1;

function fits(event: ChainedEvent, before: ChainedEvent): boolean {
  return (
    follows(event, before) &&
    event.prev === before.hash &&
    event.tenantId === before.tenantId &&
    event.subject === before.subject &&
    event.source === before.source &&
    // A row has one value of each column by which rows are found.
    event.invocationId === before.invocationId &&
    event.toolId === before.toolId &&
    event.agentDid === before.agentDid
  );
}

/** The documents of rows that `rowsOf` cut, `PackedEvents` as JSON. */
export const packed = (rows: readonly EventRow[]): string[] => rows.map((row) => JSON.stringify(documentOf(row)));

function documentOf(row: EventRow): PackedEvents {
  const [{ chainId, prev, seq, source, subject, tenantId }] = row;
  const { common, own } = cutCommon(row);
  return {
    shared: {
      chainid: chainId,
      chainprev: prev,
      chainseq: seq,
      datacontenttype: 'application/json',
      source,
      specversion: '1.0',
      ...(subject === undefined ? {} : { subject }),
      tenantid: tenantId,
      data: common,
    },
    each: row.map(({ hash, data, id, time, type }, at) => ({
      chainhash: hash,
      data: own[at] ?? data,
      id,
      time,
      type: type as CloudEvent['type'],
    })),
  };
}

/**
 * The events as they were packed; shared members of `data` come first. A row that was tampered with beyond recognition
 * gives one event, which every verification rejects.
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
