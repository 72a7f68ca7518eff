import type { EventsOf } from '../domain/event/events-of.ts';
import type { InvocationRecord } from '../domain/invocation/record.ts';

/** The later finding of what became of a call whose outcome was unknown (PIPE-13). */
export interface OutcomeSettlement {
  readonly tenantId: string;
  readonly invocationId: string;
  readonly outcome: 'happened' | 'did_not_happen';
  /** Who found it out: a person, a tool's reconciling look-up, or the layer, which took the changes back. */
  readonly how: 'person' | 'reconcile' | 'rollback';
  /** DID of the agent that settled it; absent when the layer did. */
  readonly by?: string;
  readonly note?: string;
  /** What the tool would have answered, when that was found out. */
  readonly result?: unknown;
  /** Epoch ms. */
  readonly at: number;
}

/** A call that was cut off after it may have reached its tool, with what was found out since. */
export interface UnknownOutcome {
  readonly record: InvocationRecord;
  /** Absent until it is settled. */
  readonly settlement?: OutcomeSettlement;
}

/** Selects unknown outcomes. */
export interface OutcomeQuery {
  readonly tenantId: string;
  /** True for settled outcomes only, false for unsettled ones only. */
  readonly settled: boolean;
  /** Cursor: the last call of the previous page. */
  readonly after?: Pick<InvocationRecord, 'acceptedAt' | 'invocationId'>;
  readonly limit: number;
}

/** Calls with an unknown outcome, and their settlements. Their rows in the record never change. */
export interface OutcomeStore {
  /** Rows that failed with E3804, in order of acceptance and id. */
  list(query: OutcomeQuery): Promise<readonly UnknownOutcome[]>;
  /** The outcome's settlement; undefined when nobody has settled it. */
  find(tenantId: string, invocationId: string): Promise<OutcomeSettlement | undefined>;
  /** The settlements of these calls; calls without one are skipped. No order. */
  findAll(tenantId: string, invocationIds: readonly string[]): Promise<readonly OutcomeSettlement[]>;
  /**
   * Settles the outcome, once. Resolves to the settlement in force: the caller's own or an earlier one.
   * @param events of the caller's own settlement; of none when there is an earlier one
   */
  settle(settlement: OutcomeSettlement, events?: EventsOf<OutcomeSettlement>): Promise<OutcomeSettlement>;
  /**
   * Removes the results from settlements made before a time, of all tenants; the rest of each settlement stays.
   * @param limit settlements that are examined at most
   * @returns how many were examined
   */
  forgetResults(before: number, limit: number): Promise<number>;
}
