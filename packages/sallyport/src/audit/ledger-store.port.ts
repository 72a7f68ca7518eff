import type { AuditQuery } from '../../api/schemas/audit.ts';
import type { CloudEvent } from '../../api/schemas/cloud-event.ts';
import type { LifecycleState } from '../../api/schemas/invocation.ts';
import type { ChainedEvent } from '../domain/event/chained-event.ts';
import type { CallKey } from '../domain/invocation/call-key.ts';
import type { CallOwner } from '../domain/invocation/call-owner.ts';
import type { InvocationRecord } from '../domain/invocation/record.ts';
import type { WaitFor } from '../domain/invocation/waiting-call.ts';

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

/** Which waiting calls are listed. */
export interface WaitingQuery {
  readonly waitsFor: WaitFor['for'];
  /** Of all tenants when absent. */
  readonly tenantId?: string;
  /** Goes on behind this call of an earlier page. */
  readonly after?: Pick<InvocationRecord, 'acceptedAt' | 'tenantId' | 'invocationId'>;
  readonly limit: number;
}

/** Which calls of a tenant are listed. */
export interface CallQuery {
  readonly tenantId: string;
  /**
   * Only calls of tools that are not pure, from EXECUTING on. Some of them may have failed before their tool was reached: the rows
   * say so.
   */
  readonly sideEffects?: boolean;
  readonly turnGroupId?: string;
  readonly toolId?: string;
  /** In any state when absent. */
  readonly states?: readonly LifecycleState[];
  /** Epoch ms at which they were accepted, `since` or later and before `until`. */
  readonly since?: number;
  readonly until?: number;
  /** Of all agents of the tenant when absent. */
  readonly agentDid?: string;
  /** Of all owners when absent; one without a user has the calls without a user. Its tenant is `tenantId`. */
  readonly owner?: CallOwner;
  /** The last call of the previous page. */
  readonly before?: Pick<InvocationRecord, 'acceptedAt' | 'invocationId'>;
  readonly limit: number;
}

/** Which results are forgotten. */
export interface ForgetQuery {
  /** Epoch ms: those of calls that completed before. */
  readonly before: number;
  /** Epoch ms that the rows say it was done. */
  readonly at: number;
  /** Rows that are looked at. */
  readonly limit: number;
  /** Goes on behind this call of an earlier page. */
  readonly after?: Pick<InvocationRecord, 'acceptedAt' | 'tenantId' | 'invocationId'>;
}

/** Which rows are read. */
export interface RowsQuery {
  /** Goes on behind this call of an earlier page. */
  readonly after?: CallKey;
  readonly limit: number;
}

/** A row as it is stored, whoever wrote it last. */
export interface StoredRow {
  /** What it is found by. */
  readonly call: CallKey;
  /** Unverified: it may be anything that somebody left there. */
  readonly record: InvocationRecord;
  /** Names of columns beside the record that say something else than it; absent when all agree, or there are none. */
  readonly differing?: readonly string[];
}

/** What became of one page of them. */
export interface Forgotten {
  readonly forgotten: number;
  /** Where the next page begins; absent behind the last. */
  readonly next?: Pick<InvocationRecord, 'acceptedAt' | 'tenantId' | 'invocationId'>;
}

/** Which calls hold an idempotency key, as the store of keys says it. */
export interface ClaimedKeys {
  /** Those of the calls that hold a key, expired or not. */
  holders(calls: readonly CallKey[]): Promise<readonly CallKey[]>;
}

/** The durable record of calls and their events (system design §4). Append only as far as events go. */
export interface LedgerStore {
  /**
   * Writes a batch in one transaction; batches of one chain in the order of the calls. A record replaces the row of the
   * same tenant and id.
   * @throws E3802 when such a row is another call's (`nonceOf`), is final, or was written or fenced under a later lease;
   *   E3812 when the place of an event in its chain is taken. Nothing of the batch is written then
   */
  append(batch: LedgerBatch, durability: Durability): Promise<void>;
  /** Newest event of a chain; undefined for a chain that does not exist. */
  chainHead(chainId: string): Promise<{ readonly seq: number; readonly hash: string } | undefined>;
  addCheckpoint(checkpoint: ChainCheckpoint): Promise<void>;
  checkpoints(chainId: string): Promise<readonly ChainCheckpoint[]>;
  /** The one of the highest place; undefined for a chain without any. */
  newestCheckpoint(chainId: string): Promise<ChainCheckpoint | undefined>;
  chainIds(): Promise<readonly string[]>;
  /** Events of a chain in order of seq, `limit` at most, from the first after `afterSeq`; stored text, unverified. */
  chainEvents(chainId: string, afterSeq: number, limit: number): Promise<readonly CloudEvent[]>;
  /** Events of one tenant in order of position. `tenantId` undefined reads all tenants: for sinks only. */
  events(tenantId: string | undefined, query: AuditQuery): Promise<readonly StoredEvent[]>;
  /** undefined when this tenant has no such invocation. */
  findInvocation(tenantId: string, invocationId: string): Promise<InvocationRecord | undefined>;
  /** Rows of all tenants, in an order of the store's own. */
  allInvocations(query: RowsQuery): Promise<readonly StoredRow[]>;
  /** Those of the calls that have a row. */
  recordedCalls(calls: readonly CallKey[]): Promise<readonly CallKey[]>;
  /** Events of all chains about these calls; those of one chain in order. Events about other calls may be among them. */
  eventsAbout(calls: readonly CallKey[]): Promise<readonly CloudEvent[]>;
  /** Rows that are not final and belong to `instanceId`; oldest first. */
  openInvocations(instanceId: string): Promise<readonly InvocationRecord[]>;
  /** Calls that wait on record, in order of acceptance, tenant and id (`waitsFor` of the record). */
  waitingCalls(query: WaitingQuery): Promise<readonly InvocationRecord[]>;
  /** Calls on record, the last accepted first; calls that were accepted in the same ms, by id, the last first. */
  calls(query: CallQuery): Promise<readonly InvocationRecord[]>;
  /**
   * From now on only records of this lease or a later one replace the row.
   * @returns the row as it stands; undefined when this tenant has no such invocation
   */
  fenceInvocation(tenantId: string, invocationId: string, fence: number): Promise<InvocationRecord | undefined>;
  /**
   * Takes the results out of rows of completed calls, of all tenants, in order of acceptance. Everything else of a row
   * stands, and so do the events. Each result is taken out once, whoever else does it at the same time.
   */
  forgetResults(query: ForgetQuery): Promise<Forgotten>;
  /** Where a sink has read to; 0 at first. */
  sinkPosition(sink: string): Promise<number>;
  setSinkPosition(sink: string, position: number): Promise<void>;
}
