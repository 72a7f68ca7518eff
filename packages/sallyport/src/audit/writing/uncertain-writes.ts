import type { ChainHead } from '../chain.ts';
import { type Attempt, endedCallOf, judge, nameOf } from './attempt.ts';
import type { LedgerEntry } from './ledger-entry.ts';

/** What one writer knows of its failed writes. */
export interface UncertainWrites {
  add(attempt: Attempt): void;
  /** The chain was written up to here: attempts that begin at an earlier link can no longer succeed. */
  passed(end: ChainHead): void;
  /**
   * Settles attempts once the stored head is known.
   * @returns the attempts that succeeded, in the order of the chain
   */
  settle(head: ChainHead): readonly Attempt[];
  /** True when the entry is stored by a write that seemed to fail. */
  isWritten(entry: LedgerEntry): boolean;
  /** True when a write that seemed to fail may have stored the entry, or may store it yet. */
  isInDoubt(entry: LedgerEntry): boolean;
  /** The same as `isWritten` for one event, by its id; covers the last 10 000 such events. */
  isLinked(eventId: string): boolean;
  /** True when the entry ends a call that already had an end when attempts were last settled. */
  isOvertaken(entry: LedgerEntry): boolean;
}

/** Most failed writes that may still succeed. More accumulate only while the store refuses everything. */
const ATTEMPTS_MAX = 32;
const LINKED_MAX = 10_000;

/** Creates an empty list of doubts. */
export function createUncertainWrites(): UncertainWrites {
  let attempts: readonly Attempt[] = [];
  /** Ids of events, oldest first. */
  const linked = new Set<string | undefined>();
  let ended: ReadonlySet<string | undefined> = new Set();
  return {
    add(attempt) {
      // An attempt without events cannot be stored twice.
      if (attempt.events.length > 0) attempts = [...attempts, attempt].slice(-ATTEMPTS_MAX);
    },
    passed(end) {
      attempts = attempts.filter(({ start }) => start.seq >= end.seq);
    },
    settle(head) {
      const { came, open } = judge(attempts, head);
      attempts = open;
      for (const { events } of came) for (const { id } of events) linked.add(id);
      for (const id of linked) if (linked.size > LINKED_MAX) linked.delete(id);
      ended = new Set(came.flatMap(({ endedCalls }) => endedCalls));
      return came;
    },
    isWritten: (entry) => linked.has(nameOf(entry)),
    isInDoubt(entry) {
      const name = nameOf(entry);
      return attempts.some(({ events }) => events.some(({ id }) => id === name));
    },
    isLinked: (eventId) => linked.has(eventId),
    isOvertaken: (entry) => ended.has(endedCallOf(entry)),
  };
}
