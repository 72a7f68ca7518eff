import type { InvocationRecord } from '../domain/invocation/record.ts';

/** What became of a call whose outcome was not known, in the word of somebody who found out (PIPE-13). */
export interface OutcomeSettlement {
  readonly tenantId: string;
  readonly invocationId: string;
  readonly outcome: 'happened' | 'did_not_happen';
  /** A person said so, a tool that looked, or the layer took the changes back. */
  readonly how: 'person' | 'reconcile' | 'rollback';
  /** Agent DID of who settled it; absent when the layer did. */
  readonly by?: string;
  readonly note?: string;
  /** What the tool would have answered, where that was found out. */
  readonly result?: unknown;
  /** Epoch ms. */
  readonly at: number;
}

/** A call that was cut off after it may have reached its tool, and what is known of it since. */
export interface UnknownOutcome {
  readonly record: InvocationRecord;
  /** Absent until it is settled. */
  readonly settlement?: OutcomeSettlement;
}

/** Which of them are listed. */
export interface OutcomeQuery {
  readonly tenantId: string;
  /** Those that are settled, or those that are not. */
  readonly settled: boolean;
  /** Goes on behind this call of an earlier page. */
  readonly after?: Pick<InvocationRecord, 'acceptedAt' | 'invocationId'>;
  readonly limit: number;
}

/** Calls with an unknown outcome, and their settlements. Their rows in the record never change. */
export interface OutcomeStore {
  /** Rows that failed with E3804, in order of acceptance and id. */
  list(query: OutcomeQuery): Promise<readonly UnknownOutcome[]>;
  /** undefined when nobody has settled it. */
  find(tenantId: string, invocationId: string): Promise<OutcomeSettlement | undefined>;
  /** Settlements of those of the calls that have one, in any order. */
  findAll(tenantId: string, invocationIds: readonly string[]): Promise<readonly OutcomeSettlement[]>;
  /** Settles it, once: the settlement that stands is answered, the caller's own or an earlier one. */
  settle(settlement: OutcomeSettlement): Promise<OutcomeSettlement>;
  /**
   * Takes the results out of settlements that were made before a time, of all tenants; all else of them stands.
   * @param limit settlements that are looked at
   * @returns how many were
   */
  forgetResults(before: number, limit: number): Promise<number>;
}
