// Hot path: one append per call.
import type { AuditQuery } from '../../../api/schemas/audit.ts';
import type { CloudEvent } from '../../../api/schemas/cloud-event.ts';
import type { ChainCheckpoint, LedgerBatch, LedgerStore, StoredEvent } from '../../audit/ledger-store.port.ts';
import { ToolLayerError } from '../../domain/error/tool-layer-error.ts';
import { isFinal } from '../../domain/invocation/lifecycle.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';

/** Events held when the caller names no bound; some 1 GB. */
const EVENTS_MAX = 1_000_000;
/** Events of a page when the query names no limit. */
const PAGE_EVENTS = 100;

/** JSON text, so that no caller holds what the store holds. The other members are what queries filter by. */
interface HeldEvent {
  readonly text: string;
  readonly tenantId: string;
  readonly type: string;
  readonly invocationId: unknown;
  readonly toolId: unknown;
  readonly agentDid: unknown;
}

interface HeldRecord {
  readonly text: string;
  readonly instanceId: string;
  readonly acceptedAt: number;
  readonly final: boolean;
}

interface Held {
  /** By position − 1: positions count from 1. */
  readonly events: HeldEvent[];
  /** By chain id. */
  readonly chains: Map<string, ChainLinks>;
  readonly records: Map<string, HeldRecord>;
}

interface ChainLinks {
  /** Positions by seq. */
  readonly positions: Map<number, number>;
  /** In ascending order. */
  readonly seqs: number[];
  head: { readonly seq: number; readonly hash: string };
}

/**
 * The ledger in this process.
 * @param options.eventsMax events held at once, 1 000 000 by default; a full ledger refuses to append with E3812, because
 *   dropping audited facts is worse than refusing calls
 */
export function memoryLedgerStore(options: { readonly eventsMax?: number } = {}): LedgerStore {
  const { eventsMax = EVENTS_MAX } = options;
  const held: Held = { events: [], chains: new Map(), records: new Map() };
  const checkpoints = new Map<string, string[]>();
  const sinks = new Map<string, number>();

  return {
    async append(batch) {
      refuseWhatCannotBeWhole(held, batch, eventsMax);
      for (const record of batch.records) keepRecord(held, record);
      for (const event of batch.events) keepEvent(held, event);
    },
    async chainHead(chainId) {
      return held.chains.get(chainId)?.head;
    },
    async addCheckpoint(checkpoint) {
      const text = JSON.stringify(checkpoint);
      const known = checkpoints.get(checkpoint.chainId);
      if (known === undefined) checkpoints.set(checkpoint.chainId, [text]);
      else if (!known.includes(text)) known.push(text);
    },
    async checkpoints(chainId) {
      const found = (checkpoints.get(chainId) ?? []).map((text) => JSON.parse(text) as ChainCheckpoint);
      return found.sort((one, other) => one.seq - other.seq);
    },
    async chainIds() {
      return [...held.chains.keys()].sort();
    },
    async chainEvents(chainId, afterSeq, limit) {
      return linksAfter(held, chainId, afterSeq, limit);
    },
    async events(tenantId, query) {
      return page(held.events, tenantId, query);
    },
    async findInvocation(tenantId, invocationId) {
      const record = held.records.get(keyOf(tenantId, invocationId));
      return record === undefined ? undefined : (JSON.parse(record.text) as InvocationRecord);
    },
    async openInvocations(instanceId) {
      const open = [...held.records.values()].filter((record) => !record.final && record.instanceId === instanceId);
      open.sort((one, other) => one.acceptedAt - other.acceptedAt);
      return open.map((record) => JSON.parse(record.text) as InvocationRecord);
    },
    async sinkPosition(sink) {
      return sinks.get(sink) ?? 0;
    },
    async setSinkPosition(sink, position) {
      sinks.set(sink, position);
    },
  };
}

/** Everything is checked before anything is written, which makes the batch one transaction. */
function refuseWhatCannotBeWhole(held: Held, batch: LedgerBatch, eventsMax: number): void {
  if (held.events.length + batch.events.length > eventsMax) {
    throw new ToolLayerError(
      'E3812',
      `The ledger in memory holds its ${eventsMax} events and takes no more. Use PostgreSQL.`,
    );
  }
  const places = new Set<string>();
  for (const event of batch.events) {
    const place = `${event.chainseq} ${event.chainid}`;
    if (places.has(place) || held.chains.get(event.chainid)?.positions.has(event.chainseq) === true) {
      throw new ToolLayerError(
        'E3812',
        'The place in the hash chain is taken. Two writers use one chain id; give each its own.',
      );
    }
    if (batch.events.length > 1) places.add(place);
  }
}

function keepRecord(held: Held, record: InvocationRecord): void {
  const key = keyOf(record.tenantId, record.invocationId);
  if (held.records.get(key)?.final === true) return;
  const { instanceId, acceptedAt, state } = record;
  held.records.set(key, { text: JSON.stringify(record), instanceId, acceptedAt, final: isFinal(state) });
}

function keepEvent(held: Held, event: CloudEvent): void {
  const { invocation_id: invocationId, tool_id: toolId, agent_did: agentDid } = event.data;
  const position = held.events.push({
    text: JSON.stringify(event),
    tenantId: event.tenantid,
    type: event.type,
    invocationId,
    toolId,
    agentDid,
  });
  const link = { seq: event.chainseq, hash: event.chainhash };
  const links = held.chains.get(event.chainid);
  if (links === undefined) {
    held.chains.set(event.chainid, { positions: new Map([[link.seq, position]]), seqs: [link.seq], head: link });
    return;
  }
  links.positions.set(link.seq, position);
  if (link.seq > links.head.seq) {
    links.head = link;
    links.seqs.push(link.seq);
  } else {
    links.seqs.splice(firstAfter(links.seqs, link.seq), 0, link.seq);
  }
}

function linksAfter(held: Held, chainId: string, afterSeq: number, limit: number): CloudEvent[] {
  const links = held.chains.get(chainId);
  if (links === undefined) return [];
  const first = firstAfter(links.seqs, afterSeq);
  return links.seqs.slice(first, first + limit).flatMap((seq) => {
    const event = held.events[(links.positions.get(seq) ?? 0) - 1];
    return event === undefined ? [] : [JSON.parse(event.text) as CloudEvent];
  });
}

/** Index of the first seq above `seq`, by halving. */
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

function page(events: readonly HeldEvent[], tenantId: string | undefined, query: AuditQuery): StoredEvent[] {
  const { after = 0, limit = PAGE_EVENTS, newest = false } = query;
  const found: StoredEvent[] = [];
  const step = newest ? -1 : 1;
  for (let at = newest ? events.length - 1 : after; at >= after && found.length < limit; at += step) {
    const event = events[at];
    if (event === undefined) break;
    if (!matches(event, tenantId, query)) continue;
    found.push({ position: at + 1, event: JSON.parse(event.text) as CloudEvent });
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

const keyOf = (...parts: readonly string[]): string => JSON.stringify(parts);
