import type { ChainedEvent } from '../../domain/event/chained-event.ts';
import { textOfCall } from '../../domain/invocation/call-key.ts';
import { isFinal } from '../../domain/invocation/lifecycle.ts';
import type { ChainHead } from '../chain.ts';
import type { LedgerEntry } from './ledger-entry.ts';

/** A write that failed as far as its writer knows: perhaps only the answer was lost. */
export interface Attempt {
  /** The head before its links, and the last of its own links. */
  readonly start: ChainHead;
  readonly end: ChainHead;
  readonly events: readonly ChainedEvent[];
  /** Names of the calls that it ends. */
  readonly endedCalls: readonly string[];
}

/** What the stored head proves about attempts. */
export interface Verdict {
  /** Attempts that succeeded, in the order of the chain. */
  readonly came: readonly Attempt[];
  /** Attempts that may still succeed: the database may be working on them. */
  readonly open: readonly Attempt[];
}

/**
 * Separates the writes that succeeded from the failed ones. A hash proves everything before it, so whatever leads to
 * the head is written; what continues after the head may be written yet, until something else takes its position;
 * nothing else ever will be.
 */
export function judge(attempts: readonly Attempt[], head: ChainHead): Verdict {
  const came: Attempt[] = [];
  for (let { hash } = head; ; ) {
    const last = attempts.find(({ end }) => end.hash === hash);
    if (last === undefined) break;
    came.unshift(last);
    hash = last.start.hash;
  }
  const open: Attempt[] = [];
  const ends = new Set([head.hash]);
  for (const attempt of attempts.toSorted((one, other) => one.start.seq - other.start.seq)) {
    if (!ends.has(attempt.start.hash)) continue;
    open.push(attempt);
    ends.add(attempt.end.hash);
  }
  return { came, open };
}

/**
 * The identity of an entry: the id of its last event, which stays the same however often it is written. Its last, since
 * the first ones may have been written before. Undefined when the entry links no event.
 */
export const nameOf = ({ events, inRow }: LedgerEntry): string | undefined =>
  inRow === true ? undefined : events.at(-1)?.id;

/** The identity of the call that an entry ends; undefined when it ends none. */
export function endedCallOf({ record }: LedgerEntry): string | undefined {
  return record === undefined || !isFinal(record.state) ? undefined : textOfCall(record);
}
