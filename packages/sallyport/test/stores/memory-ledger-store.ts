import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { AuditQuery } from '../../api/schemas/audit.ts';
import type { CloudEvent } from '../../api/schemas/cloud-event.ts';
import type {
  CallQuery,
  ChainCheckpoint,
  ForgetQuery,
  Forgotten,
  LedgerBatch,
  RowsQuery,
  StoredEvent,
  StoredRow,
  WaitingQuery,
} from '../../src/audit/ledger-store.port.ts';
import { type ChainedEvent, eventTextParts } from '../../src/domain/event/chained-event.ts';
import { isFinal } from '../../src/domain/invocation/lifecycle.ts';
import {
  completedAt,
  type InvocationRecord,
  nonceOf,
  waitsFor,
  withoutResult,
} from '../../src/domain/invocation/record.ts';
import { rowsOfBatch, rowTaken } from '../../src/domain/invocation/rows-of-batch.ts';
import type { WaitFor } from '../../src/domain/invocation/waiting-call.ts';
import { createEventsByCall } from './calls/events-by-call.ts';
import { byAcceptance, isListed, type ListedRow } from './calls/is-listed.ts';
import { sinkPositions } from './calls/sink-positions.ts';
import type { FailedRows } from './outcomes/memory-outcome-store.ts';
import { createTextLog, type TextLog } from './text-log.ts';

/** Default of `eventsMax`; so many events take about 1 GB. */
const EVENTS_MAX = 1_000_000;
/** Default number of events on a page. */
const PAGE_EVENTS = 100;

/** The place of an event's JSON text, and the members that queries filter by. */
interface HeldEvent {
  readonly place: number;
  readonly tenantId: string;
  readonly type: string;
  readonly invocationId: string | undefined;
  readonly toolId: string | undefined;
  readonly agentDid: string | undefined;
}

interface HeldRecord extends ListedRow {
  readonly place: number;
  readonly instanceId: string;
  readonly final: boolean;
  readonly failedWith: string | undefined;
  readonly waits: WaitFor['for'] | undefined;
  readonly fence: number;
  readonly nonce: string;
  /** Whether the call completed with a result that is still stored. */
  readonly hasResult: boolean;
}

interface Held {
  /** Events and rows as JSON text, so that callers never share objects with the store. */
  readonly texts: TextLog;
  /** Events by position − 1: positions count from 1. */
  readonly events: HeldEvent[];
  /** Chains by their id. */
  readonly chains: Map<string, ChainLinks>;
  readonly records: Map<string, HeldRecord>;
}

/** The events of one chain in ascending order of seq, and their positions at the same indexes. */
interface ChainLinks {
  readonly seqs: number[];
  readonly positions: number[];
  head: { readonly seq: number; readonly hash: string };
}

/**
 * The ledger in memory.
 * @param options.eventsMax number of events, 1 000 000 by default; a full ledger refuses to append with E3812, because
 *   dropping audited facts is worse than refusing calls
 */
export function memoryLedgerStore(options: { readonly eventsMax?: number } = {}): FailedRows {
  const { eventsMax = EVENTS_MAX } = options;
  const held: Held = { texts: createTextLog(), events: [], chains: new Map(), records: new Map() };

  return {
    ...sinkPositions(),
    ...checkpointsOf(),
    ...callReaders(held),
    async append(batch) {
      refuseWhatCannotBeWhole(held, batch, eventsMax);
      for (const record of rowsOfBatch(batch.records)) keepRecord(held, record);
      for (const event of batch.events) keepEvent(held, event);
    },
    async chainHead(chainId) {
      return held.chains.get(chainId)?.head;
    },
    async chainIds() {
      return [...held.chains.keys()].sort();
    },
    async chainEvents(chainId, afterSeq, limit) {
      return linksAfter(held, chainId, afterSeq, limit);
    },
    async events(tenantId, query) {
      return page(held, tenantId, query);
    },
    async findInvocation(tenantId, invocationId) {
      const record = held.records.get(keyOf(tenantId, invocationId));
      return record === undefined ? undefined : readRecord(held, record);
    },
    async openInvocations(instanceId) {
      const open = [...held.records.values()].filter((record) => !record.final && record.instanceId === instanceId);
      open.sort((one, other) => one.acceptedAt - other.acceptedAt);
      return open.map((record) => readRecord(held, record));
    },
    async failedWith(tenantId, code) {
      const failed = [...held.records.values()].filter((row) => row.failedWith === code && row.tenantId === tenantId);
      return failed.map((row) => readRecord(held, row));
    },
    async calls(query) {
      return calls(held, query);
    },
    async waitingCalls(query) {
      return waiting(held, query);
    },
    async fenceInvocation(tenantId, invocationId, fence) {
      const key = keyOf(tenantId, invocationId);
      const record = held.records.get(key);
      if (record === undefined) return undefined;
      held.records.set(key, { ...record, fence: Math.max(record.fence, fence) });
      return readRecord(held, record);
    },
    async forgetResults(query) {
      return forgetResults(held, query);
    },
  };
}

