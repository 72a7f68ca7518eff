import type { AuditQuery } from '../../api/schemas/audit.ts';
import type { CloudEvent } from '../../api/schemas/cloud-event.ts';
import type { LifecycleState } from '../../api/schemas/invocation.ts';
import type { ChainedEvent } from '../domain/event/chained-event.ts';
import type { EventDraft } from '../domain/event/event-draft.ts';
import type { CallKey } from '../domain/invocation/call-key.ts';
import type { CallOwner } from '../domain/invocation/call-owner.ts';
import type { InvocationRecord } from '../domain/invocation/record.ts';
import type { WaitFor } from '../domain/invocation/waiting-call.ts';

/** How durable a commit must be before the caller continues. */
export type Durability = 'synchronous' | 'asynchronous';

/** What goes into one transaction: rows of invocations and the events about them, in chain order. */
export interface LedgerBatch {
  readonly records: readonly InvocationRecord[];
  readonly events: readonly ChainedEvent[];
  /**
   * Requires that all events are of one chain, and that the first directly follows the chain's newest event; else the
   * batch is refused. So nothing is written after a batch that failed, even if it was sent before the failure was
   * known. Without it gaps are allowed.
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

/** An event with its position in the store, which serves as a cursor. */
export interface StoredEvent {
  readonly position: number;
  readonly event: CloudEvent;
}

/** Selects waiting calls. */
export interface WaitingQuery {
  readonly waitsFor: WaitFor['for'];
  /** Absent: of all tenants. */
  readonly tenantId?: string;
  /** Cursor: the last call of the previous page. */
  readonly after?: Pick<InvocationRecord, 'acceptedAt' | 'tenantId' | 'invocationId'>;
  readonly limit: number;
}

/** Selects calls of a tenant. */
export interface CallQuery {
  readonly tenantId: string;
  /**
   * Only calls of tools that are not pure, from EXECUTING on unless `states` says otherwise. Some of them may have failed
   * before their tool was reached; their rows show that.
   */
  readonly sideEffects?: boolean;
  /** Only calls that were answered before they were over. */
  readonly deferred?: boolean;
  readonly turnGroupId?: string;
  readonly toolId?: string;
  /** Absent: in any state. */
  readonly states?: readonly LifecycleState[];
  /** Time of acceptance in epoch ms: `since` or later, and before `until`. */
  readonly since?: number;
  readonly until?: number;
  /** Absent: of all agents of the tenant. */
  readonly agentDid?: string;
  /** Absent: of all owners. An owner without a user has the calls without a user. Its tenant is `tenantId`. */
  readonly owner?: CallOwner;
  /** The last call of the previous page. */
  readonly before?: Pick<InvocationRecord, 'acceptedAt' | 'invocationId'>;
  readonly limit: number;
}

/** Selects results to delete. */
export interface ForgetQuery {
  /** Epoch ms: results of calls that completed before. */
  readonly before: number;
  /** Epoch ms of the deletion, as recorded in the rows. */
  readonly at: number;
  /** Most rows that are examined. */
  readonly limit: number;
  /** Cursor: the last call of the previous page. */
  readonly after?: Pick<InvocationRecord, 'acceptedAt' | 'tenantId' | 'invocationId'>;
}

/** Selects rows. */
export interface RowsQuery {
  /** Cursor: the last call of the previous page. */
  readonly after?: CallKey;
  readonly limit: number;
}

/** A row as it is stored, no matter who wrote it last. */
export interface StoredRow {
  /** Key of the row. */
  readonly call: CallKey;
  /** Unverified: anybody with write access may have left anything here. */
  readonly record: InvocationRecord;
  /** Names of columns whose values differ from the record; absent when all agree, or there are no such columns. */
  readonly differing?: readonly string[];
}

/** The deletions of one page. */
export interface Forgotten {
  readonly forgotten: number;
  /** Cursor of the next page; absent on the last one. */
  readonly next?: Pick<InvocationRecord, 'acceptedAt' | 'tenantId' | 'invocationId'>;
}

/** Events that stores kept with their changes, and that may not be on record yet (`EventsOf`). */
export interface UnrecordedEvents {
  /** Removes events that are on record. Idempotent. */
  remove(ids: readonly string[]): Promise<void>;
  /**
   * Gives events that were kept longer than `olderThanMs` ago to `record`, the oldest first, and removes them once that
   * resolves. Those that are on record already are only removed. One caller at a time is given any, over all instances;
   * the others resolve at once.
   * @returns how many were given
   */
  recordLeft(olderThanMs: number, record: (events: readonly EventDraft[]) => Promise<void>): Promise<number>;
}

/** Reads from the key store which calls hold an idempotency key. */
export interface ClaimedKeys {
  /** The calls among these that hold a key, expired or not. */
  holders(calls: readonly CallKey[]): Promise<readonly CallKey[]>;
}

/** The durable record of calls and their events (system design §4). Events are append-only. */
export interface LedgerStore {
  /**
   * Writes a batch in one transaction; batches of one chain in the order of the calls. A record replaces the row of the
   * same tenant and id.
   * @throws E3802 when such a row is another call's (`nonceOf`), is final, or was written or fenced under a later
   *   lease; E3812 when the position of an event in its chain is taken. Nothing of the batch is written then
   */
  append(batch: LedgerBatch, durability: Durability): Promise<void>;
  /** Newest event of a chain; undefined when the chain does not exist. */
  chainHead(chainId: string): Promise<{ readonly seq: number; readonly hash: string } | undefined>;
  addCheckpoint(checkpoint: ChainCheckpoint): Promise<void>;
  checkpoints(chainId: string): Promise<readonly ChainCheckpoint[]>;
  /** The checkpoint with the highest position; undefined for a chain without any. */
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
  /** The calls among these that have a row. */
  recordedCalls(calls: readonly CallKey[]): Promise<readonly CallKey[]>;
  /**
   * Events of all chains about these calls; events of one chain in order. Events about other calls may be among them.
   */
  eventsAbout(calls: readonly CallKey[]): Promise<readonly CloudEvent[]>;
  /** Rows that are not final and belong to `instanceId`; oldest first. */
  openInvocations(instanceId: string): Promise<readonly InvocationRecord[]>;
  /** Calls that wait on record, in order of acceptance, tenant and id (`waitsFor` of the record). */
  waitingCalls(query: WaitingQuery): Promise<readonly InvocationRecord[]>;
  /** Calls on record, latest accepted first; calls that were accepted in the same ms by id, descending. */
  calls(query: CallQuery): Promise<readonly InvocationRecord[]>;
  /**
   * Lets only records of this lease or a later one replace the row from now on.
   * @returns the row as it is; undefined when this tenant has no such invocation
   */
  fenceInvocation(tenantId: string, invocationId: string, fence: number): Promise<InvocationRecord | undefined>;
  /**
   * Deletes the results from rows of completed calls, of all tenants, in order of acceptance. The rest of each row
   * stays, and so do the events. Each result is deleted once, even with concurrent callers.
   */
  forgetResults(query: ForgetQuery): Promise<Forgotten>;
  /** Position up to which a sink has read; 0 at first. */
  sinkPosition(sink: string): Promise<number>;
  setSinkPosition(sink: string, position: number): Promise<void>;
}
