import type { CircuitTerms } from './circuit-terms.ts';

/** Numbers of calls by their end. */
export interface CallCounts {
  readonly calls: number;
  readonly failures: number;
  readonly slowCalls: number;
}

/** Percentage of `part` among the calls, to one decimal; 0 when there are none. */
export function percentOf(part: number, calls: number): number {
  return calls === 0 ? 0 : Math.round((part * 1000) / calls) / 10;
}

/** The ends of the latest calls. Each step is O(1), and memory is bounded by the size of the window. */
export interface SlidingWindow {
  /** Present counts of the window; always the same object. */
  readonly counts: CallCounts;
  /** Adds a call. */
  add(failed: boolean, slow: boolean, nowMs: number): void;
  /** Drops calls that are too old. */
  expire(nowMs: number): void;
}

type Counts = { -readonly [Name in keyof CallCounts]: CallCounts[Name] };

const FAILED = 1;
const SLOW = 2;
/** Calls for which a window has space at first; most circuits see few. */
const ROOM_FIRST = 128;
const SECOND_MS = 1_000;

/** An empty window. */
export function slidingWindow({ windowType, windowSize }: CircuitTerms): SlidingWindow {
  return windowType === 'count_based' ? countWindow(windowSize) : timeWindow(windowSize);
}

/** The last `size` calls, one byte for each in a ring that grows up to that. */
function countWindow(size: number): SlidingWindow {
  const counts: Counts = { calls: 0, failures: 0, slowCalls: 0 };
  let ring = new Uint8Array(Math.min(size, ROOM_FIRST));
  let at = 0;
  return {
    counts,
    expire() {},
    add(failed, slow) {
      if (counts.calls === size) {
        const oldest = ring[at] as number;
        if ((oldest & FAILED) !== 0) counts.failures -= 1;
        if ((oldest & SLOW) !== 0) counts.slowCalls -= 1;
      } else {
        if (at === ring.length) {
          const wider = new Uint8Array(Math.min(size, ring.length * 2));
          wider.set(ring);
          ring = wider;
        }
        counts.calls += 1;
      }
      ring[at] = (failed ? FAILED : 0) | (slow ? SLOW : 0);
      if (failed) counts.failures += 1;
      if (slow) counts.slowCalls += 1;
      at = at + 1 === size ? 0 : at + 1;
    },
  };
}

interface Bucket extends Counts {
  readonly second: number;
}

/** The calls of the last `size` seconds, one bucket for each second that had any. */
function timeWindow(size: number): SlidingWindow {
  const counts: Counts = { calls: 0, failures: 0, slowCalls: 0 };
  let buckets: Bucket[] = [];
  /** Index of the oldest bucket; those before it are dropped. */
  let first = 0;

  const forget = (): void => {
    const { calls, failures, slowCalls } = buckets[first] as Bucket;
    counts.calls -= calls;
    counts.failures -= failures;
    counts.slowCalls -= slowCalls;
    first += 1;
    // The dropped part is cut off once it is the larger one: each bucket is moved once on average.
    if (first * 2 > buckets.length) {
      buckets = buckets.slice(first);
      first = 0;
    }
  };
  const expire = (nowMs: number): void => {
    const second = Math.floor(nowMs / SECOND_MS);
    // After the clock was set back by more than the window, the age of its contents is unknown.
    const isLost = (buckets.at(-1)?.second ?? second) - second > size;
    while (first < buckets.length && (isLost || (buckets[first] as Bucket).second <= second - size)) forget();
  };
  return {
    counts,
    expire,
    add(failed, slow, nowMs) {
      expire(nowMs);
      const second = Math.floor(nowMs / SECOND_MS);
      let last = buckets.at(-1);
      // After the clock went back a little, calls count in the newest bucket.
      if (last === undefined || last.second < second) {
        last = { second, calls: 0, failures: 0, slowCalls: 0 };
        buckets.push(last);
      }
      for (const into of [last, counts]) {
        into.calls += 1;
        if (failed) into.failures += 1;
        if (slow) into.slowCalls += 1;
      }
    },
  };
}