function checkpointsOf(): Pick<FailedRows, 'addCheckpoint' | 'checkpoints' | 'newestCheckpoint'> {
  const texts = new Map<string, string[]>();
  const ofChain = (chainId: string): ChainCheckpoint[] => {
    const found = (texts.get(chainId) ?? []).map((text) => JSON.parse(text) as ChainCheckpoint);
    return found.sort((one, other) => one.seq - other.seq);
  };
  return {
    async addCheckpoint(checkpoint) {
      const text = JSON.stringify(checkpoint);
      const known = texts.get(checkpoint.chainId);
      if (known === undefined) texts.set(checkpoint.chainId, [text]);
      else if (!known.includes(text)) known.push(text);
    },
    async checkpoints(chainId) {
      return ofChain(chainId);
    },
    async newestCheckpoint(chainId) {
      return ofChain(chainId).at(-1);
    },
  };
}

/** Checks the whole batch before anything is written, so that the batch is one transaction. */
function refuseWhatCannotBeWhole(held: Held, batch: LedgerBatch, eventsMax: number): void {
  refusePlaces(held, batch, eventsMax);
  for (const record of rowsOfBatch(batch.records)) refuseForeignRow(held, record);
}

function refusePlaces(held: Held, batch: LedgerBatch, eventsMax: number): void {
  if (held.events.length + batch.events.length > eventsMax) {
    throw new ToolLayerError(
      'E3812',
      `The ledger in memory holds its ${eventsMax} events and takes no more. Use PostgreSQL.`,
    );
  }
  const [first] = batch.events;
  if (batch.continues === true && first !== undefined) refuseGap(held, first);
  let before: ChainedEvent | undefined;
  let ascending = true;
  for (const event of batch.events) {
    if (isTaken(held, event)) throw placeTaken();
    ascending &&= before === undefined || (before.chainId === event.chainId && before.seq < event.seq);
    before = event;
  }
  if (ascending) return;
  const places = new Set(batch.events.map(({ seq, chainId }) => `${seq} ${chainId}`));
  if (places.size < batch.events.length) throw placeTaken();
}

/** Refuses to replace a row that is final, that belongs to a later lease, or that belongs to another call. */
function refuseForeignRow({ records }: Held, record: InvocationRecord): void {
  const row = records.get(keyOf(record.tenantId, record.invocationId));
  if (row === undefined) return;
  if (row.final || row.fence > (record.fence ?? 0) || row.nonce !== nonceOf(record)) throw rowTaken();
}

function refuseGap({ chains }: Held, { chainId, seq }: ChainedEvent): void {
  if ((chains.get(chainId)?.head.seq ?? 0) !== seq - 1) throw placeTaken();
}

function isTaken({ chains }: Held, { chainId, seq }: ChainedEvent): boolean {
  const links = chains.get(chainId);
  if (links === undefined || seq > links.head.seq) return false;
  return links.seqs[firstAfter(links.seqs, seq) - 1] === seq;
}

const placeTaken = (): ToolLayerError =>
  new ToolLayerError('E3812', 'The place in the hash chain is taken. Two writers use one chain id; give each its own.');

function keepRecord(held: Held, record: InvocationRecord): void {
  const key = keyOf(record.tenantId, record.invocationId);
  const { tenantId, agentDid, userDid, invocationId, instanceId, toolId, turnGroupId } = record;
  const { acceptedAt, state, sideEffect, fence = 0 } = record;
  held.records.set(key, {
    place: held.texts.add(JSON.stringify(record)),
    tenantId,
    agentDid,
    userDid,
    invocationId,
    instanceId,
    toolId,
    turnGroupId,
    acceptedAt,
    state,
    final: isFinal(state),
    failedWith: record.failure?.code,
    waits: waitsFor(record),
    fence,
    nonce: nonceOf(record),
    hasResult: state === 'COMPLETED' && 'result' in record,
    deferred: record.deferred === true,
    leavesTraces: sideEffect !== undefined && sideEffect !== 'pure',
  });
}

function calls(held: Held, query: CallQuery): readonly InvocationRecord[] {
  const found = [...held.records.values()].filter((record) => isListed(record, query));
  found.sort((one, other) => byAcceptance(other, one));
  return found.slice(0, query.limit).map((record) => readRecord(held, record));
}

/** The queries of a verification. */
function callReaders(held: Held): Pick<FailedRows, 'allInvocations' | 'recordedCalls' | 'eventsAbout'> {
  const eventsByCall = createEventsByCall(held.events);
  return {
    async allInvocations(query) {
      return allRows(held, query);
    },
    async recordedCalls(calls) {
      return calls.filter(({ tenantId, invocationId }) => held.records.has(keyOf(tenantId, invocationId)));
    },
    async eventsAbout(calls) {
      return calls.flatMap((call) => eventsByCall.find(call)).map((event) => readEvent(held, event));
    },
  };
}

