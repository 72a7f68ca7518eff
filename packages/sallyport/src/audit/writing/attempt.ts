import type { ChainedEvent } from '../../domain/event/chained-event.ts';
import { textOfCall } from '../../domain/invocation/call-key.ts';
import { isFinal } from '../../domain/invocation/lifecycle.ts';
import type { ChainHead } from '../chain.ts';
import type { LedgerEntry } from './ledger-entry.ts';

/** A write that failed as far as its writer knows: its answer may have been lost, and not the write. */
export interface Attempt {
  /** The links that it goes on behind, and the last of its own. */
  readonly start: ChainHead;
  readonly end: ChainHead;
  readonly events: readonly ChainedEvent[];
  /** Names of the calls that it ends. */
  readonly endedCalls: readonly string[];
}

/** What the head of the stored chain says of attempts. */
export interface Verdict {
  /** They came through, in the order of the chain. */
  readonly came: readonly Attempt[];
  /** They may come through yet: the database may still be at work on them. */
  readonly open: readonly Attempt[];
}

/**
 * Tells what came through from what did not. A hash proves everything before it, so whatever leads to the head is written;
 * what goes on behind the head may be written yet, until something else takes its place; nothing else ever will be.
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
 * The name of an entry: an event has its id for good, whoever writes it again. Its last one, for the first ones may have
 * been to be written before. Undefined when it links none.
 */
export const nameOf = ({ events, inRow }: LedgerEntry): string | undefined =>
  inRow === true ? undefined : events.at(-1)?.id;

/** The name of the call that an entry ends; undefined when it ends none. */
export function endedCallOf({ record }: LedgerEntry): string | undefined {
  return record === undefined || !isFinal(record.state) ? undefined : textOfCall(record);
}
