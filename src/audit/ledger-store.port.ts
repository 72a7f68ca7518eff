import type { AuditQuery } from '../../api/schemas/audit.ts';
import type { CloudEvent } from '../../api/schemas/cloud-event.ts';
import type { ChainedEvent } from '../domain/event/chained-event.ts';
import type { InvocationRecord } from '../domain/invocation/record.ts';

/** How far a commit must have come before the caller goes on. */
export type Durability = 'synchronous' | 'asynchronous';

/** What goes into one transaction: rows of invocations and the events about them, in chain order. */
export interface LedgerBatch {
  readonly records: readonly InvocationRecord[];
  readonly events: readonly ChainedEvent[];
  /**
   * All events are of one chain, and the first follows its newest event directly; else the batch is refused. So nothing
   * is written behind a batch that failed, though it was sent before anybody knew. Without it gaps are allowed.
   */
  readonly continues?: boolean;
}

/** A signed statement that a chain had this head. */
export interface ChainCheckpoint {
  readonly chainId: string;
  readonly seq: number;
  readonly hash: string;
  /** ISO 8601. */
  readonly time: string;
  readonly keyId: string;
  /** Base64url RS256 signature over the canonical JSON of the fields above. */
  readonly signature: string;
}

/** An event with its place in the store, from which a reader goes on. */
export interface StoredEvent {
  readonly position: number;
  readonly event: CloudEvent;
}

/** The durable record of calls and their events (system design §4). Append only as far as events go. */
export interface LedgerStore {
  /**
   * Writes a batch in one transaction; batches of one chain in the order of the calls. A record replaces the row of the same tenant and id unless that row is final;
   * an event whose chain place is taken fails the batch.
   */
  append(batch: LedgerBatch, durability: Durability): Promise<void>;
  /** Newest event of a chain; undefined for a chain that does not exist. */
  chainHead(chainId: string): Promise<{ readonly seq: number; readonly hash: string } | undefined>;
  addCheckpoint(checkpoint: ChainCheckpoint): Promise<void>;
  checkpoints(chainId: string): Promise<readonly ChainCheckpoint[]>;
  chainIds(): Promise<readonly string[]>;
  /** Events of a chain in order of seq, `limit` at most, from the first after `afterSeq`; stored text, unverified. */
  chainEvents(chainId: string, afterSeq: number, limit: number): Promise<readonly CloudEvent[]>;
  /** Events of one tenant in order of position. `tenantId` undefined reads all tenants: for sinks only. */
  events(tenantId: string | undefined, query: AuditQuery): Promise<readonly StoredEvent[]>;
  /** undefined when this tenant has no such invocation. */
  findInvocation(tenantId: string, invocationId: string): Promise<InvocationRecord | undefined>;
  /** Rows that are not final and belong to `instanceId`; oldest first. */
  openInvocations(instanceId: string): Promise<readonly InvocationRecord[]>;
  /** Where a sink has read to; 0 at first. */
  sinkPosition(sink: string): Promise<number>;
  setSinkPosition(sink: string, position: number): Promise<void>;
}