/** A page of rows, in the order in which they were first written. */
function allRows(held: Held, { after, limit }: RowsQuery): StoredRow[] {
  const rows: StoredRow[] = [];
  const last = after === undefined ? undefined : keyOf(after.tenantId, after.invocationId);
  let isBehind = last === undefined;
  for (const [key, record] of held.records) {
    if (rows.length >= limit) break;
    const { tenantId, invocationId } = record;
    if (isBehind) rows.push({ call: { tenantId, invocationId }, record: readRecord(held, record) });
    else isBehind = key === last;
  }
  return rows;
}

function waiting(held: Held, { waitsFor: wanted, tenantId, after, limit }: WaitingQuery): InvocationRecord[] {
  const found = [...held.records.values()].filter(
    (record) =>
      record.waits === wanted &&
      (tenantId === undefined || record.tenantId === tenantId) &&
      (after === undefined || byAcceptance(record, after) > 0),
  );
  found.sort(byAcceptance);
  return found.slice(0, limit).map((record) => readRecord(held, record));
}

function forgetResults(held: Held, { before, at, limit, after }: ForgetQuery): Forgotten {
  const found = [...held.records].filter(
    ([, row]) => row.hasResult && row.acceptedAt < before && (after === undefined || byAcceptance(row, after) > 0),
  );
  found.sort(([, one], [, other]) => byAcceptance(one, other));
  const page = found.slice(0, limit);
  let forgotten = 0;
  for (const [key, row] of page) {
    const record = readRecord(held, row);
    if (completedAt(record) >= before) continue;
    const place = held.texts.add(JSON.stringify(withoutResult(record, at)));
    held.texts.erase(row.place);
    held.records.set(key, { ...row, place, hasResult: false });
    forgotten += 1;
  }
  const last = page.length < limit ? undefined : page.at(-1)?.[1];
  return { forgotten, ...(last === undefined ? {} : { next: last }) };
}

const readRecord = ({ texts }: Held, { place }: HeldRecord): InvocationRecord =>
  JSON.parse(texts.at(place)) as InvocationRecord;

function keepEvent(held: Held, event: ChainedEvent): void {
  const { chainId, seq, hash, tenantId, type, invocationId, toolId, agentDid } = event;
  const place = held.texts.add(...eventTextParts(event));
  const position = held.events.push({ place, tenantId, type, invocationId, toolId, agentDid });
  const links = held.chains.get(chainId);
  if (links === undefined) held.chains.set(chainId, { seqs: [seq], positions: [position], head: { seq, hash } });
  else if (seq > links.head.seq) {
    links.head = { seq, hash };
    links.seqs.push(seq);
    links.positions.push(position);
  } else {
    const at = firstAfter(links.seqs, seq);
    links.seqs.splice(at, 0, seq);
    links.positions.splice(at, 0, position);
  }
}

const readEvent = ({ texts }: Held, { place }: HeldEvent): CloudEvent => JSON.parse(texts.at(place)) as CloudEvent;

function linksAfter(held: Held, chainId: string, afterSeq: number, limit: number): CloudEvent[] {
  const links = held.chains.get(chainId);
  if (links === undefined) return [];
  const first = firstAfter(links.seqs, afterSeq);
  return links.positions.slice(first, first + limit).flatMap((position) => {
    const event = held.events[position - 1];
    return event === undefined ? [] : [readEvent(held, event)];
  });
}

/** Index of the first seq above `seq`, found by binary search. */
function firstAfter(seqs: readonly number[], seq: number): number {
  let low = 0;
  let high = seqs.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((seqs[middle] ?? seq) > seq) high = middle;
    else low = middle + 1;
  }
  return low;
}

function page(held: Held, tenantId: string | undefined, query: AuditQuery): StoredEvent[] {
  const { after = 0, limit = PAGE_EVENTS, newest = false } = query;
  const { events } = held;
  const found: StoredEvent[] = [];
  const step = newest ? -1 : 1;
  for (let at = newest ? events.length - 1 : after; at >= after && found.length < limit; at += step) {
    const event = events[at];
    if (event === undefined) break;
    if (!matches(event, tenantId, query)) continue;
    found.push({ position: at + 1, event: readEvent(held, event) });
  }
  return newest ? found.reverse() : found;
}

function matches(event: HeldEvent, tenantId: string | undefined, query: AuditQuery): boolean {
  return (
    (tenantId === undefined || event.tenantId === tenantId) &&
    (query.type === undefined || event.type === query.type) &&
    (query.invocation_id === undefined || event.invocationId === query.invocation_id) &&
    (query.tool_id === undefined || event.toolId === query.tool_id) &&
    (query.agent_did === undefined || event.agentDid === query.agent_did)
  );
}

/** The tenant's length is part of the key, so that different pairs never have the same key. */
const keyOf = (tenantId: string, invocationId: string): string => `${tenantId.length} ${tenantId}${invocationId}`;
