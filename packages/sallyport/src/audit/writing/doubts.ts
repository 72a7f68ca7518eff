import type { ChainHead } from '../chain.ts';
import { type Attempt, endedCallOf, judge, nameOf } from './attempt.ts';
import type { LedgerEntry } from './ledger-entry.ts';

/** What one writer knows of its writes that failed. */
export interface Doubts {
  add(attempt: Attempt): void;
  /** Something was written up to here: whatever went on behind an earlier link has lost its place. */
  passed(end: ChainHead): void;
  /**
   * Settles what can be settled once the head of the stored chain is known.
   * @returns what came through, in the order of the chain
   */
  settle(head: ChainHead): readonly Attempt[];
  /** Whether an entry is in the store by a write that failed as far as anybody knew. */
  isWritten(entry: LedgerEntry): boolean;
  /** The same for one event, by its id. Known of the last 10 000 of them. */
  isLinked(eventId: string): boolean;
  /** Whether an entry ends a call of which an end was found when doubts were last settled. */
  isOvertaken(entry: LedgerEntry): boolean;
}

/** Failed writes that may come through yet, at most. More come together only while the store refuses everything. */
const ATTEMPTS_MAX = 32;
const LINKED_MAX = 10_000;

/** There are none at first. */
export function createDoubts(): Doubts {
  let attempts: readonly Attempt[] = [];
  /** Ids of events, oldest first. */
  const linked = new Set<string>();
  let ended: ReadonlySet<string> = new Set();
  return {
    add(attempt) {
      // Without an event nothing can be in twice.
      if (attempt.events.length > 0) attempts = [...attempts, attempt].slice(-ATTEMPTS_MAX);
    },
    passed(end) {
      if (attempts.length > 0) attempts = attempts.filter(({ start }) => start.seq >= end.seq);
    },
    settle(head) {
      const { came, open } = judge(attempts, head);
      attempts = open;
      for (const { events } of came) for (const { id } of events) linked.add(id);
      for (const id of linked) if (linked.size > LINKED_MAX) linked.delete(id);
      ended = new Set(came.flatMap(({ endedCalls }) => endedCalls));
      return came;
    },
    isWritten(entry) {
      if (linked.size === 0) return false;
      const name = nameOf(entry);
      return name !== undefined && linked.has(name);
    },
    isLinked: (eventId) => linked.has(eventId),
    isOvertaken(entry) {
      const call = endedCallOf(entry);
      return call !== undefined && ended.has(call);
    },
  };
}
