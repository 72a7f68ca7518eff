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
  /** Whether an entry is in by a write that failed as far as anybody knew. Known of the last 1 000 of them. */
  isWritten(entry: LedgerEntry): boolean;
  /** Whether an entry ends a call of which an end was found when doubts were last settled. */
  isOvertaken(entry: LedgerEntry): boolean;
}

/** Failed writes that may come through yet, at most. More come together only while the store refuses everything. */
const ATTEMPTS_MAX = 32;
const WRITTEN_MAX = 1_000;

/** There are none at first. */
export function createDoubts(): Doubts {
  let attempts: readonly Attempt[] = [];
  /** Names of entries, oldest first. */
  const written = new Set<string>();
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
      for (const name of came.flatMap(({ names }) => names)) written.add(name);
      for (const name of written) if (written.size > WRITTEN_MAX) written.delete(name);
      ended = new Set(came.flatMap(({ endedCalls }) => endedCalls));
      return came;
    },
    isWritten(entry) {
      if (written.size === 0) return false;
      const name = nameOf(entry);
      return name !== undefined && written.has(name);
    },
    isOvertaken(entry) {
      const call = endedCallOf(entry);
      return call !== undefined && ended.has(call);
    },
  };
}
